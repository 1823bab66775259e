package cli

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A serving holds the zones that are served.
type serving struct {
	now       func() time.Time
	catalogue *embedded.Catalogue
	zones     map[zone.ID]servedZone
	labels    map[dnsname.Name]label // also of zones that are served no more: serials do not fall when they return
}

func newServing(now func() time.Time) *serving {
	return &serving{now, embedded.NewCatalogue(), map[zone.ID]servedZone{}, map[dnsname.Name]label{}}
}

// A servedZone is a zone as questions are answered from it.
type servedZone struct {
	*embedded.Zone
	sets    rr.Sets  // without the SOA
	added   []rr.Key // of them, those that no object asks for
	records int      // with the SOA
}

// A label says what a serial stands for.
type label struct {
	serial uint32
	hash   string
	soa    rr.SOA // Serial is 0
}

// news is what became different.
type news struct {
	served    []servedZone
	withdrawn []dnsname.Name
	faults    []string // sentences
}

// apply serves what a fold changed.
func (s *serving) apply(c *composition, delta zone.Delta) news {
	results := map[zone.ID]*zoneResult{}
	for i := range c.zones {
		results[c.zones[i].id()] = &c.zones[i]
	}
	slices.SortFunc(delta.Zones, func(a, b zone.ZoneDelta) int { return a.ID.Compare(b.ID) })
	gone := map[dnsname.Name]bool{}
	for _, d := range delta.Zones {
		old, served := s.zones[d.ID]
		if z := results[d.ID]; served && (z == nil || !z.verdict.Accepted || z.snapshot.Name != old.Name()) {
			delete(s.zones, d.ID)
			s.catalogue = s.catalogue.Without(old.Name())
			gone[old.Name()] = true
		}
	}
	var out news
	for _, d := range delta.Zones {
		if z := results[d.ID]; z != nil && z.verdict.Accepted {
			out.faults = append(out.faults, s.put(z, d, &out)...)
			delete(gone, z.snapshot.Name)
		}
	}
	out.withdrawn = slices.SortedFunc(maps.Keys(gone), dnsname.Name.Compare)
	return out
}

// put serves what a Zone holds now, and returns what of it cannot be served.
func (s *serving) put(z *zoneResult, d zone.ZoneDelta, out *news) (faults []string) {
	name := z.snapshot.Name
	next, fresh := s.labelOf(z)
	old, served := s.zones[d.ID]
	if served && !fresh {
		return nil
	}
	soa := next.soa
	soa.Serial = next.serial
	if !served {
		d.Fresh = true
		empty, err := embedded.NewZone(name, soa)
		if err != nil {
			return []string{fmt.Sprintf("%s cannot be served: %s.", z.object.Ref, err)}
		}
		old = servedZone{Zone: empty, records: 1}
	}
	now := servedZone{records: old.records}
	now.sets, now.added = completed(z.snapshot)
	changes := changesBetween(old, now, d)
	after, rejected, err := old.With(&soa, changes)
	if err != nil {
		return []string{fmt.Sprintf("%s stays as it was: %s.", z.object.Ref, err)}
	}
	now.Zone = after
	refused := map[rr.Key]bool{}
	for _, r := range rejected {
		refused[r.Key] = true
		faults = append(faults, fmt.Sprintf("%s of %s stays as it was: %s.", r.Key, z.object.Ref, r.Reason))
	}
	txn := now.sets.Txn()
	for _, c := range changes {
		if refused[c.Key] {
			txn.Put(rr.Set{Name: c.Key.Name, Type: c.Key.Type, TTL: c.Have.TTL, Data: c.Have.Data})
			continue
		}
		now.records += len(c.Want.Data) - len(c.Have.Data)
	}
	if len(refused) > 0 {
		now.sets = txn.Sets()
	}
	s.zones[d.ID], s.labels[name] = now, next
	s.catalogue = s.catalogue.With(after)
	out.served = append(out.served, now)
	return faults
}

// labelOf returns the label of what a Zone holds now, and whether that is other content than it was: then the serial is newer.
func (s *serving) labelOf(z *zoneResult) (label, bool) {
	next := label{hash: z.snapshot.Hash, soa: z.snapshot.SOA}
	next.soa.Serial = 0
	next.serial = serialOf(z.object.Zone.Status, z.snapshot, s.now())
	last, known := s.labels[z.snapshot.Name]
	switch {
	case !known:
		return next, true
	case last.hash == next.hash && last.soa == next.soa:
		return last, false
	case !rr.SerialLess(last.serial, next.serial):
		next.serial = zone.NextSerial(last.serial, s.now())
	}
	return next, true
}

// changesBetween returns what takes one content to the other.
func changesBetween(old, now servedZone, d zone.ZoneDelta) []plan.Change {
	keys := slices.Concat(d.Changed, old.added, now.added)
	if d.Fresh {
		for _, sets := range []rr.Sets{old.sets, now.sets} {
			for set := range sets.All() {
				keys = append(keys, set.Key())
			}
		}
	}
	slices.SortFunc(keys, rr.Key.Compare)
	var changes []plan.Change
	for _, key := range slices.Compact(keys) {
		have, _ := old.sets.Get(key)
		want, _ := now.sets.Get(key)
		if !have.Equal(want) {
			changes = append(changes, plan.Change{Key: key, Have: have, Want: want})
		}
	}
	return changes
}

// completed returns the sets of a zone with those that no object asks for and that every zone has (RFC 1034 §4.2.1).
func completed(s zone.Snapshot) (rr.Sets, []rr.Key) {
	missing := placeholders(s)
	if len(missing) == 0 {
		return s.Sets, nil
	}
	txn := s.Sets.Txn()
	var added []rr.Key
	for _, p := range missing {
		txn.Put(rr.NewSet(p.key(), s.SOA.TTL, p.data))
		added = append(added, p.key())
	}
	return txn.Sets(), added
}
