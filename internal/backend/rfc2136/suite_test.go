package rfc2136_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

const (
	secret      = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	otherSecret = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="
)

// A starter starts one kind of server.
type starter func(context.Context, nameserver.Options) (*nameserver.Server, error)

func parse(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// serve starts a server with one zone, example.org., and one key.
func serve(t testing.TB, start starter, zones ...nameserver.Zone) *nameserver.Server {
	t.Helper()
	opts := nameserver.Options{
		Dir:   t.TempDir(),
		Zones: append(zones, nameserver.Zone{Name: parse(t, "example.org.")}),
		Keys:  []nameserver.TSIG{{Name: parse(t, "zonefold-test."), Algorithm: "hmac-sha256", Secret: secret}},
	}
	s, err := start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func client(t testing.TB, s *nameserver.Server, secret string) *rfc2136.Client {
	t.Helper()
	c, err := rfc2136.New(rfc2136.Config{
		Server: s.Addr(), Now: time.Now,
		Key: rfc2136.Key{Name: parse(t, "zonefold-test."), Algorithm: "hmac-sha256", Secret: secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// truth reads a zone with the library's own transfer.
func truth(t testing.TB, s *nameserver.Server, zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
	t.Helper()
	sets, err := s.Transfer(context.Background(), zone)
	if err != nil {
		t.Logf("reading the truth: %v", err)
		return rr.SOA{}, rr.Sets{}, false
	}
	var soa rr.SOA
	txn := rr.Sets{}.Txn()
	for _, set := range sets {
		if set.Type == rr.TypeSOA {
			if soa, err = rr.ParseSOA(set.Data[0]); err != nil {
				t.Fatal(err)
			}
			soa.TTL = set.TTL
		} else if set.Type.Refused() == "" {
			txn.Put(set)
		}
	}
	return soa, txn.Sets(), true
}

// foreign writes as somebody who does not care for serials: the server counts.
func foreign(t testing.TB, s *nameserver.Server, put []rr.Set, gone []rr.Key) {
	t.Helper()
	m := new(dns.Msg)
	m.SetUpdate("example.org.")
	for _, key := range gone {
		m.RemoveRRset([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: key.Name.String(), Rrtype: uint16(key.Type)}}})
	}
	for _, set := range put {
		m.RemoveRRset([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: set.Name.String(), Rrtype: uint16(set.Type)}}})
		records, err := set.RRs()
		if err != nil {
			t.Fatal(err)
		}
		m.Insert(records)
	}
	m.SetTsig("zonefold-test.", dns.HmacSHA256, 300, time.Now().Unix())
	c := dns.Client{Net: "tcp", TsigSecret: map[string]string{"zonefold-test.": secret}}
	answer, _, err := c.Exchange(m, s.Addr())
	if err != nil || answer.Rcode != dns.RcodeSuccess {
		t.Fatalf("writing as somebody else: %v %v", answer, err)
	}
}

func harness(t *testing.T, start starter) backendtest.Harness {
	s := serve(t, start)
	return backendtest.Harness{
		Zone: parse(t, "example.org."), Missing: parse(t, "missing.example."),
		Backend:  func() backend.Backend { return client(t, s, secret) },
		WrongKey: func() backend.Backend { return client(t, s, otherSecret) },
		Truth:    func(zone dnsname.Name) (rr.SOA, rr.Sets, bool) { return truth(t, s, zone) },
		Foreign:  func(put []rr.Set, gone []rr.Key) { foreign(t, s, put, gone) },
		Stop: func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		},
		Start: func() {
			if err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		MaxApplies: 30,
	}
}

func TestSuiteBIND(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		h := harness(t, nameserver.StartBIND)
		h.MaxSet = 100
		// BIND refuses names of hosts that are not host names (check-names).
		h.Bad = func(owner dnsname.Name) rr.Set {
			return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeMX}, 300, "10 under_score."+
				strings.TrimPrefix(owner.String(), "*."))
		}
		return h
	})
}

func TestSuiteKnot(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) backendtest.Harness { return harness(t, nameserver.StartKnot) })
}
