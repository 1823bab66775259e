package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A trouble is what is wrong with the API server for a while, for operators; people's steps get through. API.store.mu
// guards it.
type trouble struct {
	late    map[string]time.Duration // of watches, by plural
	broken  map[string]time.Time     // until then watches end after one event
	failing string                   // how writes are answered: one of failures
	of      string                   // which writes those are: "zones", "zones/status", "status"; "": all
	stored  string                   // when they are stored: before the answer, not at all, or some time after it
	tardy   map[string]time.Duration // how late some writes are answered, by what they are of
	until   time.Time                // of failing
	back    time.Time                // until then it is gone
	begun   bool                     // it has been gone, or has failed
	away    chan struct{}            // closed, and made anew, when it goes
	unread  map[string]time.Time     // until then kinds cannot be read, by plural
	lacking map[string]bool          // kinds that are not defined
}

// troubles are the steps that begin one:
//
//	late zones 60s            who watches Zones is told a minute late from now on; 0s: at once again
//	behind zones 60s          who does not lead now is told so late; 0s: everybody at once again
//	failing 409 after 30s     for so long it stores what is written, and answers 409, 429, 500 or, with "timeout", 504
//	failing 409 before 30s    it stores nothing
//	failing timeout late 30s  it stores that three seconds after its answer
//	failing 403 before zones/status 30s    so it is with some writes: of a resource, of its status, or of any "status"
//	tardy zones/status 1s     some writes are stored at once and answered so late from now on; 0s: at once again
//	gone 30s                  for so long there is none
//	broken zones 30s          for so long who begins to watch Zones is told of one, and no more
//	expire zones              who watches Zones is told (410) that what has happened is forgotten
//	absent 30s                operators crash, and for so long there is none
//	unread dnsendpoints 5m    for so long operators may not read DNSEndpoints (403), nor watch them any more
var troubles = map[string][]int{
	"late": {3}, "behind": {3}, "failing": {4, 5}, "tardy": {3}, "gone": {2}, "broken": {3}, "expire": {2}, "absent": {2},
	"unread": {3},
}

// failures are how writes are answered that fail, and moments when they are stored.
var (
	failures = []string{"403", "409", "429", "500", "timeout"}
	moments  = []string{"before", "after", "late"} // it fails before it stores, or after that, or stores late
)

// lateness is how long after its answer a write is stored that comes late.
const lateness = 3 * time.Second

// inTrouble reports whether a step begins a trouble.
func inTrouble(words []string) bool {
	return len(words) > 0 && slices.Contains(troubles[words[0]], len(words))
}

// Calm returns the life without faults and without troubles of the API server: it ends alike.
func (l Life) Calm() Life {
	l.Fault, l.Then = Fault{}, nil
	l.Steps = slices.DeleteFunc(slices.Clone(l.Steps), func(s Step) bool { return inTrouble(strings.Fields(s.Text)) })
	return l
}

// Alone reports whether one operator lives all of a life.
func (l Life) Alone() bool {
	return l.Fault.Kind == None && !slices.ContainsFunc(l.Steps, func(s Step) bool {
		words := strings.Fields(s.Text)
		return inTrouble(words) || words[0] == "restore" || strings.HasPrefix(s.Text, "delete Lease ")
	})
}

// begin begins a trouble.
func (a *API) begin(words []string) error {
	if words[0] == "expire" {
		a.expire(words[1])
		return nil
	}
	d, err := time.ParseDuration(words[len(words)-1])
	if err != nil {
		return err
	}
	s := a.store
	s.mu.Lock()
	defer s.mu.Unlock()
	switch words[0] {
	case "late":
		if a.trouble.late == nil {
			a.trouble.late = map[string]time.Duration{}
		}
		a.trouble.late[words[1]] = d
		for k := range s.changed {
			s.wake(k)
		}
	case "tardy":
		if a.trouble.tardy == nil {
			a.trouble.tardy = map[string]time.Duration{}
		}
		a.trouble.tardy[words[1]] = d
	case "broken":
		if a.trouble.broken == nil {
			a.trouble.broken = map[string]time.Time{}
		}
		a.trouble.broken[words[1]] = s.now().Add(d)
	case "failing":
		return a.fail(words, s.now().Add(d))
	case "unread":
		a.hide(words[1], s.now().Add(d))
	case "gone":
		a.trouble.back, a.trouble.begun = s.now().Add(d), true
		a.interrupt()
	}
	return nil
}

