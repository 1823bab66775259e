package bindy

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// Examiners are what admission asks about the kinds of this dialect.
func (b *Controller) Examiners() []controller.Examiner {
	out := []controller.Examiner{
		{Kind: &v1beta1.ClusterBind9Provider{}, Faults: b.faults, Look: b.lookAtFleet},
		{Kind: &v1beta1.Bind9Cluster{}, Faults: b.faults, Look: b.lookAtFleet},
		{Kind: &v1beta1.Bind9Instance{}, Faults: b.faults, Look: b.lookAtInstance, Labels: true},
		{Kind: &v1beta1.DNSZone{}, Faults: b.faults, Look: b.lookAtZone, Labels: true},
	}
	for _, kind := range RecordKinds() {
		out = append(out, controller.Examiner{Kind: kind, Faults: b.faults, Look: b.lookAtRecord, Labels: true})
	}
	return out
}

// faults are an object's own. An instance of a cluster has some of its settings from there; it is looked at instead.
func (b *Controller) faults(o client.Object) []string {
	return dialect.Faults(o, b.Settings, func(string, string) (string, *v1beta1.CommonSpec) { return "", nil })
}

func (b *Controller) lookAtInstance(ctx context.Context, _, o client.Object) (f controller.Findings) {
	i, ok := o.(*v1beta1.Bind9Instance)
	if !ok {
		return f
	}
	p, trouble, err := b.planFor(ctx, i)
	if err == nil && trouble == nil {
		trouble = missesCluster(i, p)
	}
	switch {
	case err != nil:
	case trouble != nil:
		f.Warnings = append(f.Warnings, dialect.Sentence("refused (%s): %s", trouble.Reason, trouble.Message))
	default:
		f.Warnings = dialect.Notes(p.CautionsForPeople(dialect.Describe(v1beta1.KindInstance, client.ObjectKeyFromObject(i))))
	}
	return f
}

// lookAtFleet says what deserves a look about the servers that a cluster or provider asks for.
func (b *Controller) lookAtFleet(_ context.Context, _, o client.Object) (f controller.Findings) {
	f.Warnings = dialect.Notes(dialect.Cautions(o, b.Settings, nil)) // of clusters and providers: nothing is above them
	return f
}

// lookAtZone says which servers a zone does not get, and what else is decided about it.
func (b *Controller) lookAtZone(ctx context.Context, old, o client.Object) controller.Findings {
	z, ok := o.(*v1beta1.DNSZone)
	if !ok || b.zones == nil {
		return controller.Findings{}
	}
	all, err := b.listInstances(ctx)
	if err != nil {
		return controller.Findings{}
	}
	fleet := fleetFor(z, all, nil)
	converted := dialect.ConvertZone(z, fleet.addresses)
	b.zones.mu.Lock()
	converted.Warnings = append(converted.Warnings, b.zones.homes.Notes(converted.ID)...)
	b.zones.mu.Unlock()
	converted.Warnings = append(converted.Warnings, fleet.glueless(converted.ID, z.Spec.AddressTypes)...)
	found := b.zones.foresight.Look(ctx, controller.Inquiry{
		ID: converted.ID, Stored: old != nil,
		Forecast: func(ctx context.Context) (zone.Forecast, bool) { return b.zones.foresight.Zone(ctx, converted) },
	})
	if fleet.problem != "" {
		found.Warnings = append(found.Warnings, dialect.Sentence("not served: %s", fleet.problem))
	}
	return found
}

func (b *Controller) lookAtRecord(ctx context.Context, old, o client.Object) controller.Findings {
	r, ok := dialect.RecordOf(o)
	if !ok || b.zones == nil {
		return controller.Findings{}
	}
	return b.zones.foresight.Look(ctx, controller.Inquiry{
		ID: r.ID, Stored: old != nil, Missing: []zone.Reason{v1beta1.ReasonZoneNotFound, v1beta1.ReasonNotSelected},
		Forecast: func(ctx context.Context) (zone.Forecast, bool) {
			b.zones.mu.Lock()
			home := b.zones.homes.Foresee(r)
			b.zones.mu.Unlock()
			return b.zones.foresight.Claim(ctx, dialect.ConvertRecord(r, home))
		},
	})
}
