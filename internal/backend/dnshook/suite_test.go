package dnshook_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	hookbackend "github.com/zonefold/zonefold/internal/backend/dnshook"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/hook"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

const tsigSecret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func parse(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// place is BIND with the zone example.org, and a server of the protocol before it.
type place struct {
	bind *nameserver.Server
	http *httptest.Server
}

// serve starts a place. Where around is not nil it changes what the server of the protocol does.
func serve(t *testing.T, around func(dnshook.Provider) dnshook.Provider,
	answers func(http.Handler) http.Handler) *place {
	t.Helper()
	bind, err := nameserver.StartBIND(t.Context(), nameserver.Options{
		Dir: t.TempDir(), Zones: []nameserver.Zone{{Name: parse(t, "example.org.")}},
		Keys: []nameserver.TSIG{{Name: parse(t, "zonefold-test."), Algorithm: "hmac-sha256", Secret: tsigSecret}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bind.Close)
	updates, err := rfc2136.New(rfc2136.Config{
		Server: bind.Addr(), Now: time.Now, Key: rfc2136.Key{Name: parse(t, "zonefold-test."), Algorithm: "hmac-sha256",
			Secret: tsigSecret},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { updates.Close() })
	before, err := hook.New(hook.Config{Zones: []hook.Zone{{Name: parse(t, "example.org."), Backend: updates}},
		Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	p := dnshook.Provider(before)
	if around != nil {
		p = around(p)
	}
	h, err := dnshook.NewHandler(dnshook.HandlerConfig{
		Provider: p, Now: time.Now, Keys: func() ([]dnshook.Key, error) {
			return []dnshook.Key{{Secret: []byte("the right one of sixteen")}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	all := http.Handler(h)
	if answers != nil {
		all = answers(h)
	}
	s := httptest.NewServer(all)
	t.Cleanup(s.Close)
	return &place{bind, s}
}

func client(t *testing.T, cfg hookbackend.Config) *hookbackend.Client {
	t.Helper()
	c, err := hookbackend.New(cfg, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// truth reads the zone with BIND's own transfer.
func (p *place) truth(t *testing.T, zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
	t.Helper()
	sets, err := p.bind.Transfer(context.Background(), zone)
	if err != nil {
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

// foreign writes to BIND directly.
func (p *place) foreign(t *testing.T, put []rr.Set, gone []rr.Key) {
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
	c := dns.Client{Net: "tcp", TsigSecret: map[string]string{"zonefold-test.": tsigSecret}}
	answer, _, err := c.Exchange(m, p.bind.Addr())
	if err != nil || answer.Rcode != dns.RcodeSuccess {
		t.Fatalf("writing as somebody else: %v %v", answer, err)
	}
}

func harness(t *testing.T, p *place, blind bool) backendtest.Harness {
	cfg := func(secret string) hookbackend.Config {
		return hookbackend.Config{Server: p.http.URL, Secret: secret, Blind: blind}
	}
	return backendtest.Harness{
		Zone: parse(t, "example.org."), Missing: parse(t, "missing.example."),
		Backend:  func() backend.Backend { return client(t, cfg("the right one of sixteen")) },
		WrongKey: func() backend.Backend { return client(t, cfg("a wrong one of sixteen")) },
		Truth:    func(zone dnsname.Name) (rr.SOA, rr.Sets, bool) { return p.truth(t, zone) },
		Foreign:  func(put []rr.Set, gone []rr.Key) { p.foreign(t, put, gone) },
		Stop: func() {
			if err := p.bind.Stop(); err != nil {
				t.Error(err)
			}
		},
		Start: func() {
			if err := p.bind.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		MaxSet: 100,
		// BIND refuses names of hosts that are not host names (check-names).
		Bad: func(owner dnsname.Name) rr.Set {
			return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeMX}, 300, "10 under_score."+
				strings.TrimPrefix(owner.String(), "*."))
		},
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) backendtest.Harness { return harness(t, serve(t, nil, nil), false) })
}

// mute shows nothing.
type mute struct{ dnshook.Provider }

func (mute) Get(context.Context, dnshook.ID) (dnshook.Record, error) {
	return dnshook.Record{}, dnshook.ErrNoGet
}

// plain takes away what a server of the document does not have.
func plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/batch") {
			http.NotFound(w, r)
			return
		}
		out := httptest.NewRecorder()
		next.ServeHTTP(out, r)
		w.WriteHeader(out.Code)
		_, _ = w.Write(bytes.ReplaceAll(out.Body.Bytes(), []byte(`"features":["batch"]`), []byte(`"version":1`)))
	})
}

func TestSuiteWithoutGetAndBatches(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		return harness(t, serve(t, func(p dnshook.Provider) dnshook.Provider { return mute{p} }, plain), true)
	})
}
