package route53

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/dnsname"
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

func serve(t testing.TB, o route53test.Options) *route53test.Server {
	t.Helper()
	if o.Now == nil {
		o.Now = time.Now
	}
	s, err := route53test.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

func access(s *route53test.Server, u *route53test.User) Config {
	return Config{AccessKeyID: u.AccessKeyID, SecretAccessKey: u.SecretAccessKey, Region: DefaultRegion, Endpoint: s.URL}
}

// client is one that does not wait for the service's rate.
func client(t testing.TB, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.limit.SetLimit(rate.Inf)
	return c
}

func hosted(t testing.TB, c *Client, id string) *Zone {
	t.Helper()
	z, err := c.HostedZone(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c.Backend(z).(*Zone)
}

// truth is what the server has, read as this test understands it.
func truth(t testing.TB, s *route53test.Server, id string) (soa rr.SOA, sets rr.Sets, ok bool) {
	t.Helper()
	stored, ok := s.Sets(id)
	txn := rr.Sets{}.Txn()
	for _, set := range stored {
		kind, err := rr.ParseType(set.Type)
		if err != nil {
			t.Fatal(err)
		}
		if set.AliasTarget != nil || set.SetIdentifier != "" {
			continue
		}
		key := rr.Key{Name: parse(t, hear(set.Name)), Type: kind}
		var data []string
		for _, value := range set.Records {
			d, err := rr.ParseData(kind, hear(value))
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			data = append(data, d)
		}
		found := rr.NewSet(key, uint32(*set.TTL), data...)
		if kind == rr.TypeSOA {
			if soa, err = rr.ParseSOA(found.Data[0]); err != nil {
				t.Fatal(err)
			}
			soa.TTL = found.TTL
			continue
		}
		txn.Put(found)
	}
	return soa, txn.Sets(), ok
}

// toStored is a set as another client would store it.
func toStored(set rr.Set) route53test.Set {
	ttl := int64(set.TTL)
	out := route53test.Set{Name: say(set.Name.String()), Type: set.Type.String(), TTL: &ttl}
	for _, data := range set.Data {
		out.Records = append(out.Records, say(data))
	}
	return out
}

func TestSuite(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		s := serve(t, route53test.Options{Delay: 150 * time.Millisecond, Sets: 50_000})
		account := s.NewAccount()
		user := account.NewUser("zonefold")
		id, name := account.AddZone("example.org", false), parse(t, "example.org.")
		reach := func(cfg Config) backend.Backend {
			return client(t, cfg).Backend(backend.HostedZone{ID: id, Name: name})
		}
		wrong := access(s, user)
		wrong.SecretAccessKey = "wrong"
		return backendtest.Harness{
			Zone: name, Missing: parse(t, "missing.example."),
			Backend:  func() backend.Backend { return reach(access(s, user)) },
			WrongKey: func() backend.Backend { return reach(wrong) },
			Truth: func(zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
				if zone != name {
					return rr.SOA{}, rr.Sets{}, false
				}
				return truth(t, s, id)
			},
			Foreign: func(put []rr.Set, gone []rr.Key) {
				for _, set := range put {
					s.Put(id, toStored(set))
				}
				for _, key := range gone {
					s.Drop(id, say(key.Name.String()), key.Type.String())
				}
			},
			Stop: func() { _ = s.Stop() },
			Start: func() {
				if err := s.Resume(t.Context()); err != nil {
					t.Fatal(err)
				}
			},
			// The service has no value of more than 4,000 characters.
			Bad: func(owner dnsname.Name) rr.Set {
				text := `"` + strings.Repeat("a", 250) + `"`
				return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeTXT}, 300, strings.TrimSpace(strings.Repeat(text+" ", 20)))
			},
			MaxSet: maxSetSize, MaxApplies: 60,
		}
	})
}
