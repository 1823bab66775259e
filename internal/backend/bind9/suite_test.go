package bind9

import (
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// make makes a zone with a SOA of serial 1 and a name server.
func (p *testPod) make(c *Client, zone dnsname.Name) {
	p.Helper()
	host := parse(p, "localhost.")
	soa := rr.SOA{MName: host, RName: parse(p, "hostmaster.localhost."), Serial: 1, Refresh: 3600, Retry: 600,
		Expire: 604800, Minimum: 300, TTL: 300}
	if _, err := c.Apply(p.Context(), zone, backend.Batch{Create: true, Last: true, SOA: &soa}); err != nil {
		p.Fatal(err)
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		p := startPod(t, named.Primary, true)
		zone := parse(t, "example.org.")
		p.make(p.client(newGrant()), zone)
		wrong := newGrant()
		wrong.update.Secret, wrong.transfer.Secret = testKey("other").Secret, testKey("other").Secret
		return backendtest.Harness{
			Zone: zone, Missing: parse(t, "missing.example."),
			Backend:  func() backend.Backend { return p.client(newGrant()) },
			WrongKey: func() backend.Backend { return p.client(wrong) },
			Truth:    p.truth,
			Foreign:  func(put []rr.Set, gone []rr.Key) { p.foreign(zone, put, gone) },
			Stop:     p.stop, Start: p.start,
			// Pods take any name; these refuse what is no host name, or there would be nothing that BIND alone refuses.
			Bad: func(owner dnsname.Name) rr.Set {
				return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeMX}, 300, "10 under_score."+strings.TrimPrefix(owner.String(),
					"*."))
			},
			MaxSet: maxSet, MaxApplies: 30,
		}
	})
}
