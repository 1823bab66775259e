package zones

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// How soon an instance is looked at again because of its zones. Its status names all of them, and to write a thousand
// takes the API server a fifth of a second.
const (
	leastPause   = 20 * time.Millisecond
	pauseForZone = 10 * time.Millisecond
)

// wakeInstances has instances looked at again: at once, or with all that happens until then, when the last look was
// just now.
func (z *Zones) wakeInstances(keys ...client.ObjectKey) {
	st, unlock := z.state.Lock()
	defer unlock()
	if st.wake == nil {
		return
	}
	now := z.Clock.Now()
	for _, key := range keys {
		due := st.due[key]
		if !due.After(now) {
			pause := leastPause
			if h := st.hosts[key]; h != nil {
				pause += time.Duration(len(h.ledger.of)) * pauseForZone
			}
			if due = due.Add(pause); due.Before(now) {
				due = now
			}
			st.due[key] = due
		}
		// Also if it was asked for already: the queue has each instance once, and may have handed it out before that because
		// of something else.
		st.wake.AddAfter(reconcile.Request{NamespacedName: key}, due.Sub(now))
	}
}

// How long something may be on its way before that is worth a write: when it waits for its turn among others, longer.
const (
	grace        = 2 * time.Second
	backlogGrace = time.Minute
)

// isSoon reports whether what has been on its way since then is likely to be there soon.
func (r report) isSoon(since, now time.Time) bool {
	took := now.Sub(since)
	return took < grace || took < backlogGrace && r.z.backlog.Long()
}

// lookAgain is when to see whether something is still on its way. What arrives is told anyway, so that thousands need
// not be asked for every second while others have their turn.
func (r report) lookAgain() *controller.Later {
	if r.z.backlog.Long() {
		return &controller.Later{After: 4 * grace}
	}
	return &controller.Later{After: grace / 2}
}

// statusRest is how long the status of a zone rests after a write. It counts records and names the serial, so that each
// record of the zone changes it; whether the zone is ready is told at once.
const statusRest = time.Second / 2

// rest is how long to wait before the status of a zone is written again.
func (r *zoneReport) rest(ready controller.Outcome) time.Duration {
	if r.o.Status.ObservedGeneration != r.o.Generation || !dialect.HasReason(r.o.Status.Conditions, ready.Reason) {
		return 0
	}
	st, unlock := r.z.state.Lock()
	defer unlock()
	return st.know(r.id).written.Add(statusRest).Sub(r.z.Clock.Now())
}

// wrote records that the status of a zone was just written.
func (r *zoneReport) wrote() {
	st, unlock := r.z.state.Lock()
	defer unlock()
	st.know(r.id).written = r.z.Clock.Now()
}
