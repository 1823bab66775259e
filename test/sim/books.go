package sim

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/rr"
)

// books are what the cluster has written down of Zones. An operator that begins knows nothing else of the serials that
// earlier ones may have used.
type books struct {
	ceilings map[ref]uint32
	used     map[ref]uint32 // the last serials that servers were told
	undone   bool           // what was written is lost: the API server came back with a backup
}

// enters takes in what a Zone says now.
func (w *witness) enters(e event, restored bool) {
	if e.kind.Kind != "Zone" || e.kind.Group != "kubi.zone" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.books.undone = w.books.undone || restored
	w.raises(e)
}

// raises looks at the ceiling of a Zone: all serials that were used are below it, or one might be used twice. mu is
// held.
func (w *witness) raises(e event) {
	if e.after == nil {
		delete(w.books.ceilings, e.ref)
		delete(w.books.used, e.ref)
		return
	}
	stored, _, _ := unstructured.NestedInt64(e.after.Object, "status", "serialCeiling")
	is, used := uint32(stored), w.books.used[e.ref]
	if was := w.books.ceilings[e.ref]; is != was && used != 0 && rr.SerialLess(is, used) && !w.books.undone {
		w.notef("the ceiling of %s is %d instead of %d now, and the serial %d was used", e.ref, is, was, used)
	}
	w.books.ceilings[e.ref] = is
}

// judgeBooks looks whether the serial of a message was written down before.
func (t notice) judgeBooks(m backendtest.Message) {
	if m.Batch.SOA == nil || t.want.apex.IsZero() || t.books.undone {
		return
	}
	serial, below := m.Batch.SOA.Serial, false
	var ceilings []uint32
	for r, ceiling := range t.books.ceilings {
		if t.isAbout(r, t.zone) {
			ceilings = append(ceilings, ceiling)
			below = below || !rr.SerialLess(ceiling, serial)
			t.books.used[r] = rr.LaterSerial(t.books.used[r], serial)
		}
	}
	if len(ceilings) > 0 && !below {
		t.notef("%s is told the serial %d of %s, above all ceilings %d", t.at, serial, t.zone, ceilings)
	}
}

// isAbout reports whether the status of a Zone says where a zone is. mu is held.
func (w *witness) isAbout(r ref, zone string) bool {
	for s := range w.stays {
		if s.ref == r && s.fqdn == zone {
			return true
		}
	}
	return false
}
