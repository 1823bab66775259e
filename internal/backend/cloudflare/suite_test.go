package cloudflare

import (
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/cloudflare/cloudflaretest"
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

const testID = "0123456789abcdef0123456789abcdef"

func client(t testing.TB, f *cloudflaretest.Server, cfg Config) *Client {
	t.Helper()
	cfg.Endpoint = f.URL + "/client/v4"
	c, err := newClient(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func zoneOf(t testing.TB, f *cloudflaretest.Server, cfg Config) *Zone {
	t.Helper()
	hosted := backend.HostedZone{ID: testID, Name: parse(t, "example.org.")}
	return client(t, f, cfg).Backend(hosted).(*Zone)
}

func TestSuite(t *testing.T) {
	t.Parallel()
	for name, proxied := range map[string]bool{"dns only": false, "proxied": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backendtest.Run(t, func(t *testing.T) backendtest.Harness {
				f := cloudflaretest.Start(t, &cloudflaretest.Zone{ID: testID, Name: "example.org", Account: "a1"})
				f.PageMax = 4000
				setDown := func(down bool) {
					f.Lock()
					defer f.Unlock()
					f.Down = down
				}
				return backendtest.Harness{
					Zone: parse(t, "example.org."), Missing: parse(t, "missing.example."),
					Backend:  func() backend.Backend { return zoneOf(t, f, Config{Token: cloudflaretest.Token, Proxied: proxied}) },
					WrongKey: func() backend.Backend { return zoneOf(t, f, Config{Token: "wrong"}) },
					Truth: func(zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
						return rr.SOA{}, f.Truth(t, f.Zones[0]), zone == parse(t, "example.org.")
					},
					Foreign: func(put []rr.Set, gone []rr.Key) { f.Foreign(t, put, gone) },
					Stop:    func() { setDown(true) },
					Start:   func() { setDown(false) },
					// Longer than the service takes in a TXT record.
					Bad: func(owner dnsname.Name) rr.Set {
						return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeTXT}, 300, rr.Text(strings.Repeat("x", 2500)))
					},
					MaxSet: 0, MaxApplies: 110,
				}
			})
		})
	}
}
