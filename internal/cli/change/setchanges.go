package change

import (
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// plannedSet is what one set is before and after; empty data: it is not there.
type plannedSet struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Old    []string `json:"old"`
	New    []string `json:"new"`
	OldTTL *uint32  `json:"oldTTL"`
	NewTTL *uint32  `json:"newTTL"`
}

// setChanges compares sets, which are sorted.
func setChanges(old, now []rr.Set) []plannedSet {
	out := []plannedSet{}
	for len(old)+len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].Key().Compare(now[0].Key()) < 0:
			out = append(out, changeOf(old[0], rr.Set{}))
			old = old[1:]
		case len(old) == 0 || now[0].Key().Compare(old[0].Key()) < 0:
			out = append(out, changeOf(rr.Set{}, now[0]))
			now = now[1:]
		default:
			if !old[0].Equal(now[0]) {
				out = append(out, changeOf(old[0], now[0]))
			}
			old, now = old[1:], now[1:]
		}
	}
	return out
}

func changeOf(was, is rr.Set) plannedSet {
	key := is.Key()
	if is.Data == nil {
		key = was.Key()
	}
	s := plannedSet{Name: key.Name.String(), Type: key.Type.String(), Old: []string{}, New: []string{}}
	if was.Data != nil {
		s.Old, s.OldTTL = was.Data, &was.TTL
	}
	if is.Data != nil {
		s.New, s.NewTTL = is.Data, &is.TTL
	}
	return s
}

// sign says what becomes of a set: "+", "-" or "~".
func (s *plannedSet) sign() string {
	switch {
	case len(s.Old) == 0:
		return "+"
	case len(s.New) == 0:
		return "-"
	}
	return "~"
}

// Lines returns the records that go and come, a line each.
func (s *plannedSet) Lines() []string {
	var out []string
	for _, side := range []struct {
		sign string
		ttl  *uint32
		data []string
		same []string
	}{{"-", s.OldTTL, s.Old, s.New}, {"+", s.NewTTL, s.New, s.Old}} {
		for _, data := range side.data {
			sign := side.sign
			if s.OldTTL != nil && s.NewTTL != nil && *s.OldTTL == *s.NewTTL && slices.Contains(side.same, data) {
				if sign == "+" {
					continue
				}
				sign = " "
			}
			out = append(out, fmt.Sprintf("%s %s %d IN %s %s", sign, s.Name, *side.ttl, s.Type, data))
		}
	}
	return out
}
