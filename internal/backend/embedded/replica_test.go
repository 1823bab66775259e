package embedded

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func replicaKey(t testing.TB) *Key {
	return &Key{Name: mustName(t, "replicas."), Secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}
}

// transferred is what somebody gets who asks for a zone.
func transferred(t testing.TB, addr string, key *Key, zone dnsname.Name, known *rr.SOA) (rfc2136.Pulled, error) {
	t.Helper()
	config := rfc2136.Config{Server: addr, Now: time.Now}
	if key != nil {
		config.Key = *key
	}
	c, err := rfc2136.New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return c.Pull(ctx, zone, known)
}

func TestAClosedServerAnswersNothing(t *testing.T) {
	s, addr := serve(t, Options{Closed: true, Replicas: ReplicaOptions{Key: replicaKey(t)}})
	for _, network := range []string{"udp", "tcp"} {
		for typ, want := range map[uint16]int{dns.TypeA: dns.RcodeServerFailure, dns.TypeSOA: dns.RcodeServerFailure,
			dns.TypeAXFR: dns.RcodeRefused} {
			c := dns.Client{Net: network, Timeout: 10 * time.Second}
			m, _, err := c.Exchange(new(dns.Msg).SetQuestion("example.org.", typ), addr)
			if err != nil || m.Rcode != want || len(m.Answer)+len(m.Ns) > 0 || m.Authoritative {
				t.Errorf("%s over %s: %v %v", dns.TypeToString[typ], network, m, err)
			}
		}
	}
	if _, err := transferred(t, addr, replicaKey(t), Listing(), nil); err == nil {
		t.Error("it offers a listing")
	}
	s.Ready()
	ask(t, "udp", addr)
	if _, err := transferred(t, addr, replicaKey(t), Listing(), nil); err == nil {
		t.Error("a follower offers a listing")
	}
}

// TestAClosedServerDoesNotSayThatItDoesNotKnowAKey: clients of updates take that for the last word, and it may not have
// read the key's Secret yet.
func TestAClosedServerDoesNotSayThatItDoesNotKnowAKey(t *testing.T) {
	s, addr := serve(t, Options{Closed: true})
	key := testKey(t, "dhcp.", "hmac-sha256")
	for _, c := range []struct {
		name string
		msg  *dns.Msg
		want int // until it is open
	}{
		{"a question", new(dns.Msg).SetQuestion("example.org.", dns.TypeSOA), dns.RcodeServerFailure},
		{"an update", new(dns.Msg).SetUpdate("example.org."), dns.RcodeServerFailure},
		{"a transfer", new(dns.Msg).SetAxfr("example.org."), dns.RcodeRefused},
	} {
		exchange := func() *dns.Msg {
			client := dns.Client{Net: "tcp", Timeout: 10 * time.Second, TsigSecret: map[string]string{"dhcp.": testSecret}}
			m, _, _ := client.Exchange(c.msg.Copy().SetTsig("dhcp.", dns.HmacSHA256, 300, time.Now().Unix()), addr)
			if m == nil {
				t.Fatalf("%s is not answered", c.name)
			}
			return m
		}
		s.opened.Store(false)
		if m := exchange(); m.Rcode != c.want || m.IsTsig() != nil {
			t.Errorf("%s is answered %v by a server that is closed", c.name, m)
		}
		s.Ready()
		if m := exchange(); m.Rcode != dns.RcodeNotAuth || m.IsTsig() == nil {
			t.Errorf("%s is answered %v by a server that is open", c.name, m)
		}
		setPolicy(t, s, Policy{Transfer: []Rule{{Key: key}}})
		s.opened.Store(false)
		if m := exchange(); m.Rcode != c.want || m.IsTsig() == nil {
			t.Errorf("%s with a key that is known is answered %v by a server that is closed", c.name, m)
		}
		setPolicy(t, s, Policy{})
	}
}

