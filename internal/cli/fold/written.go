package fold

import (
	"cmp"
	"maps"
	"slices"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// restore adds to wishes what the statuses of Zones say is published at names that their objects have lost, as an
// operator does that begins.
func (f *Fold) restore(wishes []*sources.Wish) {
	lost := sources.LostBy(wishes)
	if len(lost) == 0 {
		return
	}
	zones, records := f.publishedZones(), f.recordsAt(lost)
	written := map[string][]rr.Set{}
	for name, host := range lost {
		for _, z := range zones {
			if !name.Under(z.name) {
				continue
			}
			if written[host] = kubizone.AddressesIn(z.sets(), name, records); len(written[host]) > 0 {
				break
			}
		}
	}
	sources.RestoreAll(wishes, written)
}

// A publishedZone is what the status of a Zone says is published.
type publishedZone struct {
	name   dnsname.Name
	object *manifest.Object
	known  *rr.Sets // nil: not read yet
}

func (z *publishedZone) sets() rr.Sets {
	if z.known == nil {
		txn := rr.Sets{}.Txn()
		kubizone.PutEntries(txn, z.object.Zone.Status.Entries)
		z.known = new(txn.Sets())
	}
	return *z.known
}

// publishedZones returns the Zones that are published, the longest names first.
func (f *Fold) publishedZones() []*publishedZone {
	var out []*publishedZone
	for _, a := range f.held {
		z := a.object.Zone
		if z == nil || len(z.Status.Entries) == 0 {
			continue
		}
		if name, err := dnsname.Parse(z.Status.Entries[0].FQDN); err == nil {
			out = append(out, &publishedZone{name: name, object: a.object})
		}
	}
	slices.SortFunc(out, func(a, b *publishedZone) int {
		return cmp.Or(b.name.NumLabels()-a.name.NumLabels(), a.object.Compare(b.object.Ref))
	})
	return out
}

// recordsAt returns what Records ask for at some names, as far as their statuses say where they are.
func (f *Fold) recordsAt(names map[dnsname.Name]string) map[rr.Key][]string {
	by := map[string]dnsname.Name{}
	for name := range maps.Keys(names) {
		by[name.String()] = name
	}
	out := map[rr.Key][]string{}
	for _, a := range f.held {
		if a.object.Record == nil {
			continue
		}
		if name, is := by[a.object.Record.Status.FQDN]; is {
			claim := kubizone.ConvertRecord(a.object.Record)
			key := rr.Key{Name: name, Type: claim.Type}
			out[key] = append(out[key], claim.Data...)
		}
	}
	return out
}
