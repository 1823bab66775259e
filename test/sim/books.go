package sim

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	backendsdialect "github.com/zonefold/zonefold/internal/dialect/backends"
	kubizonedialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/rr"
)

// books are what the cluster has written down of Zones. An operator that begins knows nothing else of what earlier ones
// have put among foreign sets, and of the serials that they may have used.
type books struct {
	sets     map[ref]rr.Sets // of Zones, of their slices and journals, and of Backends that have something left of them
	ceilings map[ref]uint32
	used     map[ref]uint32   // the last serials that servers were told
	undone   bool             // what was written is lost: the API server came back with a backup, or drops it
	disputed func() bool      // two operators lead
	wentOn   func() time.Time // when an operator last did that was stopped
}

// enters takes in what a Zone, a part of its content or journal, or what a Backend has left of it says now.
func (w *witness) enters(e event, restored bool) {
	zone := e.kind.Kind == "Zone" && e.kind.Group == "kubi.zone"
	if !zone && e.kind.Kind != "ZoneSlice" && e.kind.Kind != "Backend" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.books.undone = w.books.undone || restored || zone && lacksEntries(e.after)
	was := w.books.sets[e.ref]
	delete(w.books.sets, e.ref)
	if e.after != nil {
		w.books.sets[e.ref] = entriesOf(e.after)
	}
	if zone {
		w.raises(e)
	}
	for set := range was.All() {
		w.misses(set.Key())
	}
}

// lacksEntries reports whether the content of a Zone was written, and its definition, an old one, does not have it.
func lacksEntries(zone *unstructured.Unstructured) bool {
	if zone == nil {
		return false
	}
	status, _, _ := unstructured.NestedMap(zone.Object, "status")
	return status["hash"] != nil && status["entries"] == nil && status["slices"] == nil
}

// entriesOf are the sets that a Zone, a ZoneSlice or a Backend has written down.
func entriesOf(object *unstructured.Unstructured) rr.Sets {
	convert, txn := runtime.DefaultUnstructuredConverter.FromUnstructured, rr.Sets{}.Txn()
	var (
		z kubizone.Zone
		s zonefold.ZoneSlice
		b zonefold.Backend
	)
	switch kind := object.GetKind(); {
	case kind == "Zone" && convert(object.Object, &z) == nil:
		kubizonedialect.PutEntries(txn, z.Status.Entries)
	case kind == "ZoneSlice" && convert(object.Object, &s) == nil:
		kubizonedialect.PutEntries(txn, kubizonedialect.SliceEntries(s.Entries))
		kubizonedialect.PutEntries(txn, kubizonedialect.EntriesIn(s.Text))
	case kind == "Backend" && convert(object.Object, &b) == nil:
		for i := range b.Status.LeftBehind {
			for set := range backendsdialect.LeftSets(&b.Status.LeftBehind[i]).All() {
				txn.Put(set)
			}
		}
	}
	return txn.Sets()
}

// raises looks at the ceiling of a Zone: all serials that were used are below it, or one might be used twice. mu is
// held.
func (w *witness) raises(e event) {
	if e.after == nil {
		delete(w.books.ceilings, e.ref)
		delete(w.books.used, e.ref)
		w.reserves.say(e.ref, nil)
		return
	}
	stored, _, _ := unstructured.NestedInt64(e.after.Object, "status", "serialCeiling")
	is, used := uint32(stored), w.books.used[e.ref]
	if was := w.books.ceilings[e.ref]; is != was && used != 0 && rr.SerialLess(is, used) && !w.books.undone {
		w.notef("the ceiling of %s is %d instead of %d now, and the serial %d was used", e.ref, is, was, used)
	}
	if was := w.books.ceilings[e.ref]; is != was {
		w.reserves.put(e.ref, was, is)
	}
	w.books.ceilings[e.ref] = is
	w.reserves.say(e.ref, e.after)
}

// writtenDown reports whether anything names a set. mu is held.
func (w *witness) writtenDown(key rr.Key) bool {
	for _, sets := range w.books.sets {
		if _, named := sets.Get(key); named {
			return true
		}
	}
	return false
}

// ours reports whether what a server has among foreign sets has to be written down. What is its own stays there.
func (t notice) ours(key rr.Key) bool {
	a := t.want.places[t.at]
	own := key == rr.Key{Name: t.want.apex, Type: rr.TypeNS}
	return a != nil && a.keep && !own && !t.want.apex.IsZero() && !t.books.undone && !t.books.disputed()
}

// misses looks whether a set that is not named any more, where it was, is still at a server. An operator that goes on
// after a pause may finish one write, over what its successor has written, and that one puts it right. mu is held.
func (w *witness) misses(key rr.Key) {
	if w.writtenDown(key) || w.now().Before(w.books.wentOn().Add(settled)) {
		return
	}
	for at, zones := range w.held {
		for zone, h := range zones {
			_, has := h.sets.Get(key)
			n := notice{witness: w, want: w.wishes.wants[zone], holding: h, at: at, zone: zone}
			if !has || h.put[key].IsZero() || n.want == nil || !n.ours(key) || len(w.staying(zone)) == 0 {
				continue
			}
			w.notef("%s of %s is at %s, and is written down nowhere any more", key, zone, at)
		}
	}
}

// staying are the Zones whose statuses say where a zone is. mu is held.
func (w *witness) staying(zone string) map[ref]bool {
	all := map[ref]bool{}
	for s := range w.stays {
		if s.fqdn == zone {
			all[s.ref] = true
		}
	}
	return all
}

// mayBeAt reports whether a Zone may be at a server, by its status. mu is held.
func (w *witness) mayBeAt(r ref, at, zone string) bool {
	for s := range w.stays {
		if s.ref != r || s.fqdn != zone {
			continue
		}
		switch b := w.wishes.backends[s.backend]; {
		case b != nil && b.Spec.Embedded != nil: // what operators tell their own name servers is judged there
		case b == nil || b.Spec.RFC2136 == nil || slices.Contains(b.Spec.RFC2136.Servers, at):
			return true
		}
	}
	return false
}

// judgeBooks looks whether what a message puts, and its serial, were written down before.
func (t notice) judgeBooks(m backendtest.Message) {
	for _, c := range m.Batch.Changes {
		if !c.Deletes() && t.ours(c.Key) && !t.writtenDown(c.Key) {
			t.notef("%s is told %s of %s, which is written down nowhere", t.at, c.Key, t.zone)
		}
	}
	if m.Batch.SOA == nil || t.want.apex.IsZero() || t.books.undone {
		return
	}
	serial, below := m.Batch.SOA.Serial, false
	var ceilings []uint32
	for r := range t.staying(t.zone) {
		if ceiling, known := t.books.ceilings[r]; known {
			ceilings = append(ceilings, ceiling)
			below = below || !rr.SerialLess(ceiling, serial)
			if t.mayBeAt(r, t.at, t.zone) { // the Zone before it may still go from another server
				t.books.used[r] = rr.LaterSerial(t.books.used[r], serial)
			}
		}
	}
	if len(ceilings) > 0 && !below {
		t.notef("%s is told the serial %d of %s, above all ceilings %d", t.at, serial, t.zone, ceilings)
	}
}