func TestAQuestionThatComesWhileAServerOpensIsNotAnsweredFromBefore(t *testing.T) {
	s, _ := serve(t, Options{Closed: true, Replicas: ReplicaOptions{Key: replicaKey(t)}})
	question, err := new(dns.Msg).SetQuestion("example.org.", dns.TypeSOA).Pack()
	if err != nil {
		t.Fatal(err)
	}
	var r responder
	r.serve(s)
	before := s.Catalogue()
	applyTo(t, s.Group("test"), mustName(t, "example.org."))
	s.Open()
	var m dns.Msg
	if err := m.Unpack(r.respond(before, question, nil, false)); err != nil || m.Rcode != dns.RcodeServerFailure {
		t.Errorf("it is answered with %v %v", &m, err)
	}
}

func TestTheListingIsForReplicas(t *testing.T) {
	s, addr := serve(t, Options{Replicas: ReplicaOptions{Key: replicaKey(t), Heartbeat: time.Millisecond}})
	other := &Key{Name: mustName(t, "other."), Secret: "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE="}
	if err := s.SetPolicy("test", Policy{Transfer: []Rule{{Key: other}}}); err != nil {
		t.Fatal(err)
	}
	// Somebody claims the name.
	applyTo(t, s.Group("test"), Listing(), put(t, "mine."+listingName, rr.TypeTXT, 60, `"mine"`))
	s.Open()
	mine := rr.Key{Name: mustName(t, "mine."+listingName), Type: rr.TypeTXT}
	got, err := transferred(t, addr, replicaKey(t), Listing(), nil)
	if _, there := got.Sets.Get(mine); err != nil || there || got.Sets.Len() != 2 {
		t.Errorf("a replica gets %v %v", got, err)
	}
	if same, err := transferred(t, addr, replicaKey(t), Listing(), &got.SOA); err != nil || !same.Same {
		t.Errorf("when nothing has changed it gets %v %v", same, err)
	}
	theirs, err := transferred(t, addr, other, Listing(), nil)
	if _, there := theirs.Sets.Get(mine); err != nil || !there {
		t.Errorf("who may transfer that zone gets %v %v", theirs, err)
	}
	if theirs, err := transferred(t, addr, nil, Listing(), nil); err == nil {
		t.Errorf("a stranger gets %v", theirs)
	}
	s.Follow()
	if got, err := transferred(t, addr, replicaKey(t), Listing(), nil); err == nil {
		if _, there := got.Sets.Get(mine); !there {
			t.Errorf("from a follower a replica gets %v", got)
		}
	}
}

