package main

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	namespace = "bench"
	zoneName  = "bench.example."
	keyName   = "zonefold."
	keySecret = "Ym90aCBhcmUgb24gbG9vcGJhY2s=" // a key that nobody else meets
	keyType   = "hmac-sha256"
)

// objects is what exists besides the Records.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: ` + testoperator.Namespace + `}
---
apiVersion: v1
kind: Namespace
metadata: {name: ` + namespace + `}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: bench, namespace: ` + namespace + `}
spec:
  domainName: ` + zoneName + `
  delegations:
  - namespace: ` + namespace + `
    records: [{pattern: "@"}, {pattern: "*"}]
`

// A bench is everything that is measured.
type bench struct {
	*rig.Rig
	o    *options
	bind *rig.BIND
}

// start starts everything but the operator.
func (b *bench) start(ctx context.Context) error {
	b.Say("building the operator")
	if err := b.Start(ctx, kubizone.AddToScheme); err != nil {
		return err
	}
	var err error
	if b.bind, err = b.StartBIND(ctx, zoneName, rig.Key{Name: keyName, Algorithm: keyType,
		Secret: keySecret}); err != nil {
		return err
	}
	return b.Apply(ctx, objects+b.bind.Backend())
}

// startOperator returns when the empty zone is served.
func (b *bench) startOperator(ctx context.Context) error {
	if err := b.StartOperator(); err != nil {
		return err
	}
	err := b.Until(ctx, time.Minute, func() (bool, error) {
		z, err := b.zone(ctx)
		return err == nil && b.Operator.Ready() && figures.Ready(z.Status.Conditions, z.Generation), err
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator to serve the empty zone: %w", err)
	}
	return b.quiet(ctx)
}

func (b *bench) zone(ctx context.Context) (*kubizone.Zone, error) {
	var z kubizone.Zone
	return &z, b.Kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "bench"}, &z)
}

// quiet waits until the operator writes nothing to the API server any more.
func (b *bench) quiet(ctx context.Context) error {
	if err := b.Quiet(ctx, 2*time.Minute, b.operatorWrites); err != nil {
		return fmt.Errorf("waiting for the operator to have nothing to write: %w", err)
	}
	return nil
}
