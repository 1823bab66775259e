package bind9

import (
	"fmt"
	"slices"
	"testing"

	"github.com/miekg/dns"

	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestSignedZones has BIND sign a zone. It raises the serial when it does; the engine goes on above it, and lets what BIND
// makes be.
func TestSignedZones(t *testing.T) {
	t.Parallel()
	p, access := startPod(t, named.Primary, false), newGrant()
	c := p.client(access)
	access.settings = Settings{DNSSECPolicy: "default"}
	d := newDesk(t, "example.org.", c)
	for hosts := 2; hosts < 6; hosts++ {
		serial := d.delivered(d.content(hosts))["0"].Serial
		newest := rr.Key{Name: d.name(fmt.Sprintf("host-%06d", hosts-1)), Type: rr.TypeA}
		until(t, "signed", func() bool { return p.signs(newest) })
		soa, sets, _ := p.truth(d.zone)
		if _, there := sets.Get(newest); !there || rr.SerialLess(soa.Serial, serial) {
			t.Errorf("the zone has the serial %d after %d, and %s: %t", soa.Serial, serial, newest, there)
		}
		if _, there := sets.Get(rr.Key{Name: d.zone, Type: rr.TypeDNSKEY}); !there {
			t.Error("the zone's keys are gone")
		}
	}
	access.set(func() { access.settings = Settings{} })
	if changed, err := c.Configure(t.Context(), d.zone); !changed || err != nil {
		t.Errorf("ending the signing: %t, %v", changed, err)
	}
}

// signs reports whether an answer comes with a signature.
func (p *testPod) signs(key rr.Key) bool {
	m := new(dns.Msg)
	m.SetQuestion(key.Name.String(), uint16(key.Type))
	m.SetEdns0(4096, true)
	answer, _, err := new(dns.Client).Exchange(m, p.address().String())
	return err == nil && slices.ContainsFunc(answer.Answer, func(r dns.RR) bool { return r.Header().Rrtype == dns.TypeRRSIG })
}
