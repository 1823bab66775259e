package extdns

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/extdns/extdnstest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/endpoint"
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

func client(t testing.TB, f *extdnstest.Server, cfg Config) (*Client, *clock) {
	t.Helper()
	now := &clock{now: time.Unix(1e9, 0)}
	cfg.URL = f.URL + "/p"
	c, err := New(cfg, now.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, now
}

func zoneOf(t testing.TB, f *extdnstest.Server, cfg Config) (*Zone, *clock) {
	t.Helper()
	c, now := client(t, f, cfg)
	return c.Backend(backend.HostedZone{Name: parse(t, "example.org.")}).(*Zone), now
}

// foreign changes what the provider has.
func foreign(t testing.TB, f *extdnstest.Server, put []rr.Set, gone []rr.Key) {
	t.Helper()
	f.Lock()
	defer f.Unlock()
	var c extdnstest.Changes
	fails := f.Fails
	f.Fails = 0
	defer func() { f.Fails = fails }()
	for _, set := range put {
		e, err := endpoint.Of(set)
		if err != nil {
			t.Fatal(err)
		}
		gone = append(gone, set.Key())
		c.Create = append(c.Create, extdnstest.Endpoint(e))
	}
	for _, key := range gone {
		if i := f.Index(extdnstest.Endpoint{DNSName: strings.TrimSuffix(key.Name.String(), "."),
			RecordType: key.Type.String()}); i >= 0 {
			f.Sets = append(f.Sets[:i:i], f.Sets[i+1:]...)
		}
	}
	if err := f.CarryOut(c); err != nil {
		t.Error(err)
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*extdnstest.Server){
		"a plain provider":                    func(*extdnstest.Server) {},
		"one that refuses with 400":           func(f *extdnstest.Server) { f.Status = 400 },
		"one that fails in the middle":        func(f *extdnstest.Server) { f.Fails = 3 },
		"one that joins texts":                func(f *extdnstest.Server) { f.Lists = joins },
		"one that adjusts and tells more":     func(f *extdnstest.Server) { f.Adjust, f.Lists = adjusts, tells },
		"one that has the zone by setting it": func(f *extdnstest.Server) { f.Filter = map[string]any{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backendtest.Run(t, func(t *testing.T) backendtest.Harness {
				f := extdnstest.Start(t, "example.org", "other.example")
				f.Header = "Authorization: Bearer t0ken"
				set(f)
				connect := func(header string) backend.Backend {
					z, now := zoneOf(t, f, Config{Header: header, Zones: "example.org"})
					return &aging{z, now}
				}
				setDown := func(down bool) {
					f.Lock()
					defer f.Unlock()
					f.Down = down
				}
				return backendtest.Harness{
					Zone: parse(t, "example.org."), Missing: parse(t, "missing.example."),
					Backend:  func() backend.Backend { return connect(f.Header) },
					WrongKey: func() backend.Backend { return connect("Authorization: Bearer wrong") },
					Truth: func(zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
						return rr.SOA{}, f.Truth(t, zone), zone == parse(t, "example.org.")
					},
					Foreign: func(put []rr.Set, gone []rr.Key) { foreign(t, f, put, gone) },
					Stop:    func() { setDown(true) },
					Start:   func() { setDown(false) },
					Bad: func(owner dnsname.Name) rr.Set {
						return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeTXT}, 300, rr.Text(strings.Repeat("x", 2500)))
					},
				}
			})
		})
	}
}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// aging is a Backend between whose calls a minute passes.
type aging struct {
	*Zone
	now *clock
}

// Read reads later.
func (a *aging) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	a.now.pass(time.Minute)
	return a.Zone.Read(ctx, zone, ask)
}

// Apply applies later.
func (a *aging) Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	a.now.pass(time.Minute)
	return a.Zone.Apply(ctx, zone, b)
}

// joins is how some providers tell texts.
func joins(e extdnstest.Endpoint) extdnstest.Endpoint {
	if e.RecordType == "TXT" {
		e.Targets = append([]string(nil), e.Targets...)
		for i, text := range e.Targets {
			e.Targets[i] = strings.ReplaceAll(text, `" "`, "")
		}
	}
	return e
}

// adjusts and tells are a provider that knows more and says more than it was told.
func adjusts(e extdnstest.Endpoint) []extdnstest.Endpoint {
	e.RecordTTL = 300
	e.ProviderSpecific = []byte(`[{"name":"alias","value":"false"}]`)
	return []extdnstest.Endpoint{e}
}

func tells(e extdnstest.Endpoint) extdnstest.Endpoint {
	e.Labels = map[string]string{"resource": "x"}
	return e
}
