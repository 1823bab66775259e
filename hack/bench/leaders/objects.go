package main

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func zoneName(i int) string { return fmt.Sprintf("z%04d.example.", i) }

func (b *bench) tenant(zone int) string { return fmt.Sprintf("tenant-%03d", zone%b.o.tenants) }

// name is that of a Record. Neighbours are in different Zones.
func (b *bench) name(i int) string {
	return fmt.Sprintf("r%06d.%s", i/b.o.zones, zoneName(i%b.o.zones))
}

// zone is a Zone that delegates all of its names to its namespace.
func (b *bench) zone(i int) client.Object {
	return &kubizone.Zone{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.tenant(i), Name: fmt.Sprintf("z%04d", i)},
		Spec: kubizone.ZoneSpec{DomainName: zoneName(i), Delegations: []kubizone.Delegation{
			{Namespace: b.tenant(i), Records: []kubizone.RecordDelegation{{Pattern: "*"}}}}},
	}
}

func (b *bench) record(i int) client.Object {
	return &kubizone.Record{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.tenant(i % b.o.zones),
			Name: fmt.Sprintf("r%06d-%04d", i/b.o.zones, i%b.o.zones)},
		Spec: kubizone.RecordSpec{DomainName: b.name(i), Type: "A", RData: figures.Address(i)},
	}
}

// putBackend creates the namespaces and the Backend.
func (b *bench) putBackend(ctx context.Context) error {
	var all strings.Builder
	names := []string{testoperator.Namespace}
	for i := range b.o.tenants {
		names = append(names, b.tenant(i))
	}
	for _, name := range names {
		fmt.Fprintf(&all, "---\n{apiVersion: v1, kind: Namespace, metadata: {name: %s}}\n", name)
	}
	return b.Apply(ctx, all.String()+rig.Backend(b.bind.Addr(), rig.Key{Name: keyName, Secret: b.bind.key.Secret}))
}
