package embedded

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A listed server has a catalog zone, whose policy lets 127.0.0.1 have it.
type listed struct {
	testing.TB
	clock  *testClock
	server *Server
	group  *Group
}

const catalogName = "catalog.zonefold."

func newListed(t testing.TB, after uint32) *listed {
	t.Helper()
	l := &listed{TB: t, clock: newTestClock()}
	var err error
	if l.server, err = Serve(t.Context(), Options{Clock: l.clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.server.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	l.group = l.server.Group("test")
	l.policy(after)
	return l
}

func (l *listed) policy(after uint32) {
	l.Helper()
	rule := Rule{Prefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	setPolicy(l, l.server, Policy{Transfer: []Rule{rule}, Catalog: mustName(l, catalogName), CatalogAfter: after})
}

func (l *listed) add(zones ...string) {
	l.Helper()
	for _, z := range zones {
		applyTo(l, l.group, mustName(l, z))
	}
}

func (l *listed) remove(zone string) {
	l.Helper()
	if _, err := l.group.Apply(l.Context(), mustName(l, zone), backend.Batch{Remove: true}); err != nil {
		l.Fatal(err)
	}
}

// members checks how many seconds after the start the serial of the catalog zone is, and what its members are; -1:
// there is no catalog zone.
func (l *listed) members(seconds int, want ...string) {
	l.Helper()
	z := l.server.Catalogue().Zone(mustName(l, catalogName))
	if z == nil {
		if seconds >= 0 {
			l.Error("there is no catalog zone")
		}
		return
	}
	if got := int(z.soa.Serial) - 1_700_000_000; got != seconds {
		l.Errorf("the serial is of second %d, want %d", got, seconds)
	}
	var got []string
	z.names.All(func(n *node) bool {
		if s := n.find(rr.TypePTR); s != nil {
			name, _, err := dnsname.FromWire(s.only())
			if err != nil || s.count != 1 || s.ttl != 0 {
				l.Errorf("%q: %v %v", n.name, s, err)
			}
			got = append(got, name.String())
		}
		return true
	})
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		l.Errorf("the members are %v, want %v", got, want)
	}
}

func TestCatalogOfMembers(t *testing.T) {
	l := newListed(t, 0)
	l.add("a.example.", "b.example.")
	l.clock.pass(10 * time.Second)
	l.members(-1) // it may not have all zones yet
	l.group.Complete()
	l.members(10, "a.example.", "b.example.")
	l.add("c.example.")
	l.remove("a.example.")
	l.members(10, "a.example.", "b.example.") // a serial never stands for two contents
	l.clock.pass(499 * time.Millisecond)
	l.members(10, "a.example.", "b.example.")
	l.clock.pass(time.Millisecond)
	l.members(11, "b.example.", "c.example.")
	l.clock.pass(time.Hour)
	l.members(11, "b.example.", "c.example.")
	l.remove("c.example.")
	l.members(3611, "b.example.")
	applyTo(t, l.group, mustName(t, "b.example."), put(t, "www.b.example.", rr.TypeA, 60, "192.0.2.1"))
	l.clock.pass(time.Hour)
	l.members(3611, "b.example.")
	if n := len(l.server.Catalogue().Zone(mustName(t, catalogName)).history.steps); n != 1 {
		t.Errorf("%d steps are remembered", n) // of two, the first has more records than the zone
	}
}

func TestCatalogAtOnceAfterTheStart(t *testing.T) {
	l := newListed(t, 0)
	l.group.Complete()
	l.add("a.example.")
	l.clock.pass(499 * time.Millisecond)
	l.members(-1) // another server may have served this second's serial just before
	l.clock.pass(time.Millisecond)
	l.members(1, "a.example.")
}

func TestCatalogSerialsOfClocksThatDiffer(t *testing.T) {
	l := newListed(t, 1_700_000_100)
	l.clock.pass(10 * time.Second)
	l.group.Complete()
	l.members(101)
	l.add("a.example.")
	l.clock.pass(time.Second)
	l.members(102, "a.example.")
	l.server.DropPolicy("test")
	l.members(-1)
	l.policy(0)
	l.clock.pass(time.Second)
	l.members(103, "a.example.")
}

// TestCatalogLabelsStay holds labels to what they were: followers that see another one forget what they have (RFC 9432
// §5.4).
func TestCatalogLabelsStay(t *testing.T) {
	for zone, want := range map[string]string{"example.org.": "4cc4895e602643ea315dd80211bc7300",
		".": "cdb4ee2aea69cc6a83331bbe96dc2caa"} {
		if got := memberName(mustName(t, catalogName), mustName(t, zone)).String(); got != want+".zones."+catalogName {
			t.Errorf("%s is %s", zone, got)
		}
	}
}

func TestCatalogIsShownToFollowersOnly(t *testing.T) {
	l := newListed(t, 0)
	l.clock.pass(time.Second)
	l.add("a.example.")
	l.group.Complete()
	for client, want := range map[string]string{"127.0.0.1": "NOERROR", "127.0.0.2": "REFUSED"} {
		for _, typ := range []uint16{dns.TypeSOA, dns.TypeTXT, dns.TypeANY, dns.TypeAXFR, dns.TypeIXFR} {
			msg, err := new(dns.Msg).SetQuestion("version."+catalogName, typ).Pack()
			if typ == dns.TypeSOA || typ == dns.TypeIXFR {
				msg, err = ixfr(catalogName, 1<<31).Pack()
			}
			if typ == dns.TypeAXFR {
				msg, err = axfr(catalogName).Pack()
			}
			if err != nil {
				t.Fatal(err)
			}
			r := ofServer(l.server)
			r.client = netip.MustParseAddr(client)
			wire := r.respond(l.server.Catalogue(), msg, nil, true)
			got := "NOERROR"
			if r.outgoing == nil {
				got = dns.RcodeToString[unpack(t, wire).Rcode]
			}
			if got != want {
				t.Errorf("%s gets %s for %s, want %s", client, got, dns.TypeToString[typ], want)
			}
		}
	}
}

func TestNobodyElseHasTheCatalogsName(t *testing.T) {
	l := newListed(t, 0)
	soa := rr.SOA{MName: mustName(t, "a."), RName: mustName(t, "a."), Serial: 1, TTL: 60}
	_, err := l.server.Group("other").Apply(t.Context(), mustName(t, catalogName), backend.Batch{Create: true, SOA: &soa})
	if backend.Class(err) != backend.ErrRejected {
		t.Errorf("a zone takes the catalog's name: %v", err)
	}
	l.server.DropPolicy("test")
	applyTo(t, l.server.Group("other"), mustName(t, catalogName))
	l.policy(0)
	l.clock.pass(time.Second)
	l.group.Complete()
	l.members(1)
	if z := l.server.Catalogue().Zone(mustName(t, catalogName)); !z.private {
		t.Error("a zone that was there is served in place of the catalog")
	}
	l.server.DropPolicy("test")
	if z := l.server.Catalogue().Zone(mustName(t, catalogName)); z == nil || z.private {
		t.Error("without the catalog the zone is not served")
	}
}
