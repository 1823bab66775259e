package homelab

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
)

// TestNothingIsSentAfterTheTerm has somebody else follow between what a worker takes up and what it sends.
func TestNothingIsSentAfterTheTerm(t *testing.T) {
	www := v1alpha1.Applied{Class: "dns", Type: "A", Domain: "example.com", Subdomain: "www"}
	split := v1alpha1.Applied{Class: "dns", Type: "A", Domain: "www.example.com", Subdomain: "@"} // of the same name
	upsert := step{upsert: &want{record: dnshook.Record{Type: "A", Domain: "example.com", Subdomain: "www", TTL: 300,
		Values: []string{"192.0.2.1"}}, place: www}}
	remove := step{remove: []dnshook.ID{idOf(www), idOf(split)}}
	for _, c := range []struct {
		sentence string
		steps    []step
		calls    int // that are made before the term is over
		sent     []string
	}{
		{"a record", []step{upsert}, 0, nil},
		{"a removal", []step{remove}, 0, nil},
		{"the second removal of two", []step{remove}, 1, []string{"DELETE /records/A/example.com/www"}},
		{"what follows a record that was sent", []step{upsert, remove}, 1, []string{"POST /records"}},
		{"several at once", []step{upsert, upsert}, 0, nil},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent = append(sent, r.Method+" "+r.URL.Path)
				w.WriteHeader(http.StatusNoContent)
			}))
			defer server.Close()
			left := c.calls
			k := New(Config{
				Clock: clocktesting.NewFakeClock(time.Unix(0, 0)), Log: slog.New(slog.DiscardHandler),
				Metrics: controller.NewMetrics(), Numbers: NewNumbers(),
				Leads: func() bool { left--; return left >= 0 },
			})
			k.ctx = t.Context()
			object := &v1alpha1.DNSClass{Spec: v1alpha1.DNSClassSpec{Server: server.URL}}
			class := &class{name: "dns", object: object, server: servers.New(k.calls, "dns"),
				most: 1}
			if strings.HasPrefix(c.sentence, "several") {
				class.most = batchSize
			}
			class.server.Use(object, "1")
			waiting := workqueue.NewTypedDelayingQueue[slotKey]()
			defer waiting.ShutDown()
			m, unlock := k.model.Lock()
			m.classes["dns"], m.queues["dns"] = class, waiting
			var jobs []job
			for _, do := range c.steps {
				s := m.slot(slotOf(www))
				if do.upsert != nil {
					do.upsert.owner = load(&v1alpha1.DNSRecord{})
				}
				jobs = append(jobs, job{s, do})
			}
			unlock()
			if class.most == 1 {
				for _, j := range jobs {
					k.deliver(k.ctx, class, []job{j})
				}
			} else {
				k.deliver(k.ctx, class, jobs)
			}
			if !slices.Equal(sent, c.sent) {
				t.Errorf("the server is asked %q, want %q", sent, c.sent)
			}
			for _, j := range jobs {
				if j.slot.failure() != nil || j.slot.courseSoFar().upserts.Used+j.slot.courseSoFar().removals.Used > 0 {
					t.Errorf("it counts as failed: %+v, %+v", j.slot.courseSoFar().upserts, j.slot.courseSoFar().removals)
				}
			}
		})
	}
}

func TestBatchesThatFailAsAWholeAreMadeSmaller(t *testing.T) {
	timedOut := fmt.Errorf("%w: %w", dnshook.ErrUnreachable, context.DeadlineExceeded)
	for _, c := range []struct {
		sentence string
		errs     []error
		want     int
	}{
		{"what works is as large as it was", []error{nil}, batchSize},
		{"one that takes too long", []error{timedOut}, batchSize / 4},
		{"and again", []error{timedOut, timedOut}, batchSize / 16},
		{"until there is one", []error{timedOut, timedOut, timedOut, timedOut, timedOut}, 1},
		{"a server that fails", []error{&dnshook.Error{Status: 500}}, batchSize / 4},
		{"a server that asks to wait", []error{&dnshook.Error{Status: 503, RetryAfter: 1e9}}, batchSize},
		{"a server that is not there", []error{dnshook.ErrUnreachable}, batchSize},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			is := &class{most: batchSize}
			k := New(Config{Clock: clocktesting.NewFakeClock(time.Unix(0, 0)), Log: slog.New(slog.DiscardHandler),
				Metrics: controller.NewMetrics(), Numbers: NewNumbers()})
			k.shutDown()
			m, unlock := k.model.Lock()
			m.classes["dns"] = is
			unlock()
			for _, err := range c.errs {
				k.shrink(is, k.most("dns"), err)
			}
			if got := k.most("dns"); got != c.want {
				t.Errorf("%d records go out at once, want %d", got, c.want)
			}
		})
	}
}

// TestARecordThatHasMovedOnWhileItWasSent has what came after it be removed again before the server answers.
func TestARecordThatHasMovedOnWhileItWasSent(t *testing.T) {
	first := v1alpha1.Applied{Class: "dns", Type: "A", Domain: "example.com", Subdomain: "www"}
	k := New(Config{Clock: clocktesting.NewFakeClock(time.Unix(0, 0)), Log: slog.New(slog.DiscardHandler),
		Metrics: controller.NewMetrics(), Numbers: NewNumbers()})
	k.ctx = t.Context()
	k.shutDown()
	r := load(&v1alpha1.DNSRecord{Status: v1alpha1.DNSRecordStatus{State: v1alpha1.StateUpdated,
		Former: []v1alpha1.Applied{first}}})
	m, unlock := k.model.Lock()
	m.records[r.id] = r
	m.reindex(r)
	s := m.slot(slotOf(first))
	unlock()
	sent := &want{owner: r, place: first, hash: "first", all: []*record{r}}
	k.done(job{s, step{upsert: sent}}, nil)
	if len(r.evidence()) != 1 || !samePlace(r.former[0], first) {
		t.Errorf("the server may have of it %v", r.evidence())
	}
}
