package sim

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestEventsForPeopleTakeNoTime: client-go writes a series of them under its lock, in two goroutines that come at the
// same time each half hour. Who waits for a lock does not let time pass, so that nobody would go on.
func TestEventsForPeopleTakeNoTime(t *testing.T) {
	kinds := kindsOf(t)
	for _, c := range []struct {
		name         string
		paused, dead bool
		want         string
	}{
		{"of an operator that runs", false, false, "Created"},
		{"of one that is paused, which would be under the lock all the time", true, false, "Created"},
		{"of one that has crashed", false, true, errCrashed.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &operator{world: newWorld(kinds, nil, Life{}), dead: c.dead}
				if c.paused {
					o.holds = make(chan struct{})
				}
				namespace := "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"
				if err := o.world.apply(t.Context(), namespace); err != nil {
					t.Fatal(err)
				}
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
					"http://sim/apis/events.k8s.io/v1/namespaces/a/events", strings.NewReader(
						`{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"one","namespace":"a"}}`))
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				response, err := o.RoundTrip(r)
				var got string
				if err != nil {
					got = err.Error()
				} else {
					got = response.Status
					_ = response.Body.Close()
				}
				if took := time.Since(began); got != c.want || took != 0 {
					t.Errorf("%q after %s, want %q at once", got, took, c.want)
				}
			})
		})
	}
}
