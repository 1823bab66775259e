package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
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

// objects is what exists besides those that ask for names.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: ` + namespace + `}
`

// zone is made anew for each round, for it knows what the servers have.
const zone = `
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
	kind

	o    *options
	bind *rig.BIND
}

// start starts the servers and creates the objects with their addresses. The operator gets the rights that the chart
// gives it.
func (b *bench) start(ctx context.Context) (err error) {
	b.Say("building the operator")
	if err := b.Start(ctx, corev1.AddToScheme, externaldns.AddToScheme, kubizone.AddToScheme,
		zonefold.AddToScheme); err != nil {
		return err
	}
	if b.bind, err = b.StartBIND(ctx, zoneName, rig.Key{Name: keyName, Algorithm: keyType,
		Secret: keySecret}); err != nil {
		return err
	}
	if b.Kubeconfig, err = testoperator.InstallRights(ctx, b.Cluster, "sources={"+b.o.source+"}"); err != nil {
		return err
	}
	if err := b.Apply(ctx, objects+b.bind.Backend()+zone); err != nil {
		return err
	}
	b.Say("creating %d %s", b.o.n, b.kind.name)
	took, err := b.Each(ctx, b.o.n, func(ctx context.Context, i int) error {
		if err := b.Kube.Create(ctx, b.object(i)); err != nil || !b.balanced {
			return err
		}
		return b.readdress(ctx, b.Kube, i, figures.Address(i))
	})
	b.Say("that took %.1f s", took.Seconds())
	return err
}