func TestWhoWaitsForTheListing(t *testing.T) {
	s, err := Serve(t.Context(), Options{Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")},
		Replicas: ReplicaOptions{Key: replicaKey(t), Heartbeat: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	addr := s.Addrs()[0].String()
	g := s.Group("test")
	applyTo(t, g, mustName(t, "example.net."), put(t, "example.net.", rr.TypeNS, 300, "ns.example.org."))
	s.Open()
	first, err := transferred(t, addr, replicaKey(t), Listing(), nil)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		rfc2136.Pulled
		err error
	}
	results := make(chan result)
	wait := func(known rr.SOA) {
		got, err := transferred(t, addr, replicaKey(t), Listing(), &known)
		results <- result{got, err}
	}
	go wait(first.SOA)
	applyTo(t, g, mustName(t, "example.net."), put(t, "www.example.net.", rr.TypeA, 300, "192.0.2.1"))
	second := <-results
	if second.err != nil || second.Same || second.SOA.Serial == first.SOA.Serial {
		t.Errorf("after a change it gets %v", second)
	}
	go wait(second.SOA)
	s.Follow()
	if got := <-results; got.err == nil {
		t.Errorf("when the server does not lead any more it gets %v", got)
	}
	s.Open()
	go wait(second.SOA)
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got := <-results; got.err == nil && !got.Same {
		t.Errorf("when the server stops it gets %v", got)
	}
}

func TestCopiesReadAsWhatWasApplied(t *testing.T) {
	zone := mustName(t, "example.net.")
	for _, c := range []struct {
		name, server string
		changes      []plan.Change
	}{
		{"nothing", "ns.example.org.", nil},
		{"no name server, and one in the zone by its SOA", "ns.example.net.", nil},
		{"no name server, and one in the zone with an address", "ns.example.net.",
			[]plan.Change{put(t, "ns.example.net.", rr.TypeA, 300, "192.0.2.53")}},
		{"a name server", "ns.example.org.", []plan.Change{put(t, "example.net.", rr.TypeNS, 60, "ns.example.org.")}},
		{"the name server that it would get anyway", "ns.example.org.",
			[]plan.Change{put(t, "example.net.", rr.TypeNS, 300, "ns.example.org.")}},
		{"name servers", "ns.example.org.", []plan.Change{put(t, "example.net.", rr.TypeNS, 300, "ns.example.org.",
			"ns.example.net.")}},
	} {
		leader, _ := serve(t, Options{Replicas: ReplicaOptions{Key: replicaKey(t)}})
		follower, _ := serve(t, Options{Replicas: ReplicaOptions{Key: replicaKey(t)}})
		soa := rr.SOA{MName: mustName(t, c.server), RName: zone, Serial: 7, Refresh: 3600, Retry: 600, Expire: 86400,
			Minimum: 60, TTL: 300}
		if _, err := leader.Group("test").Apply(t.Context(), zone,
			backend.Batch{Create: true, SOA: &soa, Changes: c.changes}); err != nil {
			t.Fatal(err)
		}
		m := Member{Group: "test", Zone: zone}
		version, sets, _ := leader.Copy(m, nil)
		var all []plan.Change
		for set := range sets.All() {
			all = append(all, plan.Change{Key: set.Key(), Want: set})
		}
		if err := follower.Take(m, Copy{}, version, all); err != nil {
			t.Fatal(err)
		}
		want, _ := leader.Group("test").Read(t.Context(), zone, backend.Ask{})
		got, err := follower.Group("test").Read(t.Context(), zone, backend.Ask{})
		if err != nil || got.SOA != want.SOA || got.Sets.Len() != want.Sets.Len() {
			t.Errorf("a zone with %s is read as %v from a follower (%v), and as %v from the leader", c.name, got, err, want)
		}
	}
}

func TestAFollowerForgetsZonesThatAreGone(t *testing.T) {
	leader, _ := serve(t, Options{Replicas: ReplicaOptions{Key: replicaKey(t)}})
	follower, _ := serve(t, Options{Replicas: ReplicaOptions{Key: replicaKey(t)}})
	for _, name := range []string{"one.example.", "two.example."} {
		m := Member{Group: "test", Zone: mustName(t, name)}
		if _, err := leader.Group("test").Apply(t.Context(), m.Zone,
			backend.Batch{Create: true, SOA: &rr.SOA{MName: m.Zone, RName: m.Zone, Serial: 1}}); err != nil {
			t.Fatal(err)
		}
		version, _, _ := leader.Copy(m, nil)
		if err := errors.Join(follower.Take(m, Copy{}, version, nil), follower.Drop(m)); err != nil {
			t.Fatal(err)
		}
	}
	st, unlock := follower.state.Lock()
	defer unlock()
	if n := len(st.shared.members) + len(st.shared.changed); n > 0 {
		t.Errorf("%d notes are left of two zones", n)
	}
}

// FuzzReadEntry reads what anybody may put into a listing. What is read must be what a leader would write.
func FuzzReadEntry(f *testing.F) {
	f.Add("a."+listingName, "example.org.", `"1" "5" "main" "zone"`)
	f.Add("a."+listingName, "example.org.", `"1" "5" "main" "catalog"`)
	f.Add("a.b."+listingName, "example.org.", `"1" "5" "main" "zone"`)
	f.Add("a."+listingName, ".", `"1" "4294967296" "" "zone"`)
	f.Add("a."+listingName, "", `"2"`)
	f.Fuzz(func(t *testing.T, owner, zone, text string) {
		name, err := dnsname.Parse(owner)
		if err != nil {
			return
		}
		listing := rr.Sets{}.Txn()
		for typ, data := range map[rr.Type]string{rr.TypePTR: zone, rr.TypeTXT: text} {
			if data != "" {
				listing.Put(rr.NewSet(rr.Key{Name: name, Type: typ}, 0, data))
			}
		}
		e, found, err := ReadEntry(listing.Sets(), name)
		if err != nil || !found {
			return
		}
		again := rr.Sets{}.Txn()
		for _, c := range appendEntry(nil, e.ID, &e) {
			again.Put(c.Want)
		}
		if twice, found, err := ReadEntry(again.Sets(), name); err != nil || !found || twice != e {
			t.Errorf("%v becomes %v (%v)", e, twice, err)
		}
	})
}
