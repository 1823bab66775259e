package kubizone

import (
	"context"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Written returns the addresses and aliases that an earlier run has published at some names, each from the longest Zone
// that has any there.
func (k *Controller) Written(ctx context.Context, names []dnsname.Name) ([]rr.Set, error) {
	var list v1alpha1.ZoneList
	if err := k.Client.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("listing Zones: %w", err)
	}
	type published struct {
		name dnsname.Name
		of   *v1alpha1.Zone
	}
	var zones []published
	for i := range list.Items {
		if z := &list.Items[i]; len(z.Status.Entries) > 0 {
			if name, err := dnsname.Parse(z.Status.Entries[0].FQDN); err == nil {
				zones = append(zones, published{name, z})
			}
		}
	}
	slices.SortStableFunc(zones, func(a, b published) int { return b.name.NumLabels() - a.name.NumLabels() })
	var out []rr.Set
	for _, name := range names {
		for _, z := range zones {
			if !name.Under(z.name) {
				continue
			}
			ledger := k.loadLedger(dialect.ZoneID(z.of.Namespace, z.of.Name), z.of)
			found := len(out)
			for _, t := range []rr.Type{rr.TypeA, rr.TypeAAAA, rr.TypeCNAME} {
				set, has := ledger.Get(rr.Key{Name: name, Type: t})
				data := slices.DeleteFunc(slices.Clone(set.Data), func(d string) bool { return d == "" }) // not known
				if has && len(data) > 0 {
					out = append(out, rr.NewSet(set.Key(), set.TTL, data...))
				}
			}
			if len(out) > found {
				break
			}
		}
	}
	return out, nil
}
