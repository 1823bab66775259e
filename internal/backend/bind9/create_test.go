package bind9

import (
	"errors"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestNobodySeesAPartOfANewZone makes zones while a client asks for them all the time.
func TestNobodySeesAPartOfANewZone(t *testing.T) {
	for _, c := range []struct {
		name  string
		hosts int
		bad   bool
	}{
		{"a zone that one call makes", 5_000, false},
		{"a zone that takes many messages", 100_000, false},
		{"a zone of which BIND refuses a record", 2_000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := startPod(t, named.Primary, true)
			d := newDesk(t, "example.org.", p.client(newGrant()))
			w := d.witness(p.address(), c.hosts)
			until(t, "heard a refusal", func() bool { return w.silence.Load() > 0 || t.Failed() })
			var bad []rr.Set
			if c.bad {
				bad = append(bad, rr.NewSet(rr.Key{Name: d.name("bad"), Type: rr.TypeMX}, 300, "10 under_score.example.net."))
			}
			report := d.delivered(d.content(c.hosts, bad...))["0"]
			until(t, "was answered", func() bool { return w.answers.Load() > 100 || t.Failed() })
			w.stop()
			if len(report.Refused) != len(bad) {
				t.Errorf("%d sets are refused, want %d: %v", len(report.Refused), len(bad), report.Refused)
			}
			soa, sets, ok := p.truth(d.zone)
			if want := c.hosts + 3; !ok || sets.Len() != want || soa.Serial != report.Serial {
				t.Errorf("the zone has %d sets under the serial %d, want %d under %d", sets.Len(), soa.Serial, want, report.Serial)
			}
			ns, _ := sets.Get(rr.Key{Name: d.zone, Type: rr.TypeNS})
			if len(ns.Data) != 2 {
				t.Errorf("the name servers are %q", ns.Data)
			}
			t.Logf("%d times refused, then %d right answers", w.silence.Load(), w.answers.Load())
		})
	}
}

// TestAHalfMadeZoneIsNone leaves a zone before it is complete.
func TestAHalfMadeZoneIsNone(t *testing.T) {
	t.Parallel()
	p := startPod(t, named.Primary, false)
	first := p.client(newGrant())
	zone := parse(t, "example.org.")
	soa := rr.SOA{MName: parse(t, "ns.example.net."), RName: parse(t, "admin.example.net."), Serial: 9, Refresh: 1,
		Retry: 1, Expire: 1, Minimum: 1, TTL: 60}
	set := rr.NewSet(rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}, 60, "192.0.2.1")
	begin := backend.Batch{Create: true, SOA: &soa, Changes: []plan.Change{{Key: set.Key(), Want: set}}}
	if _, err := first.Apply(t.Context(), zone, begin); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := p.truth(zone); ok {
		t.Error("the zone can be transferred")
	}
	if r, err := first.sidecar.Ready(t.Context()); err != nil || r.Ready {
		t.Errorf("the pod is ready: %+v, %v", r, err)
	}
	if changed, err := first.Configure(t.Context(), zone); changed || err != nil {
		t.Errorf("configuring it: %t, %v", changed, err)
	}
	second := p.client(newGrant())
	for _, ask := range []backend.Ask{{}, {Keys: []rr.Key{}}, {Keys: []rr.Key{set.Key()}}} {
		if found, err := second.Read(t.Context(), zone, ask); !errors.Is(err, backend.ErrNoZone) {
			t.Errorf("another client reads %v, %v", found, err)
		}
	}
	soa.Serial = 10
	whole := begin
	whole.Last = true
	if _, err := second.Apply(t.Context(), zone, whole); err != nil {
		t.Fatal(err)
	}
	if found, sets, ok := p.truth(zone); !ok || found.Serial != 10 || sets.Len() != 2 {
		t.Errorf("the zone has serial %d and %d sets", found.Serial, sets.Len())
	}
	if _, err := first.Apply(t.Context(), zone, begin); !errors.Is(err, backend.ErrConflict) {
		t.Errorf("making a zone that is complete: %v", err)
	}
}

// TestAHalfMadeZoneIsRemoved withdraws a zone that somebody began and left: the pod would never be ready.
func TestAHalfMadeZoneIsRemoved(t *testing.T) {
	t.Parallel()
	p := startPod(t, named.Primary, false)
	c := p.client(newGrant())
	zone := parse(t, "example.org.")
	soa := rr.SOA{MName: parse(t, "ns.example.net."), RName: parse(t, "admin.example.net."), Serial: 9, Refresh: 1,
		Retry: 1, Expire: 1, Minimum: 1, TTL: 60}
	if _, err := c.Apply(t.Context(), zone, backend.Batch{Create: true, SOA: &soa}); err != nil {
		t.Fatal(err)
	}
	after := p.client(newGrant())
	d := newDesk(t, "example.org.", after)
	if !d.engine.Withdraw(backend.TargetKey{Server: after.Server(), Zone: zone}, "0") {
		t.Fatal("nothing is attached")
	}
	until(t, "withdrew", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.last["0"].Withdrawn
	})
	if zones, err := after.Zones(t.Context()); err != nil || len(zones) > 0 {
		t.Errorf("there still are the zones %v (%v)", zones, err)
	}
}

