package scenario

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/backend/cloudflare/cloudflaretest"
	"github.com/zonefold/zonefold/internal/backend/extdns/extdnstest"
	"github.com/zonefold/zonefold/internal/backend/googleclouddns/clouddnstest"
	"github.com/zonefold/zonefold/internal/rr"
)

// A service hosts the zone example.org, in which somebody else has other.example.org, and is what Backend b of a scene
// is about.
type service struct {
	name    string
	start   func(s *scene) hosted
	without string // record that it does not hold
	why     string
}

// hosted is a service that runs.
type hosted struct {
	provider string // of the Backend, without its Secret
	key      string // of the Secret
	right    string // its value
	wrong    string // another one, which the service does not know
	truth    func() rr.Sets
}

// services are those that have a server in this repository.
func services(t *testing.T) []service {
	return []service{
		{
			name: "Cloudflare", without: "DNAME, rdata: x.example.net.", why: "has no DNAME records",
			start: func(s *scene) hosted {
				zone := &cloudflaretest.Zone{ID: "0123456789abcdef0123456789abcdef", Name: s.text("example.org"), Account: "a"}
				server := cloudflaretest.Start(t, zone)
				server.Foreign(t, []rr.Set{s.other()}, nil)
				return hosted{
					provider: fmt.Sprintf("type: cloudflare-dns, config: {endpoint: %q}", server.URL+"/client/v4"),
					key:      "CLOUDFLARE_API_TOKEN",
					right:    cloudflaretest.Token, wrong: "another-token", truth: func() rr.Sets { return server.Truth(t, zone) },
				}
			},
		},
		{
			name: "Google Cloud DNS", without: "LOC, rdata: 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m",
			why: "has no LOC records",
			start: func(s *scene) hosted {
				server := clouddnstest.Start(t, &dns.ManagedZone{Name: "z", DnsName: s.text("example.org."), Visibility: "public"})
				server.Async = 2
				o := s.other()
				server.Sets["z"][o.Key().String()] = &dns.ResourceRecordSet{Name: o.Name.String(), Type: "A", Ttl: int64(o.TTL),
					Rrdatas: o.Data}
				wrong := clouddnstest.Document(clouddnstest.NewKey(), func(d map[string]string) {
					d["project_id"] = "not-my-project"
				})
				return hosted{
					provider: fmt.Sprintf("type: google-clouddns, config: {endpoint: %q, tokenEndpoint: %q}", server.URL, server.URL+
						"/token"),
					key: "serviceaccount.json", right: server.Document, wrong: wrong, truth: func() rr.Sets {
						return server.Truth(t, "z")
					},
				}
			},
		},
		{
			name: "a webhook provider of external-dns", without: `CAA, rdata: 0 issue "ca.example.net"`,
			why: "does not have the set",
			start: func(s *scene) hosted {
				server := extdnstest.Start(t, s.text("example.org"))
				server.Header, server.Drops = "Authorization: Bearer t0ken", []string{"CAA"}
				o := s.other()
				server.Sets = append(server.Sets, extdnstest.Endpoint{DNSName: s.text("other.example.org"), RecordType: "A",
					RecordTTL: int64(o.TTL), Targets: o.Data})
				return hosted{
					provider: fmt.Sprintf("type: external-dns-webhook, config: {url: %q}", server.URL+"/p"), key: "token",
					right: "t0ken", wrong: "t1ken", truth: func() rr.Sets { return server.Truth(t, name(s.text("example.org."))) },
				}
			},
		},
	}
}

// other is what somebody else has.
func (s *scene) other() rr.Set {
	return rr.NewSet(rr.Key{Name: name(s.text("other.example.org.")), Type: rr.TypeA}, 300, "192.0.2.99")
}

// holds waits until a service has the data of a set, or none.
func (s *scene) holds(h hosted, owner string, kind rr.Type, want ...string) {
	s.t.Helper()
	s.eventually(owner+" "+kind.String()+" at the service", func() string {
		got, _ := h.truth().Get(rr.Key{Name: name(s.text(owner)), Type: kind})
		if !slices.Equal(got.Data, want) {
			return fmt.Sprintf("it is %q, not %q", got.Data, want)
		}
		return ""
	})
}

// livesIn is a scene of a Zone in a service.
func (v service) livesIn(s *scene) {
	h := v.start(s)
	s.credentials("key", h.key, h.wrong)
	s.apply(fmt.Sprintf("backend b: {provider: {secretRef: {name: ~key}, %s}}", h.provider))
	s.apply(www("b"))
	s.cond("backend b", "Ready", "False NotAuthorised")
	s.cond("zone a/org", "Served", "False BackendNotReady")
	s.credentials("key", h.key, h.right)
	s.ready("zone a/org", "record a/www", "backend b")
	s.holds(h, "www.example.org.", rr.TypeA, "192.0.2.1")
	s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
	s.apply(`record a/text: {domainName: "*.wild.example.org.", type: TXT, rdata: '"a; b"'}`)
	s.apply(fmt.Sprintf(`record a/not: {domainName: not.example.org., type: %s}`, v.without))
	s.holds(h, "www.example.org.", rr.TypeA, "192.0.2.2")
	s.holds(h, "*.wild.example.org.", rr.TypeTXT, `"a; b"`)
	s.cond("record a/not", "Served", "False Rejected", v.why)
	s.ready("record a/www", "record a/text")
	before := s.get("backend b").GetResourceVersion()
	s.op.Stop()
	s.start()
	s.remove("record a/www")
	s.holds(h, "www.example.org.", rr.TypeA)
	if after := s.get("backend b").GetResourceVersion(); after != before {
		s.t.Errorf("a restart wrote to the Backend: its version is %s and was %s", after, before)
	}
	s.remove("zone a/org")
	s.gone("zone a/org")
	s.holds(h, "*.wild.example.org.", rr.TypeTXT)
	s.holds(h, "other.example.org.", rr.TypeA, "192.0.2.99")
}
