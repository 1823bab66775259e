package show

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A serving holds the zones that are served, and gives a server what became different.
type serving struct {
	server backend.Backend
	now    func() time.Time
	names  map[zone.ID]dnsname.Name // of accepted Zones
	zones  map[dnsname.Name]servedZone
	labels map[dnsname.Name]label // also of zones that are served no more: serials do not fall when they return
}

func newServing(now func() time.Time) *serving {
	return &serving{now: now, names: map[zone.ID]dnsname.Name{}, zones: map[dnsname.Name]servedZone{},
		labels: map[dnsname.Name]label{}}
}

// A servedZone is a zone as the server has it.
type servedZone struct {
	id      zone.ID // whose content it is
	soa     rr.SOA
	sets    rr.Sets // without the SOA
	records int     // with the SOA
}

// A label says what a serial stands for.
type label struct {
	serial uint32
	hash   string
	soa    rr.SOA // Serial is 0
}

// news is what became different.
type news struct {
	served    []dnsname.Name
	withdrawn []dnsname.Name
	faults    []string // sentences
}

// apply serves what a fold changed.
func (s *serving) apply(ctx context.Context, c *fold.Composition, delta zone.Delta) news {
	accepted := map[zone.ID]*fold.ZoneResult{}
	for i := range c.Zones {
		if z := &c.Zones[i]; z.Verdict.Accepted {
			accepted[z.ID()] = z
		}
	}
	slices.SortFunc(delta.Zones, func(a, b zone.ZoneDelta) int { return a.ID.Compare(b.ID) })
	var left []dnsname.Name
	taken := map[dnsname.Name]bool{}
	for _, d := range delta.Zones {
		if name, served := s.names[d.ID]; served {
			left = append(left, name)
			delete(s.names, d.ID)
		}
		if z := accepted[d.ID]; z != nil {
			taken[z.Snapshot.Name] = true
		}
	}
	var out news
	for _, d := range delta.Zones {
		if z := accepted[d.ID]; z != nil {
			s.names[d.ID] = z.Snapshot.Name
			out.add(s.put(ctx, z, d))
		}
	}
	slices.SortFunc(left, dnsname.Name.Compare)
	for _, name := range left {
		if !taken[name] {
			out.add(s.withdraw(ctx, name))
		}
	}
	return out
}

func (n *news) add(o news) {
	n.served = append(n.served, o.served...)
	n.withdrawn = append(n.withdrawn, o.withdrawn...)
	n.faults = append(n.faults, o.faults...)
}

// put serves what a Zone holds now. That may be a name that another Zone had.
func (s *serving) put(ctx context.Context, z *fold.ZoneResult, d zone.ZoneDelta) (out news) {
	name := z.Snapshot.Name
	next, fresh := s.labelOf(z)
	old, served := s.zones[name]
	now := servedZone{id: d.ID, soa: next.soa, sets: z.Snapshot.Sets}
	now.soa.Serial = next.serial
	if served && !fresh {
		now.records, now.sets = old.records, old.sets
		s.zones[name] = now
		return out
	}
	changes := changesBetween(old, now, d, name)
	changes, out.faults = servable(z, changes)
	batch := backend.Batch{Changes: changes, SOA: &now.soa, Create: !served}
	if _, err := s.server.Apply(ctx, name, batch); err != nil {
		out.faults = append(out.faults, fmt.Sprintf("%s is not served as it is now: %s.", z.Object.Ref, err))
		if served {
			old.id = zone.ID{} // the next time everything is compared
			s.zones[name] = old
		}
		return out
	}
	now.records = max(old.records, 1)
	for _, c := range changes {
		now.records += len(c.Want.Data) - len(c.Have.Data)
	}
	now.sets = plan.Apply(old.sets, changes)
	s.zones[name], s.labels[name] = now, next
	out.served = []dnsname.Name{name}
	return out
}

// withdraw serves a zone no more.
func (s *serving) withdraw(ctx context.Context, name dnsname.Name) (out news) {
	if _, served := s.zones[name]; !served {
		return out
	}
	if _, err := s.server.Apply(ctx, name, backend.Batch{Remove: true}); err != nil {
		out.faults = []string{fmt.Sprintf("%s is still served: %s.", name, err)}
		return out
	}
	delete(s.zones, name)
	out.withdrawn = []dnsname.Name{name}
	return out
}

// labelOf returns the label of what a Zone holds now, and whether that is other content than it was: then the serial is
// newer.
func (s *serving) labelOf(z *fold.ZoneResult) (label, bool) {
	next := label{hash: z.Snapshot.Hash, soa: z.Snapshot.SOA}
	next.soa.Serial = 0
	next.serial = z.NextSerial(s.now())
	last, known := s.labels[z.Snapshot.Name]
	switch {
	case !known:
		return next, true
	case last.hash == next.hash && last.soa == next.soa:
		return last, false
	case !rr.SerialLess(last.serial, next.serial):
		next.serial = rr.NextSerial(last.serial, s.now())
	}
	return next, true
}

// changesBetween returns what takes what is served to what shall be. All of it is ours.
func changesBetween(old, now servedZone, d zone.ZoneDelta, apex dnsname.Name) []plan.Change {
	scope := plan.Scope{Apex: apex, Written: old.sets}
	if d.Fresh || old.id != d.ID {
		return plan.Diff(old.sets, now.sets, scope).Changes
	}
	return plan.DiffKeys(old.sets, now.sets, d.Changed, scope).Changes
}

// servable leaves out the changes that no message could carry: one set must not keep back the others.
func servable(z *fold.ZoneResult, changes []plan.Change) (good []plan.Change, faults []string) {
	empty, err := embedded.NewZone(z.Snapshot.Name, z.Snapshot.SOA)
	if err != nil {
		return changes, nil // which the server says in full
	}
	_, rejected, err := empty.With(nil, changes)
	if err != nil || len(rejected) == 0 {
		return changes, nil
	}
	why := map[rr.Key]bool{}
	for _, r := range rejected {
		why[r.Key] = true
		faults = append(faults, fmt.Sprintf("%s of %s stays as it was: %s.", r.Key, z.Object.Ref, r.Reason))
	}
	return slices.DeleteFunc(changes, func(c plan.Change) bool { return why[c.Key] }), faults
}
