package sim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// busiest is how often operators may have the same effect within a second: who fails waits longer each time.
const busiest = 50

// leases is where Leases are.
const leases = "/apis/coordination.k8s.io/"

// written is the key by which the context of a request has who is told of the object that it has written.
type written struct{}

// asks sends a request that is no effect, and notes until when it has the operator lead.
func (o *operator) asks(r *http.Request, sent time.Time) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Path, leases) && r.Method != http.MethodGet {
		r = r.WithContext(context.WithValue(r.Context(), written{}, func(lease *unstructured.Unstructured) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.over = sent.Add(termOf(lease))
		}))
	}
	return o.world.api.serve(r)
}

// termOf is for how long a Lease has its holder lead.
func termOf(lease *unstructured.Unstructured) time.Duration {
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	if holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity"); holder == "" {
		return 0 // it is given up
	}
	return time.Duration(seconds) * time.Second
}

// lead looks whether an operator that begins an effect may be the leader, by its own clock.
func (o *operator) lead(what string) {
	if o.isOver() {
		o.world.fail(fmt.Sprintf("an operator whose Lease is over begins %s", what))
	}
}

// isOver reports whether an operator lives whose Lease is over: it was paused, and has not heard of its end.
func (o *operator) isOver() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.over.IsZero() && !o.world.now().Before(o.over) && !o.dead
}

// raising notes that an operator stores a ceiling, until that is answered: it stores no other one of the same object
// meanwhile, or would take what it stores itself for somebody else's.
func (o *operator) raising(r *http.Request) (done func()) {
	ceiling, is := ceilingIn(r)
	if !is {
		return func() {}
	}
	path := r.URL.Path
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asksFor(path, ceiling)
	if r.Header.Get("Content-Type") != string(types.JSONPatchType) {
		return func() {} // it is about other things, too
	}
	if o.raises[path]++; o.raises[path] > 1 {
		o.world.fail("an operator stores two ceilings at a time: " + effectName(r))
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.raises[path]--
	}
}

// A crew is all operators that have begun. Its lock may be taken under any other.
type crew struct {
	mu     sync.Mutex
	all    []*operator
	wentOn time.Time
}

func (c *crew) join(o *operator) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, o)
}

// waits reports whether there is another operator than one that might lead.
func (c *crew) waits(but *operator) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.all, func(o *operator) bool {
		if o == but {
			return false
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		return !o.dead && !o.ended && o.holds == nil
	})
}

// comesAgain reports whether an operator that ends by itself is started again.
func (o *operator) comesAgain() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.again
}

// follows is the key by which the context of a watch has its operator.
type follows struct{}

// fallBehind has the watches of a kind be late of those operators that do not lead now; 0: of nobody.
func (w *World) fallBehind(words []string) error {
	d, err := time.ParseDuration(words[2])
	if err != nil {
		return err
	}
	w.crew.mu.Lock()
	for _, o := range w.crew.all {
		o.mu.Lock()
		if o.late == nil {
			o.late = map[string]time.Duration{}
		}
		if d == 0 || !w.now().Before(o.over) {
			o.late[words[1]] = d
		}
		o.mu.Unlock()
	}
	w.crew.mu.Unlock()
	s := w.api.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.changed {
		s.wake(k)
	}
	return nil
}

// isLate is how late the watches of a kind are.
func (o *operator) isLate(plural string) time.Duration {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.late[plural]
}

// contested reports whether two operators are the leader, each by its own clock: somebody has deleted the Lease of one.
// What they undo of each other is not judged.
func (c *crew) contested() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	leaders := 0
	for _, o := range c.all {
		o.mu.Lock()
		if !o.dead && o.world.now().Before(o.over) {
			leaders++
		}
		o.mu.Unlock()
	}
	return leaders > 1
}

// goesOn notes that an operator goes on that was stopped, and had a successor. Its timers have run meanwhile: one that
// was about to open its name server may have waited long enough for what it could not deliver.
func (c *crew) goesOn(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wentOn = now
}

// lastWentOn is when an operator last did that.
func (c *crew) lastWentOn() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wentOn
}

// hurry notes it as wrong if something is done again and again without a pause. mu is held.
func (w *World) hurry(what string) {
	now := w.now()
	w.recent[what] = slices.DeleteFunc(append(w.recent[what], now), func(at time.Time) bool {
		return now.Sub(at) >= time.Second
	})
	if len(w.recent[what]) == busiest {
		w.wrong = append(w.wrong, fmt.Sprintf("within a second there are %d of %s", busiest, what))
	}
}
