package zones

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/zonefold/zonefold/internal/backend"
)

// A stoppedClock shows one time.
type stoppedClock struct {
	backend.Clock
	at time.Time
}

func (c stoppedClock) Now() time.Time { return c.at }

// TestAnInstanceThatWasHandedOutEarlyIsWokenAgain has something else take an instance out of the queue before it was
// due: what happens then is looked at too.
func TestAnInstanceThatWasHandedOutEarlyIsWokenAgain(t *testing.T) {
	queue := priorityqueue.New[reconcile.Request](t.Name())
	defer queue.ShutDown()
	z := &Zones{}
	z.knowNothing()
	z.Clock = stoppedClock{at: time.Unix(1000, 0)}
	if err := z.Wakes(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKey{Namespace: "a", Name: "b"}
	next := func(why string) {
		t.Helper()
		got := make(chan reconcile.Request, 1)
		go func() { r, _ := queue.Get(); got <- r }()
		select {
		case r := <-got:
			if queue.Done(r); r.NamespacedName != key {
				t.Fatalf("%s: %v", why, r)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: it is not looked at", why)
		}
	}
	z.wakeInstances(key)
	next("at once")
	z.wakeInstances(key)                              // a moment later
	queue.Add(reconcile.Request{NamespacedName: key}) // an event
	next("because of the event")
	z.wakeInstances(key)
	next("because of what happened after that")
}
