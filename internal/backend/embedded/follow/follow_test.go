package follow_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/backend/embedded/follow"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

const group = "main"

func mustName(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// internal is the key of the replicas, and secondary one of somebody else.
func internal(t testing.TB) embedded.Key {
	return embedded.Key{Name: mustName(t, "replicas."), Secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
}

func secondary(t testing.TB) embedded.Key {
	return embedded.Key{Name: mustName(t, "secondary."), Secret: "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE="}
}

// A hasty clock has pauses go by quickly.
type hasty struct{ backend.SystemClock }

func (hasty) AfterFunc(d time.Duration, f func()) backend.Timer { return time.AfterFunc(d/30, f) }

// A replica is one of several servers that are to be the same.
type replica struct {
	*embedded.Server
	t    testing.TB
	addr netip.AddrPort
	stop func() // ends following
}

func start(t testing.TB) *replica {
	t.Helper()
	key, outside := internal(t), secondary(t)
	s, err := embedded.Serve(t.Context(), embedded.Options{
		Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}, Closed: true, RateLimit: -1,
		Replicas: embedded.ReplicaOptions{Key: &key, Heartbeat: 200 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &replica{Server: s, t: t, addr: s.Addrs()[0], stop: func() {}}
	t.Cleanup(r.close)
	if err := s.SetPolicy(group, embedded.Policy{Transfer: []embedded.Rule{{Key: &outside}}, Catalog: mustName(t,
		"catalog.invalid.")}); err != nil {
		t.Fatal(err)
	}
	return r
}

// close stops the server at once, as if it were killed.
func (r *replica) close() {
	r.stop()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	_ = r.Close(now) // connections are cut off, that is the point; and it may be closed already
}

// lead makes the replica the leader.
func (r *replica) lead() {
	r.stop()
	r.Group(group).Complete()
	r.Open()
}

// follow has the replica follow whoever leader returns.
func (r *replica) follow(leader func() (netip.AddrPort, bool)) {
	r.t.Helper()
	r.followWith(internal(r.t), leader)
}

func (r *replica) followWith(key embedded.Key, leader func() (netip.AddrPort, bool)) {
	r.t.Helper()
	r.stop()
	f, err := follow.New(follow.Options{
		Server: r.Server, Key: key, Clock: hasty{}, Rand: rand.Float64,
		Log: slog.New(slog.NewTextHandler(r.t.Output(), nil)).With("follower", r.addr),
		Leader: func(context.Context) (netip.AddrPort, bool, error) {
			addr, known := leader()
			return addr, known, nil
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := f.Run(ctx); err != nil {
			r.t.Error(err)
		}
	})
	r.stop = func() { cancel(); running.Wait() }
}

// only is a leader that never changes.
func only(r *replica) func() (netip.AddrPort, bool) {
	return func() (netip.AddrPort, bool) { return r.addr, true }
}

func nobody() (netip.AddrPort, bool) { return netip.AddrPort{}, false }

// put is a change that makes a set.
func put(t testing.TB, name string, typ rr.Type, data ...string) plan.Change {
	t.Helper()
	key := rr.Key{Name: mustName(t, name), Type: typ}
	return plan.Change{Key: key, Want: rr.NewSet(key, 300, data...)}
}

// apply gives a zone of the leader a serial and changes.
func (r *replica) apply(zone string, serial uint32, changes ...plan.Change) {
	r.t.Helper()
	name := mustName(r.t, zone)
	soa := &rr.SOA{MName: mustName(r.t, "ns.example.net."), RName: name, Serial: serial, Refresh: 3600, Retry: 600,
		Expire: 86400, Minimum: 60, TTL: 300}
	_, err := r.Group(group).Apply(r.t.Context(), name,
		backend.Batch{SOA: soa, Changes: changes, Create: r.Catalogue().Zone(name) == nil})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *replica) remove(zone string) {
	r.t.Helper()
	if _, err := r.Group(group).Apply(r.t.Context(), mustName(r.t, zone), backend.Batch{Remove: true}); err != nil {
		r.t.Fatal(err)
	}
}

// ask asks for an address over UDP and shows what comes.
func (r *replica) ask(name string) string {
	r.t.Helper()
	c := dns.Client{Timeout: 10 * time.Second}
	m, _, err := c.Exchange(new(dns.Msg).SetQuestion(name, dns.TypeA), r.addr.String())
	switch {
	case err != nil:
		r.t.Fatal(err)
	case m.Rcode != dns.RcodeSuccess || len(m.Answer) == 0:
		return dns.RcodeToString[m.Rcode]
	}
	return m.Answer[0].(*dns.A).A.String()
}

// becomes fails unless a condition holds soon.
func becomes(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("it does not become true that %s", what)
		}
	}
}

// same reports whether a replica has just what another one has.
func (r *replica) same(o *replica) bool { return r.differs(o) == nil }

func (r *replica) differs(o *replica) error {
	ours, theirs := r.Copies(), o.Copies()
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d zones and %d", len(ours), len(theirs))
	}
	for m, copied := range ours {
		if copied != theirs[m] {
			return fmt.Errorf("%s: %v and %v", m.Zone, copied, theirs[m])
		}
		_, a, _ := r.Copy(m, nil)
		_, b, _ := o.Copy(m, nil)
		if a.Len() != b.Len() {
			return fmt.Errorf("%s has %d sets and %d", m.Zone, a.Len(), b.Len())
		}
		for set := range a.All() {
			if other, _ := b.Get(set.Key()); !other.Equal(set) {
				return fmt.Errorf("%s: %v and %v", m.Zone, set, other)
			}
		}
	}
	return nil
}

func TestAFollowerAnswersOnceItHasEverything(t *testing.T) {
	t.Parallel()
	leader, follower := start(t), start(t)
	leader.apply("example.org.", 1, put(t, "www.example.org.", rr.TypeA, "192.0.2.1"))
	follower.follow(only(leader))
	for _, r := range []*replica{leader, follower} {
		if got := r.ask("www.example.org."); got != "SERVFAIL" || r.Opened() {
			t.Errorf("it answers %s before it has everything", got)
		}
	}
	if _, err := pull(t, leader, "example.org.", nil); err == nil {
		t.Error("it can be transferred before it has everything")
	}
	leader.lead()
	becomes(t, "the follower is ready", follower.Opened)
	if got := follower.ask("www.example.org."); got != "192.0.2.1" {
		t.Errorf("the follower answers %s", got)
	}
	if err := follower.differs(leader); err != nil {
		t.Errorf("the follower is another than the leader: %v", err)
	}
}

func TestAFollowerOfNothingIsReady(t *testing.T) {
	t.Parallel()
	leader, follower := start(t), start(t)
	leader.lead()
	follower.follow(only(leader))
	becomes(t, "the follower is ready", follower.Opened)
}

func TestChangesAreFollowed(t *testing.T) {
	t.Parallel()
	leader, follower := start(t), start(t)
	leader.apply("example.org.", 1, put(t, "www.example.org.", rr.TypeA, "192.0.2.1"))
	leader.apply("example.net.", 1, put(t, "www.example.net.", rr.TypeA, "192.0.2.1"))
	leader.lead()
	follower.follow(only(leader))
	becomes(t, "the follower is ready", follower.Opened)
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"a set changes", func() {
			leader.apply("example.org.", 2, put(t, "www.example.org.", rr.TypeA, "192.0.2.2", "192.0.2.3"))
		}},
		{"a set goes and one comes", func() {
			gone := plan.Change{Key: rr.Key{Name: mustName(t, "www.example.org."), Type: rr.TypeA}}
			leader.apply("example.org.", 3, gone, put(t, "web.example.org.", rr.TypeCNAME, "www.example.net."))
		}},
		{"only the SOA changes", func() { leader.apply("example.org.", 4) }},
		{"the zone gets a name server", func() {
			leader.apply("example.org.", 5, put(t, "example.org.", rr.TypeNS, "ns.example.net."))
		}},
		{"a zone comes", func() { leader.apply("example.com.", 7, put(t, "www.example.com.", rr.TypeA, "192.0.2.1")) }},
		{"a zone goes", func() { leader.remove("example.net.") }},
		{"a zone goes and comes again with a lower serial", func() {
			leader.remove("example.com.")
			leader.apply("example.com.", 3, put(t, "www.example.com.", rr.TypeA, "192.0.2.7"))
		}},
		{"a zone goes and comes again with the same serial", func() {
			leader.remove("example.com.")
			leader.apply("example.com.", 3, put(t, "www.example.com.", rr.TypeA, "192.0.2.8"))
		}},
		{"a zone has many changes at once", func() {
			for i := range uint32(500) {
				leader.apply("example.org.", 6+i, put(t, fmt.Sprintf("x%d.example.org.", i%50), rr.TypeTXT,
					fmt.Sprintf("%q", fmt.Sprint(i))))
			}
		}},
		{"the policy loses its catalog zone", func() {
			if err := leader.SetPolicy(group, embedded.Policy{}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		c.change()
		becomes(t, "the follower is the same after "+c.name, func() bool { return follower.same(leader) })
	}
}

func TestFollowersServeTheSameIncrements(t *testing.T) {
	t.Parallel()
	leader, follower := start(t), start(t)
	leader.apply("example.org.", 1, put(t, "example.org.", rr.TypeTXT,
		`"a" "zone" "that" "is" "longer" "than" "its" "changes"`),
		put(t, "a.example.org.", rr.TypeA, "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", "192.0.2.6",
			"192.0.2.7"))
	leader.lead()
	follower.follow(only(leader))
	becomes(t, "the follower is ready", follower.Opened)
	before, err := pull(t, follower, "example.org.", nil)
	if err != nil {
		t.Fatal(err)
	}
	leader.apply("example.org.", 2, put(t, "www.example.org.", rr.TypeA, "192.0.2.1"))
	leader.apply("example.org.", 3, put(t, "www.example.org.", rr.TypeA, "192.0.2.2"))
	becomes(t, "the follower is the same", func() bool { return follower.same(leader) })
	want, err := pull(t, leader, "example.org.", &before.SOA)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pull(t, follower, "example.org.", &before.SOA)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Steps) != 2 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the follower's increment is %v, want %v", got, want)
	}
}

func TestAFollowerBecomesTheLeader(t *testing.T) {
	t.Parallel()
	a, b, c := start(t), start(t), start(t)
	var mu sync.Mutex
	leader := a
	ask := func() (netip.AddrPort, bool) {
		mu.Lock()
		defer mu.Unlock()
		return leader.addr, true
	}
	a.apply("example.org.", 1, put(t, "www.example.org.", rr.TypeA, "192.0.2.1"))
	a.apply("example.net.", 1, put(t, "www.example.net.", rr.TypeA, "192.0.2.1"))
	a.lead()
	b.follow(ask)
	c.follow(ask)
	becomes(t, "both are ready", func() bool { return b.Opened() && c.Opened() })
	a.close()
	if got := b.ask("www.example.org."); got != "192.0.2.1" {
		t.Errorf("without a leader it answers %s", got)
	}
	mu.Lock()
	leader = b
	mu.Unlock()
	b.stop()
	held, err := b.Group(group).Read(t.Context(), mustName(t, "example.org."), backend.Ask{})
	if err != nil || held.SOA.Serial != 1 || held.Sets.Len() != 1 {
		t.Errorf("the new leader reads %v (%v), not what was applied at the old one", held, err)
	}
	b.lead()
	b.apply("example.org.", 17, put(t, "www.example.org.", rr.TypeA, "192.0.2.17"))
	b.remove("example.net.")
	becomes(t, "the third follows", func() bool { return c.same(b) })
	if got := c.ask("www.example.org."); got != "192.0.2.17" {
		t.Errorf("the third answers %s", got)
	}
}

func TestALeaderThatDoesNotHaveEverythingTakesNothingAway(t *testing.T) {
	t.Parallel()
	a, b := start(t), start(t)
	a.apply("example.org.", 1, put(t, "www.example.org.", rr.TypeA, "192.0.2.1"))
	a.lead()
	b.follow(only(a))
	becomes(t, "the follower is ready", b.Opened)
	b.stop()
	empty := start(t)
	asked := make(chan struct{}, 100)
	b.follow(func() (netip.AddrPort, bool) { asked <- struct{}{}; return empty.addr, true })
	for range 3 {
		<-asked
	}
	if got := b.ask("www.example.org."); got != "192.0.2.1" {
		t.Errorf("it answers %s", got)
	}
	empty.apply("example.net.", 1, put(t, "www.example.net.", rr.TypeA, "192.0.2.1"))
	empty.lead()
	becomes(t, "it is the same as the new leader", func() bool { return b.same(empty) })
}

func TestWhoHasAnotherKeyGetsNothing(t *testing.T) {
	t.Parallel()
	leader, follower := start(t), start(t)
	leader.apply("example.org.", 1, put(t, "www.example.org.", rr.TypeA, "192.0.2.1"))
	leader.lead()
	stranger := internal(t)
	stranger.Secret = "enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6eno="
	for _, key := range []embedded.Key{stranger, secondary(t)} {
		asked := make(chan struct{}, 100)
		follower.followWith(key, func() (netip.AddrPort, bool) { asked <- struct{}{}; return leader.addr, true })
		for range 3 {
			<-asked
		}
		follower.stop()
		if follower.Opened() || len(follower.Copies()) > 0 {
			t.Errorf("key %s lets somebody follow: %v", key, follower.Copies())
		}
	}
}

func TestNobodyToFollow(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.follow(nobody)
	r.stop()
	if r.Opened() {
		t.Error("it is ready without a leader")
	}
	if _, err := follow.New(follow.Options{}); err == nil {
		t.Error("a follower of nothing is made")
	}
}

func TestALeaderThatFollowedMeanwhileGivesTheCatalogANewSerial(t *testing.T) {
	t.Parallel()
	a, b := start(t), start(t)
	a.apply("example.org.", 1, put(t, "www.example.org.", rr.TypeA, "192.0.2.1"))
	a.lead()
	catalog := embedded.Member{Group: group, Zone: mustName(t, "catalog.invalid.")}
	serial := func() uint32 {
		c, _, _ := a.Copy(catalog, nil)
		return c.SOA.Serial
	}
	becomes(t, "there is a catalog zone", func() bool { return serial() != 0 })
	before := serial()
	b.follow(only(a))
	becomes(t, "the follower is the same", func() bool { return b.same(a) })
	a.follow(nobody) // and does not hear what the other one leads to
	b.lead()
	a.lead()
	becomes(t, "it has another serial", func() bool { return rr.SerialLess(before, serial()) })
}
