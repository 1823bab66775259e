package sim

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// foretold looks, when all is calm, whether servers have what a World says that is given the objects as they are now,
// from nothing and in no order, and whether statuses tell so.
func (w *witness) foretold(objects map[ref]*unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := newWishes(w.wishes.asking.afresh())
	for r, object := range objects {
		if !maySource(r.kind) {
			fresh.take(r, object, w.now())
		} else if fresh.takeSource(r, nil, object) {
			fresh.settle(w.now())
		}
	}
	for zone, wanted := range fresh.wants {
		if wanted.apex.IsZero() {
			continue // see World.hooked
		}
		for at, a := range wanted.places {
			if !a.since.IsZero() && fresh.usable(at) {
				w.compare(wanted, at, zone)
			}
		}
	}
	for r, claim := range fresh.claims {
		if fresh.isServed(w, claim) && !readyNow(objects[r]) {
			w.notef("%s is served, and does not say so", r)
		}
	}
}

// usable reports whether each Backend with a server says that it can be used.
func (w *wishes) usable(at string) bool {
	for _, b := range w.backendsAt(at) {
		for _, c := range b.Status.Conditions {
			if c.Type == controller.ConditionReady && c.Status != "True" {
				return false
			}
		}
	}
	return true
}

// compare compares what a server has of a zone with what it is to have. mu is held.
func (w *witness) compare(wanted *want, at, zone string) {
	h, a, scope := w.holding(at, zone), wanted.places[at], w.scopes[at]
	apex := rr.Key{Name: wanted.apex, Type: rr.TypeNS}
	for set := range wanted.sets.All() {
		has, _ := h.sets.Get(set.Key())
		if set.Key() == apex && (a.keep || scope.ApexNS != 0) {
			continue // the server's own may be among them
		}
		if !scope.Clamp(set).Equal(has) {
			w.notef("%s has %s %d %q of %s, and is to have %d %q", at, set.Key(), has.TTL, has.Data, zone, set.TTL, set.Data)
		}
	}
	servers, _ := h.sets.Get(apex)
	for set := range h.sets.All() {
		_, is := wanted.sets.Get(set.Key())
		if is || set.Key() == apex || a.keep && h.put[set.Key()].IsZero() || hostOf(servers, set.Key()) {
			continue
		}
		w.notef("%s has %s %q of %s, which nobody wants", at, set.Key(), set.Data, zone)
	}
}

// hostOf reports whether a key is that of an address of a name server, which stays where the name servers are the
// server's.
func hostOf(servers rr.Set, key rr.Key) bool {
	return (key.Type == rr.TypeA || key.Type == rr.TypeAAAA) && slices.ContainsFunc(servers.Data, func(data string) bool {
		return slices.Contains(rr.Targets(rr.TypeNS, data), key.Name)
	})
}

// lacksBackend reports whether a Zone names a Backend that does not exist, or does not grant it: its records are not
// served then, even if all others have them.
func (w *wishes) lacksBackend(id zone.ID) bool {
	return slices.ContainsFunc(w.refs[id], func(name string) bool { return w.backends[name] == nil || !w.isAt(id, name) })
}

// isServed reports whether a claim of a Zone is accepted, and all servers have what it asks for.
func (w *wishes) isServed(by *witness, claim zone.Claim) bool {
	verdict, _ := w.world.Verdict(claim.ID)
	wanted := w.wants[w.names[verdict.Zone]]
	if _, hidden := verdict.Note(zone.Occluded); !verdict.Accepted || hidden || wanted == nil || wanted.apex.IsZero() ||
		w.lacksBackend(verdict.Zone) {
		return false
	}
	key, served := rr.Key{Name: verdict.Name, Type: claim.Type}, false
	for at, a := range wanted.places {
		if a.since.IsZero() {
			continue // another Zone of the name would be there
		}
		set, _ := by.holding(at, w.names[verdict.Zone]).sets.Get(key)
		if !w.usable(at) || !slices.Contains(set.Data, claim.Data[0]) {
			return false
		}
		served = true
	}
	return served
}
