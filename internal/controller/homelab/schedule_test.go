package homelab_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/homelab"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
)

// waiting is how many timers of a fake clock there are while one record waits: each of the three queues has one beside
// its ticker.
const waiting = 6

// early is how long before an attempt its witness goes. Its status may wait for a moment (2 s), and the timer of that
// counts too.
const early = 3 * time.Second

// A schedule is a record called it, a server that turns it away, and a clock that nobody but the test moves.
type schedule struct {
	*world
	hook    *hook
	clock   *clocktesting.FakeClock
	answers []answer // to the attempts in turn; the last one to all that follow
	pauses  []int    // which of the waits are pauses of the whole class: nobody else goes then
}

type answer = func(http.ResponseWriter, *http.Request) bool

func newSchedule(t *testing.T, answers ...func(*clocktesting.FakeClock) answer) *schedule {
	t.Helper()
	s := &schedule{hook: newHook(t, ""), clock: clocktesting.NewFakeClock(time.Date(2025, 12, 30, 10, 0, 0, 0, time.UTC))}
	s.hook.now = s.clock.Now
	for _, a := range answers {
		s.answers = append(s.answers, a(s.clock))
	}
	s.world = newWorld(t, func(c *homelab.Config) {
		c.Clock, c.HealthInterval = s.clock, servers.DefaultHealthInterval
		c.Rand = func() float64 { return 0 } // the first checks are not spread
		c.Retry = servers.Retry{
			BaseDelay: servers.DefaultBaseDelay, MaxDelay: servers.DefaultMaxDelay, MaxAttempts: servers.DefaultMaxAttempts,
			Slow: servers.DefaultHealthInterval,
		}
	})
	s.class("dns", s.hook.URL)
	s.classSays("dns", "Healthy True ServerHealthy")
	return s
}

func isAttempt(request string) bool {
	return strings.Contains(request, `"subdomain":"it"`) || strings.HasSuffix(request, "/example.com/it")
}

// refuse has the attempts answered as the schedule says, and all else as it should be.
func (s *schedule) refuse() {
	s.hook.asked()
	s.hook.answers(func(w http.ResponseWriter, r *http.Request) bool {
		if n := len(s.hook.requests); r.URL.Path == "/health" || !isAttempt(s.hook.requests[n-1]) {
			return false
		}
		return s.answers[min(len(s.instants()), len(s.answers))-1](w, r)
	})
}

// instants are those of the attempts. The hook's mutex is held.
func (s *schedule) instants() (out []time.Time) {
	for i, request := range s.hook.requests {
		if isAttempt(request) {
			out = append(out, s.hook.times[i])
		}
	}
	return out
}

// attempted waits until there were n attempts, the operator has heard what came of each, and the next one is waited
// for.
func (s *schedule) attempted(n int) {
	s.t.Helper()
	s.eventually("the attempts", func() string {
		s.hook.mu.Lock()
		defer s.hook.mu.Unlock()
		if got, heard, timers := len(s.instants()), s.heard(), s.clock.Waiters(); got < n || heard < n || timers != waiting {
			return fmt.Sprintf("there are %d of %d, %d are heard of, and there are %d timers", got, n, heard, timers)
		}
		return ""
	})
}

// heard is of how many calls the operator knows that they have failed, beside those for health.
func (s *schedule) heard() (failed int) {
	s.t.Helper()
	registry := prometheus.NewRegistry()
	if err := s.numbers.Register(registry); err != nil {
		s.t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "zonefold_dnshook_requests_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["operation"] != "health" && labels["result"] != "Success" {
				failed += int(m.GetCounter().GetValue())
			}
		}
	}
	return failed
}

// witness has another record of the class go the whole way: what was due goes before it.
func (s *schedule) witness(n int) {
	s.t.Helper()
	s.record("witness", "dns", fmt.Sprintf("A witness example.com 192.0.2.%d", n+1))
	s.holdsLine(s.hook, fmt.Sprintf("A witness.example.com 300 192.0.2.%d", n+1))
}

