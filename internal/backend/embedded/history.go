package embedded

import (
	"slices"

	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A history is the last steps that a zone went through, the oldest first, for increments (RFC 1995). Versions of a zone
// share the memory of theirs: only the newest is ever made longer.
type history struct {
	steps   []*step
	records int // of all steps
}

// A step is what leads from one serial of a zone to the next: first what goes, then what comes.
type step struct {
	from, to   version
	gone, come []owned
	records    int // with both SOAs
}

// A version is a serial and the SOA that has it.
type version struct {
	serial uint32
	soa    set
}

// An owned set has a name. Not all of the records that the name has need be in it.
type owned struct {
	owner string // in wire format
	set   set
}

func (z *Zone) version() version { return version{z.soa.Serial, *z.apex.find(rr.TypeSOA)} }

// stepTo returns what leads to a later version of the zone that differs by changes, nil if that has more than most
// records or is longer than the zone.
func (z *Zone) stepTo(next *Zone, changes []plan.Change, most int) *step {
	if len(changes) > min(most, z.records+next.records) {
		return nil
	}
	keys := append(slices.Clone(z.filled), next.filled...)
	for _, c := range changes {
		keys = append(keys, c.Key)
	}
	s := &step{from: z.version(), to: next.version(), records: 2}
	done := make(map[rr.Key]struct{}, len(keys))
	for _, k := range keys {
		if _, twice := done[k]; twice || k.Type == rr.TypeSOA {
			continue
		}
		done[k] = struct{}{}
		name := string(wireOf(k.Name))
		before, after := z.find(k), next.find(k)
		s.gone = s.add(s.gone, name, before.without(after))
		s.come = s.add(s.come, name, after.without(before))
	}
	return s
}

// remember makes a zone's history that of the one before it and one more step, nil being one that is too long. It may
// be called once for each zone, and before the zone is published.
func (z *Zone) remember(before *Zone, s *step, most int) {
	z.history = history{}
	if before != nil && s != nil {
		z.history = before.history.with(s, min(most, z.records+1))
	}
}

func (s *step) add(to []owned, name string, some set) []owned {
	if some.count == 0 {
		return to
	}
	s.records += int(some.count)
	return append(to, owned{name, some})
}

// without returns the records of a set that another one does not have with the same TTL. Both may be nil.
func (s *set) without(o *set) set {
	switch {
	case s == nil:
		return set{}
	case o == nil || s.ttl != o.ttl:
		return *s
	}
	rest := set{typ: s.typ, ttl: s.ttl}
	others := make(map[string]struct{}, o.count)
	o.records(0, func(data []byte) { others[string(data)] = struct{}{} })
	s.records(0, func(data []byte) {
		if _, there := others[string(data)]; !there {
			rest.data = append(rest.data, byte(len(data)>>8), byte(len(data)))
			rest.data = append(rest.data, data...)
			rest.count++
		}
	})
	return rest
}

// with returns the history after one more step, with no more records in all than most: of longer ways the zone itself
// is shorter. It may be called once for each history.
func (h history) with(s *step, most int) history {
	if s.records > most {
		return history{}
	}
	h.steps, h.records = append(h.steps, s), h.records+s.records
	for h.records > most {
		h.records -= h.steps[0].records
		h.steps = h.steps[1:]
	}
	return h
}

// since returns the steps from a serial to now, and false if the history does not reach back.
func (h history) since(serial uint32) ([]*step, bool) {
	for i := len(h.steps) - 1; i >= 0; i-- {
		if h.steps[i].from.serial == serial {
			return h.steps[i:], true
		}
	}
	return nil, false
}
