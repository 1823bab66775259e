package gardener_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller/gardener"
)

// unsettled has two records ask for one set that "two" has, and stops the operator: the next one has to find that out.
// The questions for "two" are told from those for "one" by how it spells its zone.
func (w *world) unsettled(s *site) {
	w.t.Helper()
	w.secret("creds", s.secret)
	w.record("one", s.kind+" creds A api.example.org 192.0.2.1")
	w.until("one", "Create Succeeded")
	w.record("two", s.kind+" creds A api.example.org 192.0.2.2", "zone: example.org")
	w.until("two", "Create Succeeded")
	w.holds(s, "A api.example.org", "120 192.0.2.2")
	w.stop()
	w.took()
}

// troubled has the account not answer questions for "two", as many as there are.
func (w *world) troubled(times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = func(question string) error {
		if question != "zone example.org" || times == 0 {
			return nil
		}
		times--
		return &backend.Error{Class: backend.ErrUnavailable, Words: "a moment of trouble"}
	}
}

// always is more often than any test asks.
const always = 1 << 30

// TestZonesWaitForASearchThatFails has a start not be over before it is known where the sets are.
func TestZonesWaitForASearchThatFails(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	var placed atomic.Int32
	w := newWorld(t, func(c *gardener.Config) { c.Shared, c.Placed = true, func() { placed.Add(1) } })
	w.unsettled(s)
	w.troubled(always)
	placed.Store(0)
	w.start()
	w.eventually("the second question", func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		if n := strings.Count(strings.Join(w.asked, "\n")+"\n", "zone example.org\n"); n < 2 {
			return fmt.Sprintf("it was asked %d times", n)
		}
		return ""
	})
	if placed.Load() != 0 {
		t.Error("Zones are delivered although it is not known where the set of two is")
	}
	w.troubled(0)
	w.eventually("the start", func() string {
		if n := placed.Load(); n != 1 {
			return fmt.Sprintf("Zones were let go %d times", n)
		}
		return ""
	})
}

// TestARemovalSaysForWhomItWaits has an account not answer for long: who waits for it says so, goes on without it some
// time later, and takes nothing away for good.
func TestARemovalSaysForWhomItWaits(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	var ahead atomic.Int64
	w := newWorld(t, func(c *gardener.Config) {
		c.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	w.unsettled(s)
	w.troubled(always)
	w.start()
	w.delete("one")
	w.eventually("one", func() string {
		o := w.get("one")
		if o == nil || o.Status.LastOperation == nil {
			return "nothing is said"
		}
		l := o.Status.LastOperation
		for _, words := range []string{"the DNSRecord " + w.ns + "/two, which asks for the same set", "a moment of trouble",
			"correct the credentials of that DNSRecord, or delete it"} {
			if l.Type != v1alpha1.TypeDelete || l.State != v1alpha1.StateProcessing || !strings.Contains(l.Description, words) {
				return fmt.Sprintf("the operation is %+v, without %q", l, words)
			}
		}
		return ""
	})
	w.holds(s, "A api.example.org", "120 192.0.2.2")
	ahead.Store(int64(time.Hour))
	w.until("one", "gone")
	w.holds(s, "A api.example.org", "")
	w.troubled(0)
	w.holds(s, "A api.example.org", "120 192.0.2.2")
}

// TestANewSecretHasASearchTriedAgain has credentials be wrong when they are first looked at.
func TestANewSecretHasASearchTriedAgain(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	var placed atomic.Int32
	w := newWorld(t, func(c *gardener.Config) { c.Shared, c.Placed = true, func() { placed.Add(1) } })
	w.unsettled(s)
	w.secret("creds", wrong(s))
	placed.Store(0)
	w.start()
	w.eventually("the start", func() string {
		if placed.Load() == 0 {
			return "it is not over, although no other try can help"
		}
		return ""
	})
	w.record("probe", "powerdns creds A probe.example.org 192.0.2.9")
	w.unauthorised("probe", "Create")
	w.secret("creds", s.secret)
	w.until("probe", "Create Succeeded") // the Secret has been seen
	w.delete("one")
	w.until("one", "gone")
	w.holds(s, "A api.example.org", "120 192.0.2.2")
}

// TestANewSecretHasASetSentAgain has a set be overwritten while nobody knows where it is, as by a Zone.
func TestANewSecretHasASetSentAgain(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	var placed atomic.Int32
	w := newWorld(t, func(c *gardener.Config) { c.Shared, c.Placed = true, func() { placed.Add(1) } })
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	w.stop()
	w.secret("creds", wrong(s))
	placed.Store(0)
	w.start()
	w.eventually("the start", func() string {
		if placed.Load() == 0 {
			return "it is not over, although no other try can help"
		}
		return ""
	})
	stranger(t, s, "api.example.org", "203.0.113.1")
	w.secret("creds", s.secret)
	w.holds(s, "A api.example.org", "120 192.0.2.1")
}
