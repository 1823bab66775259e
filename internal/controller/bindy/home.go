package bindy

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/zone"
)

// A homeZone is what matters of a DNSZone to the homes of records.
type homeZone struct {
	id        zone.ID
	created   time.Time
	name      string // as canonicalZone returns it
	from      []v1beta1.Selection
	selectors []labels.Selector
	hooks     map[hook]struct{} // of the selectors
	lost      map[zone.ID]int   // how many records it selects that another zone has
}

func homeZoneOf(z *v1beta1.DNSZone) *homeZone {
	selectors := selectorsOf(z.Spec.RecordsFrom)
	return &homeZone{
		id: ZoneID(z.Namespace, z.Name), created: z.CreationTimestamp.Time, name: canonicalZone(z.Spec.ZoneName),
		from: z.Spec.RecordsFrom, selectors: selectors, hooks: hooksOf(selectors), lost: map[zone.ID]int{},
	}
}

// canonicalZone returns the name of a zone as one writes it: in any case, with or without a dot at its end.
func canonicalZone(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// selectorsOf reads selectors. One that cannot be read, such as one with an unknown operator, selects nothing; an empty one
// selects everything.
func selectorsOf(from []v1beta1.Selection) []labels.Selector {
	var out []labels.Selector
	for i := range from {
		if s, err := metav1.LabelSelectorAsSelector(&from[i].Selector); err == nil {
			out = append(out, s)
		}
	}
	return out
}

func selected(by []labels.Selector, set map[string]string) bool {
	return slices.ContainsFunc(by, func(s labels.Selector) bool { return s.Matches(labels.Set(set)) })
}

// selects reports whether the zone, if there is one, selects records with these labels.
func (z *homeZone) selects(set map[string]string) bool { return z != nil && selected(z.selectors, set) }

func (z *homeZone) same(o *homeZone) bool {
	return z.created.Equal(o.created) && z.name == o.name && reflect.DeepEqual(z.from, o.from)
}

// compare orders zones by age, and then by name; one that is not created yet is the youngest.
func (z *homeZone) compare(o *homeZone) int {
	age := func(z *homeZone) int64 {
		if z.created.IsZero() {
			return math.MaxInt64
		}
		return z.created.UnixNano()
	}
	return cmp.Or(cmp.Compare(age(z), age(o)), z.id.Compare(o.id))
}

func withZone(zones []*homeZone, z *homeZone) []*homeZone {
	i, _ := slices.BinarySearchFunc(zones, z, (*homeZone).compare)
	return slices.Insert(zones, i, z)
}

func withoutZone(zones []*homeZone, z *homeZone) []*homeZone {
	return slices.DeleteFunc(zones, func(o *homeZone) bool { return o == z })
}

// A homeRecord is what matters of a record to its home.
type homeRecord struct {
	id       zone.ID
	zone     string // the name of the zone that it names
	ref      string // the object that it names
	labels   map[string]string
	selected []*homeZone // those that select it, oldest first
	home     Home
	losers   []*homeZone // those that select it and do not have it
}

// settle decides who has the record, and returns the zones to which that matters.
func (r *homeRecord) settle(s *homeSpace) []zone.ID {
	zones := r.count(-1)
	r.decide(s)
	return append(zones, r.count(1)...)
}

// decide finds out who has the record.
func (r *homeRecord) decide(s *homeSpace) {
	owner, refusal := r.owner(s)
	r.home, r.losers = Home{Refusal: refusal}, nil
	if owner == nil {
		return
	}
	r.home.Zone = owner.id
	for _, z := range r.selected {
		if z == owner {
			continue
		}
		r.losers = append(r.losers, z)
		r.note(z, v1beta1.ReasonSelectedTwice, "%s has %s, and %s selects it too; let only one of them select it.", owner.id, r.id, z.id)
	}
	if r.zone != "" && r.ref == "" {
		for _, z := range s.called[r.zone] {
			if z != owner {
				r.note(z, v1beta1.ReasonZoneAmbiguous, "%s has %s, and %s is called %s too; say with zoneRef which is meant.", owner.id, r.id, z.id, r.zone)
			}
		}
	}
}

func (r *homeRecord) note(z *homeZone, reason zone.Reason, format string, args ...any) {
	r.home.Notes = append(r.home.Notes, zone.Note{Reason: reason, Message: fmt.Sprintf(format, args...), Object: z.id})
}

// count tells the losers that they are some, or are not any more.
func (r *homeRecord) count(by int) []zone.ID {
	var zones []zone.ID
	for _, z := range r.losers {
		if z.lost[r.home.Zone] += by; z.lost[r.home.Zone] == 0 {
			delete(z.lost, r.home.Zone)
		}
		zones = append(zones, z.id)
	}
	return zones
}

// owner returns the zone that has the record: the one that it names, or else the oldest that selects it.
func (r *homeRecord) owner(s *homeSpace) (*homeZone, *zone.Refusal) {
	refuse := func(reason zone.Reason, format string, args ...any) (*homeZone, *zone.Refusal) {
		return nil, &zone.Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case r.ref != "":
		z := s.zones[r.ref]
		switch {
		case z == nil:
			return refuse(v1beta1.ReasonZoneNotFound, "%s refers to DNSZone %s/%s, which does not exist; create it or correct zoneRef.",
				r.id, r.id.Namespace, r.ref)
		case r.zone != "" && r.zone != z.name:
			return refuse(zone.InvalidSpec, "%s names the zone %s, and with zoneRef %s, which is %s; remove one of the two.",
				r.id, r.zone, z.id, z.name)
		}
		return z, nil
	case r.zone != "":
		if all := s.called[r.zone]; len(all) > 0 {
			return all[0], nil
		}
		return refuse(v1beta1.ReasonZoneNotFound, "%s names the zone %s, and no DNSZone of namespace %s has that zoneName; create one or correct zone.",
			r.id, r.zone, r.id.Namespace)
	case len(r.selected) > 0:
		return r.selected[0], nil
	}
	return refuse(v1beta1.ReasonNotSelected, "%s names no zone, and no DNSZone of namespace %s selects it; set zone, or labels that the recordsFrom of a DNSZone selects.",
		r.id, r.id.Namespace)
}
