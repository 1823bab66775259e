package bind9

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// accepts reports whether named signs its answer to what is signed with a key.
func (p *testPod) accepts(key string) bool {
	m := new(dns.Msg)
	m.SetQuestion(".", dns.TypeSOA)
	m.SetTsig(key+".", dns.HmacSHA256, 300, time.Now().Unix())
	c := dns.Client{Net: "tcp", TsigSecret: map[string]string{key + ".": testKey(key).Secret}}
	answer, _, err := c.Exchange(m, p.address().String())
	return err == nil && answer.IsTsig() != nil && answer.IsTsig().Error == dns.RcodeSuccess
}

// A rotation leads a pod and a client from key to key, as a Ring does it, with changes on their way in each state.
type rotation struct {
	*testPod
	rounds atomic.Int64
}

// some waits for changes that begin after now.
func (r *rotation) some() {
	enough := r.rounds.Load() + 5
	until(r, "went on", func() bool { return r.rounds.Load() >= enough || r.Failed() })
}

func (r *rotation) rotate(g *grant, purpose named.Purpose, from, to string) {
	r.Helper()
	r.publish(purpose, testKey(from), testKey(to))
	until(r, "accepted "+to, func() bool { return r.accepts(to) })
	r.some()
	g.set(func() {
		if purpose == named.ForOperator {
			g.update = testKey(to)
		} else {
			g.transfer = testKey(to)
		}
	})
	r.publish(purpose, testKey(to), testKey(from))
	r.some()
	r.publish(purpose, testKey(to))
	until(r, "forgot "+from, func() bool { return !r.accepts(from) })
	r.some()
}

// TestKeysRotate replaces both keys twice while changes go out one after the other. Nothing fails, and nothing is lost.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	p, access := startPod(t, named.Primary, false), newGrant()
	c := p.client(access)
	zone := parse(t, "example.org.")
	p.make(c, zone)
	r, done := &rotation{testPod: p}, make(chan struct{})
	go func() {
		defer close(done)
		for _, next := range []struct{ from, to string }{{"", "-2"}, {"-2", "-3"}} {
			r.rotate(access, named.ForOperator, "bindy-operator"+next.from, "bindy-operator"+next.to)
			r.rotate(access, named.ForTransfer, "bindy-transfer"+next.from, "bindy-transfer"+next.to)
		}
	}()
	found, err := c.Read(t.Context(), zone, backend.Ask{})
	rounds := 0
	for rotating := true; rotating && err == nil; rounds++ {
		select {
		case <-done:
			rotating = false
		default:
		}
		next := found.SOA
		next.Serial++
		set := rr.NewSet(rr.Key{Name: parse(t, fmt.Sprintf("n%d.example.org.", rounds)), Type: rr.TypeA}, 300, "192.0.2.1")
		batch := backend.Batch{Changes: []plan.Change{{Key: set.Key(), Want: set}}, SOA: &next, Expect: &found.SOA,
			Last: true}
		if _, err = c.Apply(t.Context(), zone, batch); err == nil {
			found, err = c.Read(t.Context(), zone, backend.Ask{Known: &backend.Known{SOA: found.SOA, Sets: found.Sets}})
		}
		if _, zonesErr := c.Zones(t.Context()); zonesErr != nil {
			t.Errorf("round %d, at the sidecar: %v", rounds, zonesErr)
		}
		r.rounds.Add(1)
	}
	if err != nil {
		t.Errorf("round %d: %v", rounds, err)
	}
	<-done
	if n := found.Sets.Len(); n != rounds+1 {
		t.Errorf("after %d changes the zone has %d sets", rounds, n)
	}
	t.Logf("%d changes", rounds)
}

// TestKeysChangeWhileTheSidecarIsDown has named learn of them from the next one at once, and not when it looks again.
func TestKeysChangeWhileTheSidecarIsDown(t *testing.T) {
	t.Parallel()
	p := startPod(t, named.Primary, false)
	for purpose, next := range map[named.Purpose]string{named.ForOperator: "bindy-operator-2",
		named.ForTransfer: "bindy-transfer-2"} {
		p.stopSidecar()
		p.publish(purpose, testKey("bindy-"+string(purpose)), testKey(next))
		p.startSidecar()
		within(t, 15*time.Second, "accepted "+next, func() bool { return p.accepts(next) })
	}
}