// TestNameServersThatStandIn makes a zone without any, and gives it some later.
func TestNameServersThatStandIn(t *testing.T) {
	t.Parallel()
	p := startPod(t, named.Primary, false)
	d := newDesk(t, "example.org.", p.client(newGrant()))
	content := d.content(1)
	apex := rr.Key{Name: d.zone, Type: rr.TypeNS}
	txn := content.Sets.Txn()
	txn.Delete(apex)
	bare := engine.Content{Sets: txn.Sets(), SOA: content.SOA, Hash: "bare"}
	d.delivered(bare)
	for _, step := range []struct {
		content engine.Content
		servers int
	}{{bare, 1}, {content, 2}} {
		d.delivered(step.content)
		_, sets, _ := p.truth(d.zone)
		if ns, _ := sets.Get(apex); len(ns.Data) != step.servers {
			t.Errorf("the name servers are %q, want %d", ns.Data, step.servers)
		}
	}
}

// TestMailServersWithoutAnAddress come with a new zone and with an update: a server made anew must not have what
// another refuses.
func TestMailServersWithoutAnAddress(t *testing.T) {
	t.Parallel()
	p := startPod(t, named.Primary, false)
	d := newDesk(t, "example.org.", p.client(newGrant()))
	more := []rr.Set{rr.NewSet(rr.Key{Name: d.name("alias"), Type: rr.TypeCNAME}, 60, "www.example.net.")}
	for _, owner := range []string{"new", "later"} {
		more = append(more, rr.NewSet(rr.Key{Name: d.name(owner), Type: rr.TypeMX}, 60, "10 nowhere.example.org.",
			"20 alias.example.org."))
		if report := d.delivered(d.content(1, more...))["0"]; len(report.Refused) > 0 {
			t.Errorf("the server refuses %v", report.Refused)
		}
		if _, sets, _ := p.truth(d.zone); sets.Len() != 4+len(more) {
			t.Errorf("the server has %d sets, want %d", sets.Len(), 4+len(more))
		}
	}
}

// TestZonesStayOverARestart kills named after an update, and starts it with what is on its volume.
func TestZonesStayOverARestart(t *testing.T) {
	t.Parallel()
	p := startPod(t, named.Primary, false)
	c := p.client(newGrant())
	d := newDesk(t, "example.org.", c)
	d.delivered(d.content(100))
	report := d.delivered(d.content(101))["0"]
	p.named.Kill()
	p.stopSidecar()
	p.start()
	soa, sets, ok := p.truth(d.zone)
	if !ok || soa.Serial != report.Serial || sets.Len() != 104 {
		t.Errorf("after the restart the zone has serial %d and %d sets, want %d and 104", soa.Serial, sets.Len(),
			report.Serial)
	}
	d.delivered(d.content(102))
	for range 2 {
		if _, err := c.Apply(t.Context(), d.zone, backend.Batch{Remove: true}); err != nil {
			t.Errorf("removing: %v", err)
		}
	}
	if _, err := c.Read(t.Context(), d.zone, backend.Ask{}); !errors.Is(err, backend.ErrNoZone) {
		t.Errorf("a zone that was removed is read as %v", err)
	}
}

// TestAPodEndsWhileAZoneIsFilled kills named and the sidecar then, twice, with what they have on their volume.
func TestAPodEndsWhileAZoneIsFilled(t *testing.T) {
	t.Parallel()
	p := startPod(t, named.Primary, false)
	c := p.client(newGrant())
	const hosts = 40_000
	d := newDesk(t, "example.org.", c)
	w := d.witness(p.address(), hosts)
	content := d.content(hosts)
	d.feed.Publish(content, nil)
	for range 2 {
		until(t, "began to fill the zone", func() bool { return c.site(d.zone).held })
		p.named.Kill()
		p.stopSidecar()
		p.start()
	}
	report := d.delivered(content)["0"]
	until(t, "was answered", func() bool { return w.answers.Load() > 100 || t.Failed() })
	w.stop()
	if soa, sets, ok := p.truth(d.zone); !ok || sets.Len() != hosts+3 || soa.Serial != report.Serial {
		t.Errorf("the zone has %d sets under the serial %d, want %d under %d", sets.Len(), soa.Serial, hosts+3, report.Serial)
	}
}

// TestTwoPrimaries has both hold the same under the same serial, also after one was away.
func TestTwoPrimaries(t *testing.T) {
	t.Parallel()
	one, two := startPod(t, named.Primary, false), startPod(t, named.Primary, false)
	d := newDesk(t, "example.org.", one.client(newGrant()), two.client(newGrant()))
	same := func(hosts int) {
		t.Helper()
		d.delivered(d.content(hosts))
		soa, sets, _ := one.truth(d.zone)
		other, others, _ := two.truth(d.zone)
		if soa != other || sets.Len() != hosts+3 || others.Len() != hosts+3 {
			t.Errorf("the primaries have %d sets under %d, and %d under %d; want %d", sets.Len(), soa.Serial, others.Len(),
				other.Serial, hosts+3)
		}
	}
	same(3)
	same(4)
	two.named.Kill()
	two.stopSidecar()
	before, _, _ := one.truth(d.zone)
	d.feed.Publish(d.content(5), nil)
	until(t, "changed the one that is there", func() bool {
		soa, _, _ := one.truth(d.zone)
		return soa.Serial != before.Serial
	})
	two.start()
	same(5)
	same(6)
}