// waits moves the clock from attempt to attempt, and compares what is between them.
func (s *schedule) waits(want ...time.Duration) {
	s.t.Helper()
	for i, wait := range want {
		s.attempted(i + 1)
		s.clock.Step(wait - early)
		if !slices.Contains(s.pauses, i) {
			s.witness(i)
		}
		s.clock.Step(early - time.Millisecond)
		s.attempted(i + 1) // also what came too early: it is waited for again by then
		s.clock.Step(time.Millisecond)
	}
	s.attempted(len(want) + 1)
	s.hook.mu.Lock()
	defer s.hook.mu.Unlock()
	var got []time.Duration
	for i, at := range s.instants()[1:] {
		got = append(got, at.Sub(s.instants()[i]))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("it waits %v, want %v", got, want)
	}
}

// always is an answer that does not look at the clock.
func always(a answer) func(*clocktesting.FakeClock) answer {
	return func(*clocktesting.FakeClock) answer { return a }
}

// in90s says when to come back as a date (RFC 9110 §10.2.3).
func in90s(c *clocktesting.FakeClock) answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		return status(503, "", "Retry-After", c.Now().Add(90*time.Second).Format(http.TimeFormat))(w, r)
	}
}

func hangUp(w http.ResponseWriter, _ *http.Request) bool {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
	return true
}

func TestAttemptsAreMadeAtTheInstantsOfTheDocument(t *testing.T) {
	const s, m = time.Second, time.Minute
	documented := []time.Duration{5 * s, 10 * s, 20 * s, 40 * s, 60 * s, 10 * m, 10 * m}
	for _, c := range []struct {
		sentence string
		answers  []func(*clocktesting.FakeClock) answer
		waits    []time.Duration
		says     string
		words    string
		pauses   []int
	}{
		{"a server that fails", []func(*clocktesting.FakeClock) answer{always(status(500, ""))}, documented,
			"Error False ServerError", "(5/5)", nil},
		{"a server that hangs up", []func(*clocktesting.FakeClock) answer{always(hangUp)}, documented,
			"Error False ServerUnreachable", "(5/5)", nil},
		{"a signature that is not taken", []func(*clocktesting.FakeClock) answer{always(status(401, ""))}, documented,
			"Error False AuthenticationFailed", "(5/5)", nil},
		{"a record that is not taken", []func(*clocktesting.FakeClock) answer{always(status(400, ""))},
			[]time.Duration{10 * m, 10 * m}, "Error False ValidationFailed", "every 10m0s", nil},
		{
			"a server that says when to come back, which costs no retry",
			[]func(*clocktesting.FakeClock) answer{always(status(503, "", "Retry-After", "7")), always(status(500, "")), in90s,
				always(status(429, "")), always(status(500, ""))},
			[]time.Duration{7 * s, 5 * s, 90 * s, 60 * s, 10 * s, 20 * s}, "Error False ServerError", "retry 4/5",
			[]int{0, 2, 3},
		},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			w := newSchedule(t, c.answers...)
			w.pauses = c.pauses
			w.refuse()
			w.record("it", "dns", "A it example.com 192.0.2.1")
			w.waits(c.waits...)
			w.until("it", c.says)
			w.message("it", c.words)
		})
	}
	t.Run("a deletion that fails", func(t *testing.T) {
		w := newSchedule(t, always(status(500, "")))
		w.record("it", "dns", "A it example.com 192.0.2.1")
		w.until("it", "Created True RecordCreated")
		w.refuse()
		w.delete("it")
		w.waits(documented...)
		w.hook.answers(nil)
		w.clock.Step(10 * m)
		w.until("it", "gone")
	})
}

