package rfc2136

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func name(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func set(t testing.TB, owner string, typ rr.Type, data ...string) rr.Set {
	t.Helper()
	return rr.NewSet(rr.Key{Name: name(t, owner), Type: typ}, 300, data...)
}

func testSOA(t testing.TB, serial uint32) *rr.SOA {
	return &rr.SOA{MName: name(t, "ns."), RName: name(t, "root."), Serial: serial, Refresh: 1, Retry: 2, Expire: 3,
		Minimum: 4, TTL: 60}
}

func TestMessage(t *testing.T) {
	const zone = "example.org."
	a1, a2 := set(t, "www."+zone, rr.TypeA, "192.0.2.1"), set(t, "www."+zone, rr.TypeA, "192.0.2.2")
	alias := set(t, "www."+zone, rr.TypeCNAME, "target."+zone)
	ns1, ns2 := set(t, zone, rr.TypeNS, "ns1.example.net.", "ns2.example.net."),
		set(t, zone, rr.TypeNS, "ns2.example.net.", "ns3.example.net.")
	for _, c := range []struct {
		name  string
		batch backend.Batch
		want  []string // of the update section
	}{
		{"a new set is only added when the zone is known",
			backend.Batch{Expect: testSOA(t, 1), Changes: []plan.Change{{Key: a1.Key(), Want: a1}}},
			[]string{"www.example.org. 300 IN A 192.0.2.1"}},
		{"a new set is removed first when the zone is not known",
			backend.Batch{Changes: []plan.Change{{Key: a1.Key(), Want: a1}}},
			[]string{"www.example.org. 0 CLASS255 A", "www.example.org. 300 IN A 192.0.2.1"}},
		{"a changed set is replaced",
			backend.Batch{Expect: testSOA(t, 1), Changes: []plan.Change{{Key: a1.Key(), Have: a1, Want: a2}}},
			[]string{"www.example.org. 0 CLASS255 A", "www.example.org. 300 IN A 192.0.2.2"}},
		{"removals come before additions, so that an alias finds its name empty",
			backend.Batch{Expect: testSOA(t, 1), Changes: []plan.Change{{Key: alias.Key(), Want: alias},
				{Key: a1.Key(), Have: a1}}},
			[]string{"www.example.org. 0 CLASS255 A", "www.example.org. 300 IN CNAME target.example.org."}},
		{"apex NS come before others go, value by value",
			backend.Batch{Expect: testSOA(t, 1), Changes: []plan.Change{{Key: ns1.Key(), Have: ns1, Want: ns2}}},
			[]string{"example.org. 300 IN NS ns2.example.net.", "example.org. 300 IN NS ns3.example.net.",
				"example.org. 0 NONE NS ns1.example.net."}},
		{"the new SOA is last",
			backend.Batch{Expect: testSOA(t, 1), SOA: testSOA(t, 2), Changes: []plan.Change{{Key: a1.Key(), Have: a1}}},
			[]string{"www.example.org. 0 CLASS255 A", "example.org. 60 IN SOA ns. root. 2 1 2 3 4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := message(name(t, zone), c.batch)
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(m.Ns); got != strings.Join(c.want, "\n") {
				t.Errorf("the update section is\n%s\nwant\n%s", got, strings.Join(c.want, "\n"))
			}
			want := ""
			if c.batch.Expect != nil {
				want = "example.org. 0 IN SOA ns. root. 1 1 2 3 4"
			}
			if got := lines(m.Answer); got != want {
				t.Errorf("the prerequisites are %q, want %q", got, want)
			}
		})
	}
}

func lines(records []dns.RR) string {
	var all []string
	for _, r := range records {
		all = append(all, strings.Join(strings.Fields(r.String()), " "))
	}
	return strings.Join(all, "\n")
}

func TestWhatCannotBeSent(t *testing.T) {
	ns := set(t, "example.org.", rr.TypeNS, "ns.example.net.")
	large := make([]string, 600)
	for i := range large {
		large[i] = fmt.Sprintf("%q", fmt.Sprintf("%03d%s", i, strings.Repeat("x", 200)))
	}
	txt := set(t, "x.example.org.", rr.TypeTXT, large...)
	c, err := New(Config{Server: "192.0.2.1", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		batch backend.Batch
		class backend.ErrorClass
		text  string
	}{
		{"a serial that does not rise", backend.Batch{Expect: testSOA(t, 2), SOA: testSOA(t, 2)}, backend.ErrUnavailable,
			"serial 2 does not come after 2"},
		{"no apex NS at all", backend.Batch{Changes: []plan.Change{{Key: ns.Key(), Have: ns}}}, backend.ErrRejected,
			"keeps the last NS"},
		{"a new zone", backend.Batch{Create: true}, backend.ErrUnavailable, "cannot create a zone"},
	} {
		_, err := c.Apply(t.Context(), name(t, "example.org."), test.batch)
		if backend.Class(err) != test.class || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v, want %s with %q", test.name, err, test.class, test.text)
		}
	}
	m, err := message(name(t, "example.org."), backend.Batch{Changes: []plan.Change{{Key: txt.Key(), Want: txt}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.exchange(&conn{key: &signer{}}, m); backend.Class(err) != backend.ErrRejected {
		t.Errorf("a message that is too long: %v", err)
	}
}

// TestSizeIsAnUpperBound packs every example of every type and compares.
func TestSizeIsAnUpperBound(t *testing.T) {
	zone := name(t, "example.org.")
	for typ, all := range backendtest.Examples(t, rr.Type.Refused) {
		for _, data := range all {
			have, want := set(t, `a\.b.example.org.`, typ, data), set(t, `a\.b.example.org.`, typ, data)
			want.TTL++
			empty, err := message(zone, backend.Batch{})
			if err != nil {
				t.Fatal(err)
			}
			change := plan.Change{Key: have.Key(), Have: have, Want: want}
			full, err := message(zone, backend.Batch{Changes: []plan.Change{change}})
			if err != nil {
				t.Fatal(err)
			}
			if took := full.Len() - empty.Len(); took > size(change) {
				t.Errorf("%s %s takes %d octets, size says %d", typ, data, took, size(change))
			}
		}
	}
}

func TestClasses(t *testing.T) {
	for rcode, want := range map[int]backend.ErrorClass{
		dns.RcodeSuccess: "", dns.RcodeNotAuth: backend.ErrNoZone, dns.RcodeNotImplemented: backend.ErrNotAuthorised,
		dns.RcodeServerFailure: backend.ErrRejected, dns.RcodeFormatError: backend.ErrRejected,
		dns.RcodeNotZone: backend.ErrRejected,
		dns.RcodeBadVers: backend.ErrUnavailable, 23: backend.ErrUnavailable,
	} {
		if got := backend.Class(updateError(rcode)); got != want {
			t.Errorf("an UPDATE answered %s is %q, want %q", rcodeName(rcode), got, want)
		}
	}
	for _, rcode := range []int{dns.RcodeNXRrset, dns.RcodeYXRrset, dns.RcodeNameError, dns.RcodeYXDomain} {
		if err := updateError(rcode); !errors.Is(err, errPrerequisite) {
			t.Errorf("an UPDATE answered %s: %v", rcodeName(rcode), err)
		}
	}
	for rcode, want := range map[int]backend.ErrorClass{
		dns.RcodeSuccess: "", dns.RcodeNotAuth: backend.ErrNoZone, dns.RcodeRefused: backend.ErrNotAuthorised,
		dns.RcodeServerFailure: backend.ErrUnavailable, dns.RcodeFormatError: backend.ErrUnavailable,
	} {
		if got := backend.Class(readError(rcode)); got != want {
			t.Errorf("a transfer answered %s is %q, want %q", rcodeName(rcode), got, want)
		}
	}
	if detail, ok := errors.AsType[*backend.Error](updateError(dns.RcodeServerFailure)); !ok || !detail.Temporary ||
		detail.Words != "SERVFAIL" {
		t.Errorf("SERVFAIL is %+v, want temporary and with the server's word", detail)
	}
}
