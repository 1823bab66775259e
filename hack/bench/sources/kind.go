package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/dialect/sources"
)

// A kind of objects, of which each asks for a name.
type kind struct {
	name      string // of the objects
	keys      string // begins the keys in BENCH_OUT
	most      int    // of them in a cluster
	list      func() client.ObjectList
	object    func(i int) client.Object
	balanced  bool // creating an object gives it no address yet
	readdress func(ctx context.Context, kube client.Client, i int, address string) error
	call      string                     // the one of readdress
	address   func(client.Object) string // "" for none
	// seen says that somebody has written to an object that he has seen it, and forget takes that away; nil: nobody does.
	seen   func(client.Object) bool
	forget func(ctx context.Context, kube client.Client, o client.Object) error
}

// kinds are by the value of --source, which zonefold and external-dns have in common.
func kinds() map[string]kind {
	return map[string]kind{
		"service": {name: "Services", keys: "services", most: 60000, // as many as a cluster has addresses
			list:   func() client.ObjectList { return &corev1.ServiceList{} },
			object: service, balanced: true, readdress: balance, call: "PATCH services/status", address: balancedAt},
		"crd": {name: "DNSEndpoints", keys: "dnsendpoints", most: 1_000_000,
			list:   func() client.ObjectList { return &externaldns.DNSEndpointList{} },
			object: dnsEndpoint, readdress: retarget, call: "PATCH dnsendpoints", address: target,
			seen: observed, forget: unobserve},
	}
}

// objects are all that there are of the kind.
func (b *bench) objects(ctx context.Context) (out []client.Object, err error) {
	all := b.list()
	if err := b.Kube.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	err = apimeta.EachListItem(all, func(o runtime.Object) error {
		out = append(out, o.(client.Object))
		return nil
	})
	return out, err
}

func objectName(i int) string { return fmt.Sprintf("s-%06d", i) }

func fqdn(i int) string { return objectName(i) + "." + zoneName }

func meta(i int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: objectName(i), Namespace: namespace}
}

func service(i int) client.Object {
	ports := false
	s := &corev1.Service{ObjectMeta: meta(i),
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, AllocateLoadBalancerNodePorts: &ports,
			Ports: []corev1.ServicePort{{Port: 80}}}}
	s.Annotations = map[string]string{sources.Prefix + "hostname": strings.TrimSuffix(fqdn(i), ".")}
	return s
}

// balance gives the load balancer of a Service an address, as a cloud does.
func balance(ctx context.Context, kube client.Client, i int, address string) error {
	body := fmt.Appendf(nil, `{"status":{"loadBalancer":{"ingress":[{"ip":%q}]}}}`, address)
	return kube.Status().Patch(ctx, &corev1.Service{ObjectMeta: meta(i)}, mergePatch(body))
}

func balancedAt(o client.Object) string {
	if s, ok := o.(*corev1.Service); ok && len(s.Status.LoadBalancer.Ingress) == 1 {
		return s.Status.LoadBalancer.Ingress[0].IP
	}
	return ""
}

func dnsEndpoint(i int) client.Object {
	return &externaldns.DNSEndpoint{ObjectMeta: meta(i), Spec: externaldns.DNSEndpointSpec{
		Endpoints: []externaldns.Endpoint{{DNSName: strings.TrimSuffix(fqdn(i), "."), RecordType: "A",
			Targets: []string{figures.Address(i)}}}}}
}

func retarget(ctx context.Context, kube client.Client, i int, address string) error {
	body := fmt.Appendf(nil, `{"spec":{"endpoints":[{"dnsName":%q,"recordType":"A","targets":[%q]}]}}`,
		strings.TrimSuffix(fqdn(i), "."), address)
	return kube.Patch(ctx, &externaldns.DNSEndpoint{ObjectMeta: meta(i)}, mergePatch(body))
}

func target(o client.Object) string {
	if d, ok := o.(*externaldns.DNSEndpoint); ok && len(d.Spec.Endpoints) == 1 && len(d.Spec.Endpoints[0].Targets) == 1 {
		return d.Spec.Endpoints[0].Targets[0]
	}
	return ""
}

// observed reports whether external-dns has written the status: once for each generation of a DNSEndpoint.
func observed(o client.Object) bool {
	d, ok := o.(*externaldns.DNSEndpoint)
	return ok && d.Status.ObservedGeneration != 0
}

func unobserve(ctx context.Context, kube client.Client, o client.Object) error {
	return kube.Status().Patch(ctx, o, mergePatch([]byte(`{"status":{"observedGeneration":null}}`)))
}

func mergePatch(body []byte) client.Patch {
	return client.RawPatch("application/merge-patch+json", body)
}
