package bindy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Home is the DNSZone that has a record, or why none has.
type Home struct {
	Zone    zone.ID // zero: none
	Refusal *zone.Refusal
	Notes   []zone.Note // who else would have it
}

// Homes finds the home of every record: the zone that the record names, or else the oldest that selects it, of its own
// namespace either way. A change costs what it concerns. It is not safe for concurrent use.
type Homes struct {
	spaces map[string]*homeSpace // by namespace
}

// Moved is what a change of a zone or record leads to besides, in no order.
type Moved struct {
	Records []zone.ID // other records whose Home is another now
	Zones   []zone.ID // zones whose Notes may be others
}

// NewHomes returns Homes without zones and records.
func NewHomes() *Homes { return &Homes{map[string]*homeSpace{}} }

// Of returns the home of a record that was put.
func (h *Homes) Of(record zone.ID) Home {
	if s := h.spaces[record.Namespace]; s != nil && s.records[record] != nil {
		return s.records[record].home
	}
	return Home{}
}

// Notes tells a zone which records it selects and does not get.
func (h *Homes) Notes(id zone.ID) []zone.Note {
	s := h.spaces[id.Namespace]
	if s == nil || s.zones[id.Name] == nil {
		return nil
	}
	z, records := s.zones[id.Name], "1 record"
	switch {
	case z.lost == 0:
		return nil
	case z.lost > maxLost:
		records = fmt.Sprintf("more than %d records", maxLost)
	case z.lost > 1:
		records = fmt.Sprintf("%d records", z.lost)
	}
	return []zone.Note{{Reason: v1beta1.ReasonSelectedTwice, Message: fmt.Sprintf(
		"%s selects %s that it does not get: a record belongs to the zone that it names, or else to the oldest that "+
			"selects it; let only one zone select a record.", id, records)}}
}

// PutZone adds a zone or replaces the one of its name. One that is being deleted has no records any more, and they are
// told why.
func (h *Homes) PutZone(z *v1beta1.DNSZone) Moved {
	s, now := h.space(z.Namespace), homeZoneOf(z)
	old := s.zones[z.Name]
	if old != nil && old.same(now) {
		return Moved{}
	}
	return s.change(old, now)
}

// DeleteZone removes a zone whose object is gone.
func (h *Homes) DeleteZone(id zone.ID) Moved {
	s := h.space(id.Namespace)
	defer h.clear(id.Namespace)
	return s.change(s.zones[id.Name], nil)
}

// PutRecord adds a record or replaces it.
func (h *Homes) PutRecord(r Record) Moved {
	s := h.space(r.ID.Namespace)
	now := s.recordOf(r)
	zones := s.remove(r.ID)
	s.add(now)
	now.decide(s)
	return Moved{Zones: append(zones, now.count(1)...)}
}

// Foresee returns the home that a record would have. It changes nothing.
func (h *Homes) Foresee(r Record) Home {
	s := h.space(r.ID.Namespace)
	defer h.clear(r.ID.Namespace)
	would := s.recordOf(r)
	would.decide(s)
	return would.home
}

// recordOf reads a record, and finds out which zones select it.
func (s *homeSpace) recordOf(r Record) *homeRecord {
	out := &homeRecord{id: r.ID, zone: CanonicalZone(string(r.Meta.Zone)), ref: r.Meta.ZoneRef,
		labels: r.Object.GetLabels()}
	for z := range hanging(s.selecting, labelHooks(out.labels)) {
		if z.selects(out.labels) {
			out.selected = append(out.selected, z)
		}
	}
	slices.SortFunc(out.selected, (*homeZone).compare)
	return out
}

// DeleteRecord removes a record.
func (h *Homes) DeleteRecord(id zone.ID) Moved {
	defer h.clear(id.Namespace)
	return Moved{Zones: h.space(id.Namespace).remove(id)}
}

// clear forgets a namespace in which there is nothing.
func (h *Homes) clear(namespace string) {
	if s := h.spaces[namespace]; len(s.zones) == 0 && len(s.records) == 0 {
		delete(h.spaces, namespace)
	}
}

