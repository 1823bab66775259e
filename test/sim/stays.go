package sim

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	kubizonedialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/plan"
)

// A stay is a Backend that the status of a Zone names: the Zone is there, or is about to be. An operator that begins
// knows it by nothing else.
type stay struct {
	ref
	backend, fqdn string
}

// staysOf returns what the status of a Zone names.
func staysOf(r ref, object *unstructured.Unstructured) (all []stay) {
	if object == nil {
		return nil
	}
	backends, _, _ := unstructured.NestedSlice(object.Object, "status", "backends")
	for _, b := range backends {
		one, _ := b.(map[string]any)
		name, _ := one["name"].(string)
		fqdn, _ := one["fqdn"].(string)
		all = append(all, stay{r, name, fqdn})
	}
	return all
}

// remains takes in where the status of a Zone says that it is, and, unless the API server has come back with a backup,
// looks whether it still names where the Zone is wanted and has something: a crash would leave that there for ever.
func (w *witness) remains(e event, restored bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.undone = w.undone || restored
	if e.kind.Kind != "Zone" || e.kind.Group != "kubi.zone" {
		return
	}
	was, is := staysOf(e.ref, e.before), staysOf(e.ref, e.after)
	for _, s := range is {
		if !slices.Contains(was, s) {
			w.stays[s] = w.now()
		}
	}
	for _, s := range was {
		if slices.Contains(is, s) {
			continue
		}
		since, named := w.stays[s]
		delete(w.stays, s)
		w.parted[s.fqdn] = w.now()
		if restored { // kinds are listed again one after the other
			w.parted[s.fqdn] = w.now().Add(latest)
		}
		if restored || e.after == nil || ending(e.after) || !named || w.now().Before(w.dim) {
			continue
		}
		if from, wanted := w.stayWanted(s); wanted && since.Sub(from) >= together && w.hasPut(s) {
			w.notef("%s is wanted at Backend %s since %s, and its status names that no more", s.ref, s.backend,
				from.Format(time.TimeOnly))
		}
	}
}

// stayWanted returns since when a Zone is wanted where its status says; false: it is not. mu is held.
func (w *witness) stayWanted(s stay) (since time.Time, wanted bool) {
	id := kubizonedialect.ZoneID(s.Namespace, s.Name)
	b := w.wishes.backends[s.backend]
	wants := w.wishes.wants[s.fqdn]
	if b == nil || b.Spec.RFC2136 == nil || wants == nil || w.wishes.names[id] != s.fqdn || !w.wishes.isAt(id, s.backend) {
		return since, false
	}
	if len(b.Spec.Grants) > 0 || b.Spec.Mode == zonefold.ModeObserve {
		return since, false // who may be there, and what was, is another story
	}
	since = later(w.wishes.owned[id], later(w.born[s.ref].at, w.bornBackend(s.backend)))
	for _, at := range b.Spec.RFC2136.Servers {
		if a := wants.places[at]; a != nil {
			since = later(since, a.since)
		}
	}
	return since, true
}

// hasPut reports whether a message ever put something of a Zone where its status says. An operator that has found that
// it cannot use the Backend before it sent anything takes back what the status says. mu is held.
func (w *witness) hasPut(s stay) bool {
	return slices.ContainsFunc(w.wishes.backends[s.backend].Spec.RFC2136.Servers, func(at string) bool {
		return len(w.holding(at, s.fqdn).put) > 0
	})
}

// judgePlace looks whether the status of some Zone says that it is where a message puts something of it.
func (t notice) judgePlace(m backendtest.Message) {
	puts := slices.ContainsFunc(m.Batch.Changes, func(c plan.Change) bool { return !c.Deletes() })
	if !puts || t.want.apex.IsZero() || t.now().Before(t.parted[t.zone].Add(settled)) {
		return
	}
	backends := t.wishes.backendsAt(t.at)
	for name := range backends {
		for s := range t.stays {
			if s.backend == name && s.fqdn == t.zone {
				return
			}
		}
	}
	if len(backends) > 0 {
		t.notef("%s is told something of %s, and no status of a Zone says that it goes there", t.at, t.zone)
	}
}