func TestHealthIsAskedAtTheDocumentsInterval(t *testing.T) {
	w := newSchedule(t)
	asked := func() (int, int) {
		w.hook.mu.Lock()
		defer w.hook.mu.Unlock()
		return w.hook.healths, w.clock.Waiters()
	}
	for i := range 3 {
		const interval = servers.DefaultHealthInterval
		w.eventually("the questions", func() string {
			if n, timers := asked(); n < i+1 || timers < waiting-2 { // there is nothing that waits for a server
				return fmt.Sprintf("there are %d, and %d timers", n, timers)
			}
			return ""
		})
		w.clock.Step(interval - time.Millisecond)
		w.witness(i)
		if n, _ := asked(); n != i+1 {
			t.Fatalf("a millisecond too early there are %d questions, want %d", n, i+1)
		}
		w.clock.Step(time.Millisecond)
	}
}

// TestAClassThatChangesWaitsForItsServer has a change that says nothing of a server's health, and a server that takes
// long to tell of it.
func TestAClassThatChangesWaitsForItsServer(t *testing.T) {
	w := newSchedule(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	w.hook.answers(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/health" {
			asked <- struct{}{}
			<-answer
		}
		return false
	})
	before := w.clock.Now()
	w.class("dns", w.hook.URL, "defaultTTL: 60")
	<-asked
	w.clock.Step(2 * time.Second)
	w.classSays("dns", "Unknown Unknown Pending")
	var c v1alpha1.DNSClass
	if err := w.live.Get(w.ctx, client.ObjectKey{Name: w.ns + "-dns"}, &c); err != nil {
		t.Fatal(err)
	}
	if got := c.Status.Conditions[0].LastTransitionTime.Sub(before); got != 2*time.Second {
		t.Errorf("it says that nothing is known %s after the change", got)
	}
	if h := c.Status.Health; !c.Status.LastHealthCheck.Equal(&metav1.Time{Time: before}) ||
		!h.LastCheck.Equal(c.Status.LastHealthCheck) {
		t.Errorf("it says that the server was asked at %v, and %v", c.Status.LastHealthCheck, h.LastCheck)
	}
	answer <- struct{}{}
	w.classSays("dns", "Healthy True ServerHealthy")
}

// TestAServerThatAsksForAPauseHasOne has many records, and a server that turns away whoever comes too early.
func TestAServerThatAsksForAPauseHasOne(t *testing.T) {
	const records, workers = 300, 8
	w := newSchedule(t)
	pausing := true
	w.hook.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return pausing && r.URL.Path != "/health" && status(429, "", "Retry-After", "30")(rw, r)
	})
	sent := func() int {
		w.hook.mu.Lock()
		defer w.hook.mu.Unlock()
		return len(w.hook.requests)
	}
	for i := range records {
		w.record(fmt.Sprint("r", i), "dns", fmt.Sprintf("A r%d example.com 192.0.2.1", i))
	}
	w.eventually("the first ones are turned away", func() string {
		if n := sent(); n == 0 || w.clock.Waiters() != waiting {
			return fmt.Sprintf("%d were sent, and there are %d timers", n, w.clock.Waiters())
		}
		return ""
	})
	first := sent()
	if first > workers {
		t.Errorf("%d are sent before anybody hears of the pause", first)
	}
	for n := 1; n <= 3; n++ {
		w.clock.Step(29 * time.Second)
		if got := sent(); got != first+n-1 {
			t.Errorf("in pause %d there were %d requests, want %d", n, got, first+n-1)
		}
		w.clock.Step(time.Second)
		w.eventually("one that goes alone", func() string {
			if got := sent(); got < first+n || w.clock.Waiters() != waiting {
				return fmt.Sprintf("there were %d requests, and there are %d timers", got, w.clock.Waiters())
			}
			return ""
		})
		if got := sent(); got != first+n {
			t.Errorf("after pause %d there were %d requests, want %d", n, got, first+n)
		}
	}
	w.hook.mu.Lock()
	pausing = false
	w.hook.mu.Unlock()
	w.clock.Step(30 * time.Second)
	w.eventually("all of them", func() string {
		if n := strings.Count(w.hook.has(), "\n") + 1; n != records {
			return fmt.Sprintf("it has %d records, want %d", n, records)
		}
		return ""
	})
}

