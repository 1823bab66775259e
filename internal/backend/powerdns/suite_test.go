package powerdns_test

import (
	"context"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/dnsname"
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

// serve starts a server with one zone, example.org.
func serve(t testing.TB) *nameserver.PowerDNS {
	t.Helper()
	p, err := nameserver.StartPowerDNS(t.Context(), nameserver.Options{
		Dir: t.TempDir(), Zones: []nameserver.Zone{{Name: parse(t, "example.org.")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func client(t testing.TB, p *nameserver.PowerDNS, key string) *powerdns.Client {
	t.Helper()
	c, err := powerdns.New(powerdns.Config{URL: p.URL, APIKey: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// truth reads a zone by a transfer.
func truth(t testing.TB, p *nameserver.PowerDNS, zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
	t.Helper()
	sets, err := p.Transfer(context.Background(), zone)
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

// foreign writes as another client of the API that counts the serial up.
func foreign(t testing.TB, c *powerdns.Client, zone dnsname.Name, put []rr.Set, gone []rr.Key) {
	t.Helper()
	found, err := c.Read(t.Context(), zone, backend.Ask{Keys: []rr.Key{}})
	if err != nil {
		t.Fatal(err)
	}
	batch := backend.Batch{SOA: &found.SOA}
	batch.SOA.Serial++
	for _, set := range put {
		batch.Changes = append(batch.Changes, plan.Change{Key: set.Key(), Want: set})
	}
	for _, key := range gone {
		batch.Changes = append(batch.Changes, plan.Change{Key: key})
	}
	if _, err := c.Apply(t.Context(), zone, batch); err != nil {
		t.Fatal(err)
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		p := serve(t)
		zone := parse(t, "example.org.")
		return backendtest.Harness{
			Zone: zone, Missing: parse(t, "missing.example."),
			Backend:  func() backend.Backend { return client(t, p, p.APIKey) },
			WrongKey: func() backend.Backend { return client(t, p, "wrong") },
			Truth:    func(zone dnsname.Name) (rr.SOA, rr.Sets, bool) { return truth(t, p, zone) },
			Foreign:  func(put []rr.Set, gone []rr.Key) { foreign(t, client(t, p, p.APIKey), zone, put, gone) },
			Stop: func() {
				if err := p.Stop(); err != nil {
					t.Error(err)
				}
			},
			Start: func() {
				if err := p.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
			},
			// PowerDNS has no form for a KEY record without a key (RFC 2535 §3.1.2).
			Bad: func(owner dnsname.Name) rr.Set {
				return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeKEY}, 300, "49152 3 5")
			},
			MaxApplies: 30,
		}
	})
}
