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
	going     bool   // it is being deleted: it takes nothing, and what names it is told why
	from      []v1beta1.Selection
	selectors []labels.Selector
	hooks     map[hook]struct{} // of the selectors
	lost      int               // how many records it selects and does not have
}

func homeZoneOf(z *v1beta1.DNSZone) *homeZone {
	selectors := selectorsOf(z.Spec.RecordsFrom)
	return &homeZone{
		id: ZoneID(z.Namespace, z.Name), created: z.CreationTimestamp.Time, name: CanonicalZone(z.Spec.ZoneName),
		going: !z.DeletionTimestamp.IsZero(),
		from:  z.Spec.RecordsFrom, selectors: selectors, hooks: hooksOf(selectors),
	}
}

// CanonicalZone returns the name of a zone as one writes it: in any case, with or without a dot at its end.
func CanonicalZone(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// selectorsOf reads selectors. One that cannot be read, such as one with an unknown operator, selects nothing; an empty
// one selects everything.
func selectorsOf(from []v1beta1.Selection) []labels.Selector {
	var out []labels.Selector
	for i := range from {
		if s, err := selectorOf(&from[i]); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// maxSelector is how many labels and values a selector may have: what a zone asks for is asked of every instance and
// record.
const maxSelector = 256

// selectorOf reads a selector.
func selectorOf(from *v1beta1.Selection) (labels.Selector, error) {
	size := len(from.Selector.MatchLabels)
	for _, e := range from.Selector.MatchExpressions {
		size += 1 + len(e.Values)
	}
	if size > maxSelector {
		return nil, fmt.Errorf("it has %d labels and values, more than %d", size, maxSelector)
	}
	return metav1.LabelSelectorAsSelector(&from.Selector)
}

func selected(by []labels.Selector, set map[string]string) bool {
	return slices.ContainsFunc(by, func(s labels.Selector) bool { return s.Matches(labels.Set(set)) })
}

// selects reports whether the zone, if there is one, selects records with these labels.
func (z *homeZone) selects(set map[string]string) bool { return z != nil && selected(z.selectors, set) }

func (z *homeZone) same(o *homeZone) bool {
	return z.created.Equal(o.created) && z.name == o.name && z.going == o.going && reflect.DeepEqual(z.from, o.from)
}

// compare orders zones by age, and then by name; one that is not created yet is the youngest. Zones that are being
// deleted come last: the first of some takes a record if any of them does.
func (z *homeZone) compare(o *homeZone) int {
	age := func(z *homeZone) int64 {
		if z.created.IsZero() {
			return math.MaxInt64
		}
		return z.created.UnixNano()
	}
	if z.going != o.going {
		if z.going {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(age(z), age(o)), z.id.Compare(o.id))
}

// maxLost is up to how many records a zone is told exactly that it does not have: beyond, a further one is no news to
// it.
const maxLost = 9

// lose counts a record that the zone selects and does not have, or not any more, and reports whether that is news.
func (z *homeZone) lose(by int) (news bool) {
	before := min(z.lost, maxLost+1)
	z.lost += by
	return min(z.lost, maxLost+1) != before
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
	owner    *homeZone   // who has it; nil: nobody
	home     Home
	told     []*homeZone // of whom home tells
}

// maxNamed is of how many other zones a record is told each: a namespace may have thousands that select everything, and
// then each record would tell of all, again whenever there is one more.
const maxNamed = 3

// decide finds out who has the record, and reports whether its home is another than before. What it costs does not grow
// with the zones that select the record.
func (r *homeRecord) decide(s *homeSpace) (news bool) {
	owner, refusal := r.find(s)
	var selecting, called []*homeZone
	if owner != nil {
		selecting = others(r.selected, owner)
		if r.zone != "" && r.ref == "" {
			called = others(s.called[r.zone], owner)
		}
	}
	told := slices.Concat([]*homeZone{owner}, selecting, []*homeZone{nil}, called)
	if owner != nil && slices.Equal(told, r.told) {
		return false
	}
	before := r.home
	r.owner, r.told, r.home = owner, told, Home{Refusal: refusal}
	if owner != nil {
		r.home.Zone = owner.id
		r.note(selecting, v1beta1.ReasonSelectedTwice, func(z string) string {
			return fmt.Sprintf("%s has %s, and %s also selects it; let only one of them select it.", owner.id, r.id, z)
		})
		r.note(called, v1beta1.ReasonZoneAmbiguous, func(z string) string {
			return fmt.Sprintf("%s has %s, and %s is also called %s; choose one with zoneRef.", owner.id, r.id, z, r.zone)
		})
	}
	return !reflect.DeepEqual(before, r.home)
}

// others are the first of some zones beside the owner: at most one more than are named.
func others(zones []*homeZone, owner *homeZone) (out []*homeZone) {
	for _, z := range zones {
		if z.going {
			break // and so are all behind it
		}
		if z != owner {
			out = append(out, z)
		}
		if len(out) > maxNamed {
			break
		}
	}
	return out
}

// note tells of zones, by name or, after some, that there are more.
func (r *homeRecord) note(zones []*homeZone, reason zone.Reason, text func(string) string) {
	for i, z := range zones {
		name := z.id.String()
		if i == maxNamed {
			name = "at least one DNSZone more"
		}
		r.home.Notes = append(r.home.Notes, zone.Note{Reason: reason, Message: text(name), Object: z.id})
	}
}

// assign decides anew which zones have the record, and returns those that this changes: now is one that may select it
// since, nil if none does.
func (r *homeRecord) assign(s *homeSpace, now *homeZone) (news bool, zones []zone.ID) {
	before := r.owner
	news = r.decide(s)
	tell := func(z *homeZone, by int) {
		if z.lose(by) {
			zones = append(zones, z.id)
		}
	}
	switch {
	case before == nil:
		return news, r.count(1)
	case r.owner == nil:
		for _, z := range r.selected {
			if z != before && z != now {
				tell(z, -1)
			}
		}
		return news, zones
	case before != r.owner:
		if r.isSelectedBy(before) {
			tell(before, 1)
		}
		if r.owner != now && r.isSelectedBy(r.owner) {
			tell(r.owner, -1)
		}
	}
	if now != r.owner && r.isSelectedBy(now) {
		tell(now, 1)
	}
	return news, zones
}

// isSelectedBy reports whether a zone that there is selects the record.
func (r *homeRecord) isSelectedBy(z *homeZone) bool {
	if z == nil {
		return false
	}
	i, found := slices.BinarySearchFunc(r.selected, z, (*homeZone).compare)
	return found && r.selected[i] == z
}

// count tells all zones that select the record while another one has it, and returns those to which that is news.
func (r *homeRecord) count(by int) (zones []zone.ID) {
	for _, z := range r.selected {
		if r.owner != nil && z != r.owner && z.lose(by) {
			zones = append(zones, z.id)
		}
	}
	return zones
}

// find returns the zone that has the record: the one that it names, or else the oldest that selects it.
func (r *homeRecord) find(s *homeSpace) (*homeZone, *zone.Refusal) {
	refuse := func(reason zone.Reason, format string, args ...any) (*homeZone, *zone.Refusal) {
		return nil, &zone.Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case r.ref != "":
		z := s.zones[r.ref]
		switch {
		case z == nil:
			return refuse(v1beta1.ReasonZoneNotFound,
				"%s refers to DNSZone %s/%s, which does not exist; create it or correct zoneRef.",
				r.id, r.id.Namespace, r.ref)
		case z.going:
			return refuse(v1beta1.ReasonZoneNotFound,
				"%s refers to %s, which is being deleted; create it again when it is gone, or correct zoneRef.",
				r.id, z.id)
		case r.zone != "" && r.zone != z.name:
			return refuse(zone.InvalidSpec, "%s names the zone %s, and with zoneRef %s, which is %s; remove one of the two.",
				r.id, r.zone, z.id, z.name)
		}
		return z, nil
	case r.zone != "":
		all := s.called[r.zone]
		switch {
		case len(all) == 0:
			return refuse(v1beta1.ReasonZoneNotFound,
				"%s names the zone %s, and no DNSZone of namespace %s has that zoneName; create one or correct zone.",
				r.id, r.zone, r.id.Namespace)
		case all[0].going:
			return refuse(v1beta1.ReasonZoneNotFound,
				"%s names the zone %s, and %s is being deleted; create it again when it is gone, or correct zone.",
				r.id, r.zone, all[0].id)
		}
		return all[0], nil
	case len(r.selected) > 0 && r.selected[0].going:
		return refuse(v1beta1.ReasonNotSelected,
			"%s names no zone, and %s, which selects it, is being deleted; create it again when it is gone, or set zone.",
			r.id, r.selected[0].id)
	case len(r.selected) > 0:
		return r.selected[0], nil
	}
	return refuse(v1beta1.ReasonNotSelected, "%s names no zone, and no DNSZone of namespace %s selects it; set zone, or "+
		"labels that the recordsFrom of a DNSZone selects.",
		r.id, r.id.Namespace)
}