func TestRecordsSayThatTheyWaitForAPause(t *testing.T) {
	h := newHook(t, "")
	h.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.URL.Path != "/health" && status(429, "", "Retry-After", "60")(rw, r)
	})
	w := newWorld(t, slowly)
	w.class("dns", h.URL)
	w.record("first", "dns", "A first example.com 192.0.2.1")
	w.message("first", "The operator tries again in 1m0s, as the server asks.")
	w.record("late", "dns", "A late example.com 192.0.2.1")
	w.message("late", "has asked for a pause")
	w.record("gone", "dns", "A gone example.com 192.0.2.1")
	w.message("gone", "has asked for a pause")
	w.annotate("gone", v1alpha1.DeletionPolicyAnnotation, v1alpha1.DeletionPolicyOrphan)
	w.delete("gone")
	w.until("gone", "gone") // what needs no server does not wait for it
	if n := len(h.asked()); n != 1 {
		t.Errorf("the server is sent %d requests in its pause", n)
	}
	h.answers(nil)
	w.class("dns", h.URL, "timeoutSeconds: 20") // whoever changes the class need not wait
	w.until("late", "Created True RecordCreated")
}

func TestARateLimitIsKept(t *testing.T) {
	w := newSchedule(t)
	w.class("dns", w.hook.URL, "rateLimit: {requests: 2, seconds: 10}")
	w.hook.asked()
	for i := range 4 {
		w.record(fmt.Sprint("r", i), "dns", fmt.Sprintf("A r%d example.com 192.0.2.1", i))
	}
	for n := range 4 {
		w.eventually("the requests", func() string {
			w.hook.mu.Lock()
			defer w.hook.mu.Unlock()
			if got := len(w.hook.requests); got != n+1 {
				return fmt.Sprintf("there are %d, want %d", got, n+1)
			}
			return ""
		})
		w.clock.Step(5 * time.Second)
	}
	w.hook.mu.Lock()
	defer w.hook.mu.Unlock()
	for i, at := range w.hook.times[1:] {
		if d := at.Sub(w.hook.times[i]); d < 5*time.Second {
			t.Errorf("request %d comes %s after the one before", i+1, d)
		}
	}
}

// TestAnUnhealthyServerIsAskedMoreOften has the records of a server that is back go as soon as it is.
func TestAnUnhealthyServerIsAskedMoreOften(t *testing.T) {
	w := newSchedule(t)
	w.hook.answers(hangUp)
	w.clock.Step(time.Minute) // it was healthy a while ago
	w.record("it", "dns", "A it example.com 192.0.2.1")
	w.until("it", "Error False ServerUnreachable")
	w.classSays("dns", "Unhealthy False ServerUnreachable")
	w.hook.answers(nil)
	w.clock.Step(servers.DefaultBaseDelay)
	w.until("it", "Created True RecordCreated")
	w.classSays("dns", "Healthy True ServerHealthy")
}

// TestAServerThatTakesRecordsAndIsNeverHealthy has what failed be tried again when another record was taken.
func TestAServerThatTakesRecordsAndIsNeverHealthy(t *testing.T) {
	w := newSchedule(t)
	down := true
	w.hook.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return (down || r.URL.Path == "/health") && status(503, "")(rw, r)
	})
	w.record("it", "dns", "A it example.com 192.0.2.1")
	w.until("it", "Error False ServerError")
	for range 5 {
		w.clock.Step(servers.DefaultMaxDelay)
		w.eventually("the next attempt", func() string {
			if n := w.clock.Waiters(); n != waiting {
				return fmt.Sprintf("there are %d timers", n)
			}
			return ""
		})
	}
	w.message("it", "All retries failed")
	w.classSays("dns", "Unhealthy False ServerError")
	w.hook.mu.Lock()
	down = false
	w.hook.mu.Unlock()
	w.witness(1)
	w.until("it", "Created True RecordCreated")
}