// fail has writes fail until a time. store.mu is held.
func (a *API) fail(words []string, until time.Time) error {
	if !slices.Contains(failures, words[1]) || !slices.Contains(moments, words[2]) {
		return fmt.Errorf("it fails with one of %q, at one of %q", failures, moments)
	}
	t := &a.trouble
	t.failing, t.stored, t.until, t.begun, t.of = words[1], words[2], until, true, ""
	if len(words) == 5 {
		t.of = words[3]
	}
	return nil
}

// hasFailed reports whether it has ever been gone, or answered that it fails: then operators end that were the leader,
// or that were about to begin.
func (a *API) hasFailed() bool {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	return a.trouble.begun
}

// distrust has operators be followed that end because somebody else leads.
func (a *API) distrust() {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	a.trouble.begun = true
}

// errGone is what everybody gets while there is no API server.
var errGone = errors.New("connection refused")

// serve is RoundTrip with the troubles that there are.
func (a *API) serve(r *http.Request) (*http.Response, error) {
	a.store.mu.Lock()
	now, t := a.store.now(), a.trouble
	a.store.mu.Unlock()
	switch {
	case now.Before(t.back):
		return nil, errGone
	case a.hides(r, t, now):
		return failure(r, apierrors.NewForbidden(schema.GroupResource{Resource: "objects"}, "", errHidden))
	case a.lacks(r, t):
		return failure(r, errNoKind(r.Method, schema.GroupResource{Resource: "objects"}, ""))
	case t.failing == "" || !counts(r) || !now.Before(t.until) || !a.concerns(r, t.of):
		return a.answersLate(r)
	case t.stored == "late":
		if err := a.storeLate(r); err != nil {
			return nil, err
		}
	case t.stored == "after":
		response, err := a.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if response.StatusCode >= http.StatusBadRequest {
			return response, nil
		}
		_ = response.Body.Close() // nobody hears of it
	}
	return t.refusal(r)
}

// answersLate is RoundTrip with the time that some answers take.
func (a *API) answersLate(r *http.Request) (*http.Response, error) {
	response, err := a.RoundTrip(r)
	if err != nil || !counts(r) {
		return response, err
	}
	a.store.mu.Lock()
	var takes time.Duration
	for of, d := range a.trouble.tardy {
		if a.concerns(r, of) {
			takes = max(takes, d)
		}
	}
	a.store.mu.Unlock()
	select {
	case <-time.After(takes):
		return response, nil
	case <-r.Context().Done():
		_ = response.Body.Close()
		return nil, r.Context().Err()
	}
}

// storeLate has a write be stored some time after now, as far as it can be then.
func (a *API) storeLate(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	again := r.Clone(context.Background())
	again.Body = io.NopCloser(bytes.NewReader(body))
	time.AfterFunc(lateness, func() {
		if response, err := a.RoundTrip(again); err == nil {
			_ = response.Body.Close()
		}
	})
	return nil
}

// concerns reports whether a request is for a resource, or for a subresource of any; "" is every request.
func (a *API) concerns(r *http.Request, of string) bool {
	if of == "" {
		return true
	}
	q, is := a.about(r)
	return is && (q.resource() == of || q.subresource == of)
}

// refusal is the answer of an API server that fails.
func (t trouble) refusal(r *http.Request) (*http.Response, error) {
	resource := schema.GroupResource{Resource: "objects"}
	switch t.failing {
	case "403":
		return failure(r, apierrors.NewForbidden(resource, r.URL.Path, errors.New("the right to write it is gone")))
	case "409":
		return failure(r, apierrors.NewConflict(resource, r.URL.Path, errModified))
	case "429":
		response, err := failure(r, apierrors.NewTooManyRequests("too many requests", 1))
		if err == nil {
			response.Header.Set("Retry-After", "1")
		}
		return response, err
	case "500":
		return failure(r, apierrors.NewInternalError(fmt.Errorf("etcdserver: leader changed")))
	}
	return failure(r, apierrors.NewTimeoutError("request did not complete within the allowed duration", 0))
}

// due returns those of the events that a follower is told of now, up to which revision that is all, and when there are
// more; zero: none wait. API.store.mu is held.
func (a *API) due(f *follower, news []event, revision uint64) (now []event, seen uint64, next time.Time) {
	late := a.trouble.late[f.kind.plural] + f.by.isLate(f.kind.plural) + f.lag
	if late == 0 {
		return news, revision, time.Time{}
	}
	seen = f.seen
	for i, e := range news {
		if at := e.at.Add(late); e.kind == f.kind && at.After(a.store.now()) {
			return news[:i], seen, at
		}
		seen = e.revision
	}
	return news, revision, time.Time{}
}
