package googleclouddns

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/googleclouddns/clouddnstest"
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

func client(t testing.TB, f *clouddnstest.Server, document string) *Client {
	t.Helper()
	c, err := newClient(Config{ServiceAccount: document, Endpoint: f.URL, TokenEndpoint: f.URL + "/token"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func zoneOf(t testing.TB, f *clouddnstest.Server, document string) *Zone {
	t.Helper()
	return client(t, f, document).Backend(backend.HostedZone{ID: clouddnstest.Project + "/example-org", Name: parse(t,
		"example.org.")}).(*Zone)
}

func serve(t testing.TB) *clouddnstest.Server {
	return clouddnstest.Start(t, &dns.ManagedZone{Name: "example-org", DnsName: "example.org.", Visibility: "public"})
}

// foreign changes a zone by the service's own tool.
func foreign(t testing.TB, f *clouddnstest.Server, put []rr.Set, gone []rr.Key) {
	f.Lock()
	defer f.Unlock()
	var change dns.Change
	for _, set := range put {
		s, err := toSet(set)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(s)
		s = &dns.ResourceRecordSet{}
		_ = json.Unmarshal(b, s)
		change.Additions = append(change.Additions, s)
		gone = append(gone, set.Key())
	}
	for _, key := range gone {
		if there := f.Sets["example-org"][key.String()]; there != nil {
			change.Deletions = append(change.Deletions, there)
		}
	}
	if status, _, why := f.CarryOut(f.Zones[0], f.Sets["example-org"], &change); status != 0 &&
		why != "The 'entity.change' is empty." {
		t.Error(why)
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	for _, async := range []int{0, 2} {
		t.Run(fmt.Sprintf("asked %d times", async), func(t *testing.T) {
			t.Parallel()
			backendtest.Run(t, func(t *testing.T) backendtest.Harness {
				f := serve(t)
				f.Async, f.PageMax = async, 500
				wrong, err := rsa.GenerateKey(rand.Reader, 1024)
				if err != nil {
					t.Fatal(err)
				}
				setDown := func(down bool) {
					f.Lock()
					defer f.Unlock()
					f.Down = down
				}
				return backendtest.Harness{
					Zone: parse(t, "example.org."), Missing: parse(t, "missing.example."),
					Backend:  func() backend.Backend { return zoneOf(t, f, f.Document) },
					WrongKey: func() backend.Backend { return zoneOf(t, f, clouddnstest.Document(wrong, nil)) },
					Truth: func(zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
						return rr.SOA{}, f.Truth(t, "example-org"), zone == parse(t, "example.org.")
					},
					Foreign: func(put []rr.Set, gone []rr.Key) { foreign(t, f, put, gone) },
					Stop:    func() { setDown(true) },
					Start:   func() { setDown(false) },
					// Longer than the service takes in a TXT record.
					Bad: func(owner dnsname.Name) rr.Set {
						return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeTXT}, 300, rr.Text(strings.Repeat("x", 5000)))
					},
					MaxSet: 100, MaxApplies: 30,
				}
			})
		})
	}
}
