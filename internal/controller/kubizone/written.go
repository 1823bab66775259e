package kubizone

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Written returns the addresses and aliases that an earlier run has published at some names, each from the longest Zone
// that has any there, without what Records ask for, if that is not all.
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
	records, err := recordsAt(ctx, k.Client, names)
	if err != nil {
		return nil, err
	}
	var out []rr.Set
	for _, name := range names {
		for _, z := range zones {
			if !name.Under(z.name) {
				continue
			}
			id, found := dialect.ZoneID(z.of.Namespace, z.of.Name), len(out)
			out = append(out, dialect.AddressesIn(k.ledgers.loadEntries(id, z.of), name, records)...)
			if len(out) == found { // of a name that is new, the journal alone may tell; of others it has what was before
				out = append(out, dialect.AddressesIn(k.ledgers.loadLedger(id, z.of), name, records)...)
			}
			if len(out) > found {
				break
			}
		}
	}
	return out, nil
}

// Kept returns claims for what an earlier run has published and is not in a World, of the types that takes says.
func (k *Controller) Kept(ctx context.Context, w *zone.World, takes func(rr.Type) bool) ([]zone.Claim, error) {
	var list v1alpha1.ZoneList
	if err := k.Client.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("listing Zones: %w", err)
	}
	changed, err := changed(ctx, k.Client)
	if err != nil {
		return nil, err
	}
	var claims []zone.Claim
	for i := range list.Items {
		z := &list.Items[i]
		id := dialect.ZoneID(z.Namespace, z.Name)
		base := k.ledgers.loadEntries(id, z)
		txn := base.Txn()
		for set := range k.ledgers.loadLedger(id, z).All() { // as in Written: it tells of new names alone
			if len(slices.Collect(base.At(set.Name))) == 0 {
				txn.Put(set)
			}
		}
		published := txn.Sets()
		claims = append(claims, unlessFormer(w.Kept(id, published, takes), published, changed)...)
	}
	return claims, nil
}

// unlessFormer leaves out claims at names where there are no more data than Records have changed that had one each: it
// is what they were.
func unlessFormer(kept []zone.Claim, published rr.Sets, changed map[dnsname.Name][]zone.Claim) []zone.Claim {
	left := map[dnsname.Name]int{}
	for _, c := range kept {
		left[c.Where.Name] += len(c.Data)
	}
	for name := range left {
		for _, c := range changed[name] {
			set, _ := published.Get(rr.Key{Name: name, Type: c.Type})
			if !slices.ContainsFunc(c.Data, func(d string) bool { return slices.Contains(set.Data, d) }) {
				left[name]-- // else what it is by now was published already
			}
		}
	}
	return slices.DeleteFunc(kept, func(c zone.Claim) bool { return left[c.Where.Name] <= 0 })
}

// changed returns the Records that were let in and have changed since an earlier run has said so, by their names then.
func changed(ctx context.Context, from client.Reader) (map[dnsname.Name][]zone.Claim, error) {
	out := map[dnsname.Name][]zone.Claim{}
	err := visitRecords(ctx, from, func(name dnsname.Name, r *v1alpha1.Record) {
		if r.Status.ObservedGeneration != r.Generation &&
			meta.IsStatusConditionTrue(r.Status.Conditions, controller.ConditionAccepted) {
			out[name] = append(out[name], dialect.ConvertRecord(r))
		}
	})
	return out, err
}

// recordsAt returns what Records ask for at some names, as far as an earlier run has found out where they are.
func recordsAt(ctx context.Context, from client.Reader, names []dnsname.Name) (map[rr.Key][]string, error) {
	looked := map[dnsname.Name]bool{}
	for _, name := range names {
		looked[name] = true
	}
	out := map[rr.Key][]string{}
	err := visitRecords(ctx, from, func(name dnsname.Name, r *v1alpha1.Record) {
		if looked[name] {
			claim := dialect.ConvertRecord(r)
			key := rr.Key{Name: name, Type: claim.Type}
			out[key] = append(out[key], claim.Data...)
		}
	})
	return out, err
}

// visitRecords calls visit with each Record of which an earlier run has found out where it is, and with that name. They
// are only to be read.
func visitRecords(ctx context.Context, from client.Reader, visit func(dnsname.Name, *v1alpha1.Record)) error {
	var list v1alpha1.RecordList
	if err := from.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing Records: %w", err)
	}
	for i := range list.Items {
		r := &list.Items[i]
		if name, err := dnsname.Parse(r.Status.FQDN); err == nil {
			visit(name, r)
		}
	}
	return nil
}
