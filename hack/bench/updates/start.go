package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	namespace = "bench"
	zoneName  = "bench.example."
	keyName   = "bench."
	keySecret = "Ym90aCBhcmUgb24gbG9vcGJhY2s=" // a key that nobody else meets

	between  = 100 * time.Millisecond // before each update of a client alone: nothing of the one before is left to do
	patience = 5 * time.Minute
)

// objects is what exists besides the Records of updates.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: ` + testoperator.Namespace + `}
---
apiVersion: v1
kind: Namespace
metadata: {name: ` + namespace + `}
---
apiVersion: v1
kind: Secret
metadata: {name: tsig, namespace: ` + testoperator.Namespace + `}
stringData: {key: ` + keySecret + `}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: own}
spec:
  embedded:
    update: [{keyName: ` + keyName + `, secretRef: {name: tsig}, namespace: ` + namespace + `}]
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: bench, namespace: ` + namespace + `}
spec:
  domainName: ` + zoneName + `
  backendRefs: [{name: own}]
  delegations:
  - namespace: ` + namespace + `
    records: [{pattern: "@"}, {pattern: "*"}]
`

// A bench is everything that is measured.
type bench struct {
	*rig.Rig
	o       *options
	address string // of the operator's name server
}

func fqdn(i int) string { return fmt.Sprintf("r-%06d.%s", i, zoneName) }

// record is what becomes of an update, by another name.
func record(i int) client.Object {
	ttl := kubizone.Number(300)
	return &kubizone.Record{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("r-%06d.bench.example.a-abcdefghij", i), Namespace: namespace,
			Labels: map[string]string{zonefold.UpdateLabel: "true"}},
		Spec: kubizone.RecordSpec{DomainName: fqdn(i), ZoneRef: &kubizone.ZoneRef{Name: "bench", Namespace: namespace},
			Type: "A", Class: "IN", TTL: &ttl, RData: figures.Address(i)},
	}
}

// start starts everything but the operator, which gets the rights that the chart gives it.
func (b *bench) start(ctx context.Context) (err error) {
	b.Say("building the operator")
	if err := b.Start(ctx, kubizone.AddToScheme); err != nil {
		return err
	}
	if err := b.Apply(ctx, objects); err != nil {
		return err
	}
	if b.Kubeconfig, err = testoperator.InstallRights(ctx, b.Cluster, "updates=true"); err != nil {
		return err
	}
	b.address, err = figures.FreeAddress()
	return err
}

// startOperator returns when the empty zone is served.
func (b *bench) startOperator(ctx context.Context) error {
	if err := b.StartOperator("--dns-bind-address", b.address); err != nil {
		return err
	}
	err := b.Until(ctx, patience, func() (bool, error) {
		var z kubizone.Zone
		err := b.Kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "bench"}, &z)
		return err == nil && b.Operator.Ready() && figures.Ready(z.Status.Conditions, z.Generation), err
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator to serve the empty zone: %w", err)
	}
	return b.quiet(ctx)
}

// quiet waits until the operator writes nothing to the API server any more.
func (b *bench) quiet(ctx context.Context) error {
	err := b.Quiet(ctx, patience, func() (float64, error) {
		m, err := b.Operator.Metrics("zonefold_api_writes_total")
		return figures.Sum(m, "zonefold_api_writes_total"), err
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator to have nothing to write: %w", err)
	}
	return nil
}
