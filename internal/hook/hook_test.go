package hook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/dnshook/conformance"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/hook"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func parse(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var key = nameserver.TSIG{Algorithm: "hmac-sha256", Secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="}

// bind starts BIND with zones, and returns a client of it.
func bind(t *testing.T, zones ...string) (*nameserver.Server, *rfc2136.Client) {
	t.Helper()
	key := key
	key.Name = parse(t, "key.")
	opts := nameserver.Options{Dir: t.TempDir(), Keys: []nameserver.TSIG{key}}
	for _, z := range zones {
		opts.Zones = append(opts.Zones, nameserver.Zone{Name: parse(t, z)})
	}
	s, err := nameserver.StartBIND(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c, err := rfc2136.New(rfc2136.Config{Server: s.Addr(), Key: rfc2136.Key{Name: key.Name, Algorithm: key.Algorithm,
		Secret: key.Secret}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return s, c
}

func before(t *testing.T, zones ...hook.Zone) *hook.Provider {
	t.Helper()
	p, err := hook.New(hook.Config{Zones: zones, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// held returns the sets of a zone as BIND transfers them, a line each, without SOA and NS.
func held(t *testing.T, s interface {
	Transfer(context.Context, dnsname.Name) ([]rr.Set, error)
}, zone string) string {
	t.Helper()
	sets, err := s.Transfer(t.Context(), parse(t, zone))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, set := range sets {
		if set.Name != parse(t, zone) {
			out = append(out, fmt.Sprint(set.Key(), " ", set.TTL, " ", strings.Join(set.Data, ",")))
		}
	}
	return strings.Join(out, "\n")
}

func record(kind, domain, subdomain string, values ...string) dnshook.Record {
	return dnshook.Record{Type: kind, Domain: domain, Subdomain: subdomain, Values: values, TTL: 300}
}

func TestConformance(t *testing.T) {
	for name, start := range map[string]func(*testing.T) backend.Backend{
		"before BIND": func(t *testing.T) backend.Backend { _, c := bind(t, "example.com."); return c },
		"before PowerDNS": func(t *testing.T) backend.Backend {
			s, err := nameserver.StartPowerDNS(t.Context(),
				nameserver.Options{Dir: t.TempDir(), Zones: []nameserver.Zone{{Name: parse(t, "example.com.")}}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			c, err := powerdns.New(powerdns.Config{URL: s.URL, APIKey: s.APIKey})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			secret := dnshook.Key{Secret: []byte("a secret of sixteen")}
			h, err := dnshook.NewHandler(dnshook.HandlerConfig{
				Provider: before(t, hook.Zone{Name: parse(t, "example.com."), Backend: start(t)}), Now: time.Now,
				Keys: func() ([]dnshook.Key, error) { return []dnshook.Key{secret}, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			s := httptest.NewServer(h)
			defer s.Close()
			results, err := conformance.Run(t.Context(), conformance.Config{Server: s.URL, Key: &secret, Domain: "example.com",
				Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if r.Verdict != conformance.Pass {
					t.Errorf("%s: %s: %s", r.Check, r.Verdict, r.Sentence)
				}
			}
		})
	}
}

func TestTheLongestZoneGetsTheRecord(t *testing.T) {
	s, c := bind(t, "example.com.", "sub.example.com.")
	p := before(t, hook.Zone{Name: parse(t, "example.com."), Backend: c},
		hook.Zone{Name: parse(t, "sub.example.com."), Backend: c})
	for _, r := range []dnshook.Record{
		record("A", "example.com", "www", "192.0.2.1"), record("A", "example.com", "www.sub", "192.0.2.2"), record("A",
			"www2.sub.example.com", "@", "192.0.2.3"),
	} {
		if err := p.Upsert(t.Context(), r); err != nil {
			t.Error(err)
		}
	}
	if got := held(t, s, "example.com."); got != "www.example.com. A 300 192.0.2.1" {
		t.Errorf("example.com holds %s", got)
	}
	if got := held(t, s, "sub.example.com."); got != "www.sub.example.com. A 300 192.0.2.2\nwww2.sub.example.com. A "+
		"300 192.0.2.3" {
		t.Errorf("sub.example.com holds %s", got)
	}
	for _, domain := range []string{"example.org", "notexample.com", "com"} {
		if err := p.Upsert(t.Context(), record("A", domain, "@", "192.0.2.1")); dnshook.CodeOf(
			err) != dnshook.CodeInvalidDomain {
			t.Errorf("%s: %v", domain, err)
		}
	}
	if _, err := hook.New(hook.Config{Zones: []hook.Zone{{Name: parse(t, "a."), Backend: c},
		{Name: parse(t, "a."), Backend: c}}, Now: time.Now}); err == nil {
		t.Error("a zone is there twice")
	}
}

func TestWhatIsInNoZoneIsNotThere(t *testing.T) {
	_, c := bind(t, "example.com.")
	p := before(t, hook.Zone{Name: parse(t, "example.com."), Backend: c})
	for name, id := range map[string]dnshook.ID{
		"a name in no zone": {Type: "A", Domain: "mistyped.com", Subdomain: "www"},
		"a zone above":      {Type: "A", Domain: "com", Subdomain: "@"},
		"an unknown type":   {Type: "BOGUS", Domain: "example.com", Subdomain: "www"},
	} {
		t.Run(name, func(t *testing.T) {
			_, get := p.Get(t.Context(), id)
			for what, err := range map[string]error{"get": get, "delete": p.Delete(t.Context(), id)} {
				if e, ok := errors.AsType[*dnshook.Error](err); !ok || e.Code != dnshook.CodeRecordNotFound || e.Status != 0 {
					t.Errorf("%s comes to %v", what, err)
				}
			}
			err := p.Upsert(t.Context(), record(id.Type, id.Domain, id.Subdomain, "192.0.2.1"))
			if code := dnshook.CodeOf(err); code != dnshook.CodeInvalidDomain && code != dnshook.CodeInvalidRecord {
				t.Errorf("upsert comes to %v", err)
			}
		})
	}
}

// TestManyWriters has two servers of the protocol and somebody else write to one zone at the same time.
func TestManyWriters(t *testing.T) {
	s, c := bind(t, "example.com.")
	zone := parse(t, "example.com.")
	one, two := before(t, hook.Zone{Name: zone, Backend: c}), before(t, hook.Zone{Name: zone, Backend: c})
	var all sync.WaitGroup
	const n = 30
	for i := range n {
		for j, p := range []*hook.Provider{one, two} {
			all.Go(func() {
				own := record("A", "example.com", fmt.Sprintf("n%02d-%d", i, j), "192.0.2.1")
				if err := errors.Join(p.Upsert(t.Context(), own),
					p.Upsert(t.Context(), record("TXT", "example.com", "shared", own.Subdomain))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Go(func() {
		for i := range n {
			set := rr.NewSet(rr.Key{Name: parse(t, fmt.Sprintf("foreign%02d.example.com.", i)), Type: rr.TypeA}, 60,
				"203.0.113.1")
			if _, err := c.Apply(t.Context(), zone,
				backend.Batch{Changes: []plan.Change{{Key: set.Key(), Want: set}}}); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	if got := strings.Split(held(t, s, "example.com."), "\n"); len(got) != 3*n+1 {
		t.Errorf("the zone holds %d sets, want %d", len(got), 3*n+1)
	}
	updates, err := s.Updates(t.Context())
	t.Logf("%d requests and %d changes of others took %d UPDATEs (%v)", 4*n, n, updates, err)
}

func TestWhatBINDDoesNotTake(t *testing.T) {
	s, c := bind(t, "example.com.")
	p := before(t, hook.Zone{Name: parse(t, "example.com."), Backend: c})
	if err := p.Upsert(t.Context(), record("A", "example.com", "www", "192.0.2.1")); err != nil {
		t.Fatal(err)
	}
	ten := uint16(10)
	many := record("A", "example.com", "many")
	for i := range 150 {
		many.Values = append(many.Values, fmt.Sprintf("192.0.2.%d", i))
	}
	mx := record("MX", "example.com", "mx", "under_score.example.com")
	mx.Metadata = &dnshook.Metadata{Priority: &ten}
	early := record("MX", "example.com", "mx", "not-yet.example.com")
	early.Metadata = mx.Metadata
	upsert := func(r dnshook.Record) dnshook.Operation {
		return dnshook.Operation{Action: dnshook.ActionUpsert, Record: r}
	}
	for i, err := range p.Batch(t.Context(), []dnshook.Operation{
		upsert(record("A", "example.com", "a", "192.0.2.1")),
		upsert(record("CNAME", "example.com", "www", "a.example.com")), // beside an address: BIND says yes and ignores it
		upsert(many), // more than 100: SERVFAIL
		upsert(mx),   // no name of a host: REFUSED, and so for good
		upsert(record("A", "example.com", "b", "192.0.2.2")),
		{Action: dnshook.ActionDelete, Record: record("NS", "example.com", "@")}, // the last name server
		{Action: dnshook.ActionDelete, Record: record("A", "example.com", "nothing")},
		upsert(record("A", "example.com", "a", "192.0.2.3")),
		upsert(record("A", "example.com", "_a", "192.0.2.4")),                        // no name of a host, and so for good
		upsert(record("A", "example.com", "*.under_score", "192.0.2.4")),             // as well
		upsert(record("TXT", "example.com", "_t", "a text may stand at every name")), // and is taken
		upsert(record("A", "example.com", "v", "::ffff:192.0.2.4")),                  // an address of the other family
		upsert(early), // a host without an address so far: REFUSED
		upsert(record("NS", "example.com", "sub", "_ns.example.net")),
		upsert(record("NS", "example.com", "sub", "*.example.net")),
	}) {
		want := []dnshook.Code{"", dnshook.CodeInvalidRecord, dnshook.CodeServerError, dnshook.CodeInvalidValue, "",
			dnshook.CodeInvalidValue, dnshook.CodeRecordNotFound, "",
			dnshook.CodeInvalidDomain, dnshook.CodeInvalidDomain, "", dnshook.CodeInvalidValue, dnshook.CodeServerError,
			dnshook.CodeInvalidValue, dnshook.CodeInvalidValue}[i]
		if dnshook.CodeOf(err) != want {
			t.Errorf("operation %d comes to %v, want %q", i, err, want)
		}
	}
	if got := held(t, s, "example.com."); got != "_t.example.com. TXT 300 \"a text may stand at every "+
		"name\"\na.example.com. A 300 192.0.2.3\nb.example.com. A 300 192.0.2.2\nwww.example.com. A 300 192.0.2.1" {
		t.Errorf("it holds %s", got)
	}
}

// TestAnAliasThatLeadsToItself has BIND answer SERVFAIL to every question about a name.
func TestAnAliasThatLeadsToItself(t *testing.T) {
	s, c := bind(t, "example.com.")
	p := before(t, hook.Zone{Name: parse(t, "example.com."), Backend: c})
	loop := record("CNAME", "example.com", "api", "api.example.com")
	// leads to itself while ingress.apps is not there
	apps := record("CNAME", "example.com", "*.apps", "ingress.apps.example.com")
	if err := p.Upsert(t.Context(), loop); err != nil {
		t.Errorf("putting it: %v", err)
	}
	if got, err := p.Get(t.Context(), loop.ID()); err != nil || len(got.Values) != 1 {
		t.Errorf("getting it: %+v, %v", got, err)
	}
	for i, err := range p.Batch(t.Context(), []dnshook.Operation{
		{Action: dnshook.ActionUpsert, Record: apps}, {Action: dnshook.ActionUpsert,
			Record: record("A", "example.com", "www", "192.0.2.1")},
	}) {
		if err != nil {
			t.Errorf("operation %d beside it: %v", i, err)
		}
	}
	for _, r := range []dnshook.Record{loop, apps} {
		if err := p.Delete(t.Context(), r.ID()); err != nil {
			t.Errorf("deleting it: %v", err)
		}
	}
	if got := held(t, s, "example.com."); got != "www.example.com. A 300 192.0.2.1" {
		t.Errorf("it holds %s", got)
	}
}

func TestServersThatAreDown(t *testing.T) {
	s, c := bind(t, "example.com.")
	p := before(t, hook.Zone{Name: parse(t, "example.com."), Backend: c})
	if err := p.Health(t.Context()); err != nil {
		t.Errorf("its health is %v", err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	www := record("A", "example.com", "www", "192.0.2.1")
	_, get := p.Get(t.Context(), www.ID())
	for what, err := range map[string]error{"health": p.Health(t.Context()), "upsert": p.Upsert(t.Context(), www),
		"delete": p.Delete(t.Context(), www.ID()), "get": get} {
		if e, ok := errors.AsType[*dnshook.Error](err); !ok || e.Status != 503 || e.Code != dnshook.CodeServerError {
			t.Errorf("%s comes to %v", what, err)
		}
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Upsert(t.Context(), www); err != nil {
		t.Error(err)
	}
	missing := before(t, hook.Zone{Name: parse(t, "example.net."), Backend: c})
	if err := missing.Health(t.Context()); err == nil {
		t.Error("a server without the zone is well")
	}
}

func TestWhatNoRecordCanBe(t *testing.T) {
	_, c := bind(t, "example.com.")
	zone := parse(t, "example.com.")
	set := rr.NewSet(rr.Key{Name: parse(t, "x.example.com."), Type: rr.TypeMX}, 60, "10 a.example.net.",
		"20 b.example.net.")
	if _, err := c.Apply(t.Context(), zone,
		backend.Batch{Changes: []plan.Change{{Key: set.Key(), Want: set}}}); err != nil {
		t.Fatal(err)
	}
	p := before(t, hook.Zone{Name: zone, Backend: c})
	r, err := p.Get(t.Context(), dnshook.ID{Type: "MX", Domain: "example.com", Subdomain: "x"})
	if err != nil || r.Metadata != nil || strings.Join(r.Values, ",") != "10 a.example.net.,20 b.example.net." {
		t.Errorf("it is shown as %+v, %v", r, err)
	}
}
