package bind9

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestSignedZones has BIND sign a zone, with each kind of denial, while a secondary follows. BIND raises the serial
// when it does; the engine goes on above it, lets what BIND makes be, and comes to rest. A validating resolver believes
// both servers.
func TestSignedZones(t *testing.T) {
	t.Parallel()
	for _, nsec3 := range []bool{false, true} {
		t.Run(fmt.Sprintf("nsec3 %t", nsec3), func(t *testing.T) {
			t.Parallel()
			p := startPodWith(t, named.Options{Role: named.Primary, Signing: named.Signing{Enabled: true, NSEC3: nsec3}}, false)
			second := startPod(t, named.Secondary, false)
			access := newGrant()
			access.settings = Settings{DNSSECPolicy: named.ZonePolicy, AlsoNotify: []netip.AddrPort{second.address()}}
			c, s := p.client(access), second.secondary(newGrant())
			d := newDesk(t, "example.org.", c)
			for hosts := 2; hosts < 6; hosts++ {
				report := d.delivered(d.content(hosts))["0"]
				if report.Foreign != 0 {
					t.Errorf("%d sets are foreign", report.Foreign)
				}
				if hosts == 2 {
					until(t, "signed", func() bool { return signedAt(t, c, d).Whole })
					if !strings.Contains(p.named.Log(), `command 'loadkeys "example.org"'`) {
						t.Error("BIND was not told to look at the keys of the zone, and forgets at times")
					}
					if _, err := s.Follow(t.Context(), d.zone, []netip.AddrPort{p.address()}, transferKey, false); err != nil {
						t.Fatal(err)
					}
				}
				newest := d.name(fmt.Sprintf("host-%06d", hosts-1)).String()
				for _, at := range []*testPod{p, second} {
					for _, name := range []string{newest, d.zone.String(), "none." + d.zone.String()} {
						until(t, "believed for "+name, func() bool { return at.believed(p, name) })
					}
				}
				soa, sets, _ := p.truth(d.zone)
				if _, there := sets.Get(rr.Key{Name: d.zone, Type: rr.TypeDNSKEY}); !there ||
					rr.SerialLess(soa.Serial, report.Serial) {
					t.Errorf("the zone has the serial %d after %d, and keys: %t", soa.Serial, report.Serial, there)
				}
			}
			signed := signedAt(t, c, d)
			if signed.KeyTag == 0 || signed.Algorithm != "ECDSAP256SHA256" || signed.DS != nil {
				t.Errorf("it shows %+v; there are no DS to publish before every resolver can have the keys", signed)
			}
			d.rests(p)
			access.set(func() { access.settings.DNSSECPolicy = named.InsecurePolicy })
			if changed, err := c.Configure(t.Context(), d.zone); !changed || err != nil {
				t.Errorf("ending the signing: %t, %v", changed, err)
			}
			until(t, "without keys", func() bool { return !signedAt(t, c, d).Keys })
			d.delivered(d.content(7))
			d.rests(p)
		})
	}
}

func signedAt(t *testing.T, c *Client, d *desk) backend.Signatures {
	t.Helper()
	s, err := c.Signatures(t.Context(), d.zone)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rests reads the zone back, as an audit does, and complains of a serial that goes on rising.
func (d *desk) rests(p *testPod) {
	d.Helper()
	for range 3 {
		d.engine.Audit(backend.TargetKey{Server: p.place().ID, Zone: d.zone})
	}
	last, since := uint32(0), time.Now()
	until(d, "at rest", func() bool {
		if soa, _, ok := p.truth(d.zone); !ok || soa.Serial != last {
			last, since = soa.Serial, time.Now()
		}
		return time.Since(since) > time.Second
	})
}

// believed has a validating resolver that trusts the keys of a zone ask for a name.
func (p *testPod) believed(signer *testPod, name string) bool {
	p.Helper()
	zone := "example.org."
	m := new(dns.Msg)
	m.SetQuestion(zone, dns.TypeDNSKEY)
	answer, _, err := (&dns.Client{Net: "tcp"}).Exchange(m, signer.address().String())
	if err != nil {
		return false
	}
	i := slices.IndexFunc(answer.Answer, func(r dns.RR) bool {
		k, ok := r.(*dns.DNSKEY)
		return ok && k.Flags&dns.SEP != 0
	})
	if i < 0 {
		return false
	}
	k, _ := answer.Answer[i].(*dns.DNSKEY)
	anchor := filepath.Join(p.TempDir(), "anchor")
	text := fmt.Sprintf("trust-anchors { %q static-key %d %d %d %q; };\n", zone, k.Flags, k.Protocol, k.Algorithm,
		k.PublicKey)
	if err := os.WriteFile(anchor, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
	out, err := exec.Command("delv", "@127.0.0.1", "-p", fmt.Sprint(p.dns), "-a", anchor,
		"+root="+strings.TrimSuffix(zone, "."), name, "A").CombinedOutput()
	if err != nil || strings.Contains(string(out), "unsigned") {
		return false
	}
	return strings.Contains(string(out), "fully validated")
}

// TestAPrimaryThatFollowed takes over a zone of which it was a secondary: it makes it anew.
func TestAPrimaryThatFollowed(t *testing.T) {
	t.Parallel()
	one, two := startPod(t, named.Primary, false), startPod(t, named.Primary, false)
	d := newDesk(t, "example.org.", one.client(newGrant()))
	serial := d.delivered(d.content(3))["0"].Serial
	s := two.secondary(newGrant())
	if _, err := s.Follow(t.Context(), d.zone, []netip.AddrPort{one.address()}, transferKey, false); err != nil {
		t.Fatal(err)
	}
	s.catchesUp(t, d.zone, serial)
	access := newGrant()
	access.settings = Settings{Sole: true}
	c := two.client(access)
	successor := newDesk(t, "example.org.", c)
	successor.delivered(successor.content(3))
	if settings, err := c.settings(t.Context(), d.zone); err != nil || settings.ZoneType != "primary" {
		t.Errorf("it is a %s of the zone, %v", settings.ZoneType, err)
	}
}
