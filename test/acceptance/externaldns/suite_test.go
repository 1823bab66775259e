package externaldns

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider/inmemory"
	"sigs.k8s.io/external-dns/provider/webhook/api"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/extdns"
	"github.com/zonefold/zonefold/internal/backend/extdns/extdnstest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// provider is the in-memory provider, one call at a time, with what every real one has: zones that it tells, and values
// that it refuses.
type provider struct {
	*inmemory.InMemoryProvider
	mu   sync.Mutex
	down atomic.Bool
}

func start(t *testing.T) (*provider, string) {
	p := &provider{InMemoryProvider: inmemory.NewInMemoryProvider(inmemory.InMemoryInitZones([]string{"example.org"}))}
	server, mux := &api.WebhookServer{Provider: p}, http.NewServeMux()
	mux.HandleFunc("/", server.NegotiateHandler)
	mux.HandleFunc(api.UrlRecords, server.RecordsHandler)
	mux.HandleFunc(api.UrlAdjustEndpoints, server.AdjustEndpointsHandler)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.down.Load() {
			panic(http.ErrAbortHandler)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return p, s.URL
}

// Records tells everything there is.
func (p *provider) Records(ctx context.Context) ([]*endpoint.Endpoint, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.InMemoryProvider.Records(ctx)
}

// ApplyChanges carries out a batch whole or not at all.
func (p *provider) ApplyChanges(ctx context.Context, changes *plan.Changes) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range [][]*endpoint.Endpoint{changes.Create, changes.UpdateNew} {
		for _, e := range list {
			for _, target := range e.Targets {
				if len(target) > 2000 {
					return errors.New("a value is too long")
				}
			}
		}
	}
	return p.InMemoryProvider.ApplyChanges(ctx, changes)
}

// GetDomainFilter tells the zone.
func (p *provider) GetDomainFilter() endpoint.DomainFilterInterface {
	return endpoint.NewDomainFilter([]string{"example.org"})
}

// truth reads what the provider has with the reader of the server that stands for others, so not with the client's.
func (p *provider) truth(t testing.TB, zone dnsname.Name) rr.Sets {
	all, err := p.Records(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var has extdnstest.Server
	for _, e := range all {
		has.Sets = append(has.Sets, extdnstest.Endpoint{DNSName: e.DNSName, RecordType: e.RecordType,
			RecordTTL: int64(e.RecordTTL), Targets: e.Targets})
	}
	return has.Truth(t, zone)
}

// foreign changes what the provider has, as external-dns itself would.
func (p *provider) foreign(t testing.TB, put []rr.Set, gone []rr.Key) {
	all, err := p.Records(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	has := map[endpoint.EndpointKey]*endpoint.Endpoint{}
	for _, e := range all {
		has[e.Key()] = e
	}
	var c plan.Changes
	for _, set := range put {
		e := endpoint.NewEndpointWithTTL(strings.TrimSuffix(set.Name.String(), "."), set.Type.String(), endpoint.TTL(set.TTL),
			set.Data...)
		if old := has[e.Key()]; old != nil {
			c.UpdateOld, c.UpdateNew = append(c.UpdateOld, old), append(c.UpdateNew, e)
		} else {
			c.Create = append(c.Create, e)
		}
	}
	for _, key := range gone {
		if old := has[endpoint.EndpointKey{DNSName: strings.TrimSuffix(key.Name.String(), "."),
			RecordType: key.Type.String()}]; old != nil {
			c.Delete = append(c.Delete, old)
		}
	}
	if err := p.ApplyChanges(context.Background(), &c); err != nil {
		t.Fatal(err)
	}
}

func name(t testing.TB, s string) dnsname.Name {
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheSuiteOfAllBackends(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		p, url := start(t)
		zone := name(t, "example.org.")
		var minutes atomic.Int64 // a minute passes with every look at the clock, so that nothing is answered from memory
		clock := func() time.Time { return time.Unix(1e9, 0).Add(time.Duration(minutes.Add(1)) * time.Minute) }
		return backendtest.Harness{
			Zone: zone, Missing: name(t, "missing.example."),
			Backend: func() backend.Backend {
				c, err := extdns.New(extdns.Config{URL: url}, clock)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				return c.Backend(backend.HostedZone{Name: zone})
			},
			Truth:   func(z dnsname.Name) (rr.SOA, rr.Sets, bool) { return rr.SOA{}, p.truth(t, z), z == zone },
			Foreign: func(put []rr.Set, gone []rr.Key) { p.foreign(t, put, gone) },
			Stop:    func() { p.down.Store(true) },
			Start:   func() { p.down.Store(false) },
			Bad: func(owner dnsname.Name) rr.Set {
				return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeTXT}, 300, rr.Text(strings.Repeat("x", 2500)))
			},
		}
	})
}
