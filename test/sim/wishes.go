package sim

import (
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A want is what objects ask for, now and at any time before, in one zone of Zones, in the heap of a DNSClass, or in
// all zones of Gardener's DNSRecords.
type want struct {
	apex   dnsname.Name // of a zone of Zones; zero: it is none
	sets   rr.Sets
	all    map[rr.Key][]rr.Set    // that were ever asked for
	absent map[rr.Key]time.Time   // when a set that is asked for was last not
	bare   time.Time              // when last nothing was asked for but name servers
	places map[string]*attachment // by the address of the server
}

// An attachment says since when a server is to have what is wanted.
type attachment struct {
	since time.Time // zero: it is not to have it now
	keep  bool      // foreign sets
}

func newWant(apex dnsname.Name, now time.Time) *want {
	return &want{apex: apex, all: map[rr.Key][]rr.Set{}, absent: map[rr.Key]time.Time{}, bare: now,
		places: map[string]*attachment{}}
}

// become has other sets be asked for.
func (w *want) become(sets rr.Sets, changed []rr.Key, now time.Time) {
	full := !w.empty(w.sets)
	for _, key := range changed {
		set, there := sets.Get(key)
		if !there {
			continue
		}
		if _, was := w.sets.Get(key); !was {
			w.absent[key] = now
		}
		if !slices.ContainsFunc(w.all[key], set.Equal) {
			w.all[key] = append(w.all[key], set)
		}
	}
	w.sets = sets
	if !full {
		w.bare = now
	}
}

// goTo has the sets be wanted at some servers, and nowhere else.
func (w *want) goTo(servers map[string]bool, now time.Time) {
	for at, keep := range servers {
		a := w.places[at]
		if a == nil {
			a = &attachment{}
			w.places[at] = a
		}
		if a.keep = keep; a.since.IsZero() {
			a.since = now
		}
	}
	for at, a := range w.places {
		if _, still := servers[at]; !still {
			a.since = time.Time{}
		}
	}
}

// empty reports whether of some sets nothing is left but name servers, which a server may not give up.
func (w *want) empty(sets rr.Sets) bool {
	if n := sets.Len(); n > 1 {
		return false
	}
	_, servers := sets.Get(rr.Key{Name: w.apex, Type: rr.TypeNS})
	return sets.Len() == 0 || servers
}

// lacked returns when a set was last not wanted at a server.
func (w *want) lacked(at string, key rr.Key, now time.Time) time.Time {
	a := w.places[at]
	if _, wanted := w.sets.Get(key); !wanted || a == nil || a.since.IsZero() {
		return now
	}
	return later(a.since, w.absent[key])
}

// asked reports whether a set was ever asked for as it is sent to a server with some bounds of TTLs, which has
// something in its place.
func (w *want) asked(at string, set, before rr.Set, scope *plan.Scope) bool {
	a := w.places[at]
	if a == nil {
		return false
	}
	kept := a.keep && set.Key() == rr.Key{Name: w.apex, Type: rr.TypeNS} // the server's own stay among ours
	return slices.ContainsFunc(w.all[set.Key()], func(ever rr.Set) bool {
		if !kept {
			return scope.Clamp(ever).Equal(set)
		}
		return !slices.ContainsFunc(set.Data, func(data string) bool {
			return !slices.Contains(ever.Data, data) && !slices.Contains(before.Data, data)
		})
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// keysOf are those of all sets in some collections, each as often as it is in one.
func keysOf(all ...rr.Sets) (out []rr.Key) {
	for _, sets := range all {
		for set := range sets.All() {
			out = append(out, set.Key())
		}
	}
	return out
}
