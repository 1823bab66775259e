package sim

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// busiest is how often operators may have the same effect within a second: who fails waits longer each time.
const busiest = 50

// leases is where Leases are.
const leases = "/apis/coordination.k8s.io/"

// term returns for how long an operator leads from a request on, if that is taken; false: it is about something else.
func (a *API) term(r *http.Request) (length time.Duration, is bool) {
	if !strings.HasPrefix(r.URL.Path, leases) || r.Method == http.MethodGet || r.GetBody == nil {
		return 0, false
	}
	body, err := r.GetBody()
	if err != nil {
		return 0, false
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return 0, false
	}
	lease, err := a.decode(text, r.Header.Get("Content-Type"))
	if err != nil {
		return 0, false
	}
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	if holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity"); holder == "" {
		seconds = 0 // it is given up
	}
	return time.Duration(seconds) * time.Second, true
}

// asks sends a request that is no effect, and notes until when it has the operator lead.
func (o *operator) asks(r *http.Request, sent time.Time) (*http.Response, error) {
	length, is := o.world.api.term(r)
	response, err := o.world.api.serve(r)
	if is && err == nil && response.StatusCode < http.StatusBadRequest {
		o.mu.Lock()
		o.over = sent.Add(length)
		o.mu.Unlock()
	}
	return response, err
}

// lead looks whether an operator that begins an effect may be the leader, by its own clock.
func (o *operator) lead(what string) {
	o.mu.Lock()
	over := !o.over.IsZero() && !o.world.now().Before(o.over) && !o.dead
	o.mu.Unlock()
	if over {
		o.world.fail(fmt.Sprintf("an operator whose Lease is over begins %s", what))
	}
}

// A crew is all operators that have begun. Its lock may be taken under any other.
type crew struct {
	mu  sync.Mutex
	all []*operator
}

func (c *crew) join(o *operator) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, o)
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

// hurry notes it as wrong if something is done again and again without a pause. mu is held.
func (w *World) hurry(what string) {
	if w.crew.contested() {
		return
	}
	now := w.now()
	w.recent[what] = slices.DeleteFunc(append(w.recent[what], now), func(at time.Time) bool {
		return now.Sub(at) >= time.Second
	})
	if len(w.recent[what]) == busiest {
		w.wrong = append(w.wrong, fmt.Sprintf("within a second there are %d of %s", busiest, what))
	}
}
