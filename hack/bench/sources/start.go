package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	namespace = "bench"
	zoneName  = "bench.example."
	keyName   = "zonefold."
	keySecret = "Ym90aCBhcmUgb24gbG9vcGJhY2s=" // a key that nobody else meets
	keyType   = "hmac-sha256"
)

// objects is what exists besides the Services.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: ` + namespace + `}
---
apiVersion: v1
kind: Secret
metadata: {name: tsig, namespace: ` + testoperator.Namespace + `}
stringData: {secret: ` + keySecret + `}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: bind}
spec:
  default: true
  rfc2136:
    servers: ["%s"]
    tsig: {keyName: ` + keyName + `, secretRef: {name: tsig}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: bench, namespace: ` + namespace + `}
spec:
  domainName: ` + zoneName + `
  delegations: [{namespace: ` + namespace + `, records: [{pattern: "*"}]}]
`

// A bench is everything that is measured.
type bench struct {
	*rig.Rig
	o    *options
	bind *rig.BIND
}

// start starts the servers and creates the Services with their addresses. The operator gets the rights that the chart
// gives it.
func (b *bench) start(ctx context.Context) (err error) {
	b.Say("building the operator")
	if err := b.Start(ctx, corev1.AddToScheme); err != nil {
		return err
	}
	if b.bind, err = b.StartBIND(ctx, zoneName, rig.Key{Name: keyName, Algorithm: keyType,
		Secret: keySecret}); err != nil {
		return err
	}
	if b.Kubeconfig, err = testoperator.InstallRights(ctx, b.Cluster, "sources={service}"); err != nil {
		return err
	}
	if err := b.Apply(ctx, fmt.Sprintf(objects, b.bind.Addr())); err != nil {
		return err
	}
	b.Say("creating %d Services", b.o.n)
	took, err := b.Each(ctx, b.o.n, func(ctx context.Context, i int) error {
		if err := b.Kube.Create(ctx, service(i)); err != nil {
			return err
		}
		return b.balance(ctx, i, figures.Address(i))
	})
	b.Say("that took %.1f s", took.Seconds())
	return err
}

func serviceName(i int) string { return fmt.Sprintf("s-%06d", i) }

func fqdn(i int) string { return serviceName(i) + "." + zoneName }

func service(i int) *corev1.Service {
	ports := false
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: serviceName(i), Namespace: namespace,
			Annotations: map[string]string{sources.Prefix + "hostname": strings.TrimSuffix(fqdn(i), ".")}},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, AllocateLoadBalancerNodePorts: &ports,
			Ports: []corev1.ServicePort{{Port: 80}}},
	}
}

// balance gives the load balancer of a Service an address, as a cloud does.
func (b *bench) balance(ctx context.Context, i int, address string) error {
	body := fmt.Appendf(nil, `{"status":{"loadBalancer":{"ingress":[{"ip":%q}]}}}`, address)
	return b.Kube.Status().Patch(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: serviceName(i),
		Namespace: namespace}}, client.RawPatch("application/merge-patch+json", body))
}
