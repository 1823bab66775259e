package zones

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// LookAtZone says which servers a DNSZone does not get, and what else would be decided about it.
func (z *Zones) LookAtZone(ctx context.Context, old, o client.Object) controller.Findings {
	dnsZone, ok := o.(*v1beta1.DNSZone)
	if !ok || z == nil {
		return controller.Findings{}
	}
	all, err := z.Servers.Instances(ctx)
	if err != nil {
		return controller.Findings{}
	}
	fleet := fleetFor(dnsZone, all, nil)
	converted := dialect.ConvertZone(dnsZone, fleet.addresses)
	st, unlock := z.state.Lock()
	converted.Warnings = append(converted.Warnings, st.homes.Notes(converted.ID)...)
	elder := st.elderOf(dnsZone, fleet.all())
	unlock()
	content := z.outcome(converted.ID).Snapshot.Sets.Txn()
	for _, set := range converted.Own {
		content.Put(set)
	}
	converted.Warnings = append(converted.Warnings, fleet.glueless(dnsZone, converted.Where.Name, content.Sets())...)
	found := z.foresight.Look(ctx, core.Inquiry{
		ID: converted.ID, Stored: old != nil,
		Forecast: func(ctx context.Context) (zone.Forecast, bool) { return z.foresight.Zone(ctx, converted) },
	})
	switch {
	case fleet.problem != "":
		found.Warnings = append(found.Warnings, dialect.Sentence("not served: %s", fleet.problem))
	case elder != "":
		found.Warnings = append(found.Warnings, dialect.Sentence("not served there: %s", elder))
	}
	return found
}

// LookAtRecord says what would be decided about a record.
func (z *Zones) LookAtRecord(ctx context.Context, old, o client.Object) controller.Findings {
	r, ok := dialect.RecordOf(o)
	if !ok || z == nil {
		return controller.Findings{}
	}
	return z.foresight.Look(ctx, core.Inquiry{
		ID: r.ID, Stored: old != nil, Missing: []zone.Reason{v1beta1.ReasonZoneNotFound, v1beta1.ReasonNotSelected},
		Forecast: func(ctx context.Context) (zone.Forecast, bool) {
			st, unlock := z.state.Lock()
			home := st.homes.Foresee(r)
			unlock()
			return z.foresight.Claim(ctx, dialect.ConvertRecord(r, home))
		},
	})
}