func (h *Homes) space(namespace string) *homeSpace {
	s := h.spaces[namespace]
	if s == nil {
		s = &homeSpace{
			zones: map[string]*homeZone{}, called: map[string][]*homeZone{}, records: map[zone.ID]*homeRecord{},
			byZone: map[string]map[*homeRecord]struct{}{}, byRef: map[string]map[*homeRecord]struct{}{},
			selecting: map[hook]map[*homeZone]struct{}{}, labelled: map[hook]map[*homeRecord]struct{}{},
		}
		h.spaces[namespace] = s
	}
	return s
}

// A homeSpace is what there is in one namespace.
type homeSpace struct {
	zones   map[string]*homeZone   // by the object's name
	called  map[string][]*homeZone // by zoneName, oldest first
	records map[zone.ID]*homeRecord
	byZone  map[string]map[*homeRecord]struct{} // by the zoneName that they name
	byRef   map[string]map[*homeRecord]struct{} // by the object that they name

	selecting map[hook]map[*homeZone]struct{}
	labelled  map[hook]map[*homeRecord]struct{}
}

// change replaces a zone, or adds or removes one: old or now may be nil.
func (s *homeSpace) change(old, now *homeZone) Moved {
	touched := map[*homeRecord]struct{}{}
	for _, z := range []*homeZone{old, now} {
		if z != nil {
			maps.Copy(touched, s.byZone[z.name])
			maps.Copy(touched, s.byRef[z.id.Name])
		}
	}
	if old != nil {
		delete(s.zones, old.id.Name)
		for h := range old.hooks {
			leave(s.selecting, h, old)
		}
		if s.called[old.name] = withoutZone(s.called[old.name], old); len(s.called[old.name]) == 0 {
			delete(s.called, old.name)
		}
	}
	if now != nil {
		s.zones[now.id.Name] = now
		for h := range now.hooks {
			enter(s.selecting, h, now)
		}
		s.called[now.name] = withZone(s.called[now.name], now)
	}
	s.reselect(old, now, touched)
	return s.assignAll(touched, now)
}

// reselect tells the records that the zones select, or did.
func (s *homeSpace) reselect(old, now *homeZone, touched map[*homeRecord]struct{}) {
	if old != nil {
		for r := range hanging(s.labelled, old.hooks) {
			if old.selects(r.labels) {
				r.selected = withoutZone(r.selected, old)
				touched[r] = struct{}{}
			}
		}
	}
	if now != nil {
		for r := range hanging(s.labelled, now.hooks) {
			if now.selects(r.labels) {
				r.selected = withZone(r.selected, now)
				touched[r] = struct{}{}
			}
		}
	}
}

// assignAll decides anew about some records, now that there is a zone, or that one is gone.
func (s *homeSpace) assignAll(touched map[*homeRecord]struct{}, now *homeZone) Moved {
	var moved Moved
	zones := map[zone.ID]struct{}{}
	for r := range touched {
		news, told := r.assign(s, now)
		if news {
			moved.Records = append(moved.Records, r.id)
		}
		for _, id := range told {
			zones[id] = struct{}{}
		}
	}
	slices.SortFunc(moved.Records, zone.ID.Compare)
	moved.Zones = slices.SortedFunc(maps.Keys(zones), zone.ID.Compare)
	return moved
}

func (s *homeSpace) add(r *homeRecord) {
	s.records[r.id] = r
	for h := range labelHooks(r.labels) {
		enter(s.labelled, h, r)
	}
	if r.zone != "" {
		enter(s.byZone, r.zone, r)
	}
	if r.ref != "" {
		enter(s.byRef, r.ref, r)
	}
}

// remove takes a record out, and returns the zones to which that matters.
func (s *homeSpace) remove(id zone.ID) []zone.ID {
	r := s.records[id]
	if r == nil {
		return nil
	}
	delete(s.records, id)
	for h := range labelHooks(r.labels) {
		leave(s.labelled, h, r)
	}
	leave(s.byZone, r.zone, r)
	leave(s.byRef, r.ref, r)
	return r.count(-1)
}
