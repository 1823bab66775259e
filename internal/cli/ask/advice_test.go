package ask

import (
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestAdviceAboutServers(t *testing.T) {
	const waits = "Wait for the server 192.0.2.53:53, which answers differently; if that persists, look at the status " +
		"of Zone dns/org."
	for _, c := range []struct {
		name   string
		server explained.Server
		want   string
	}{
		{"it answers as wanted", explained.Server{Answers: []string{"192.0.2.1"}}, "Nothing."},
		{"it has another address", explained.Server{Answers: []string{"192.0.2.2"}}, waits},
		{"it does not have the type", explained.Server{Answers: []string{}}, waits},
		{"it does not have the name, which is no error of its", explained.Server{Answers: []string{}, Error: "NXDOMAIN"},
			waits},
		{"it does not serve the zone", explained.Server{Answers: []string{}, Error: "REFUSED"},
			"Look at Backend bind: REFUSED"},
		{"it does not answer", explained.Server{Error: "i/o timeout"}, "Look at Backend bind: i/o timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.server.Backend, c.server.Server = "bind", "192.0.2.53:53"
			e := &explanation{key: rr.Key{Type: rr.TypeA}, serving: &fold.ZoneResult{
				Object: &manifest.Object{Ref: manifest.Ref{Kind: manifest.Zone, Namespace: "dns", Name: "org"}}}}
			e.Data, e.Servers = []string{"192.0.2.1"}, []explained.Server{c.server}
			if got := e.followUp(); got != c.want {
				t.Errorf("the advice is %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnswersAreToldAsObjectsHaveTheirData(t *testing.T) {
	for _, c := range []struct{ name, record, want string }{
		{"digits are in upper case", "example.org. 60 IN TLSA 3 1 1 0d6fce3a", "3 1 1 0D6FCE3A"},
		{"one of another type says which", "example.org. 60 IN CNAME Web.Example.NET.", "CNAME web.example.net."},
		{"one of another class is as it is", "example.org. 60 CH TXT a", `TXT "a"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			record, err := dns.NewRR(c.record)
			if err != nil {
				t.Fatal(err)
			}
			if got := dataOf(record, rr.TypeTLSA); got != c.want {
				t.Errorf("%s is told as %s, want %s", c.record, got, c.want)
			}
		})
	}
}

func TestWhyAnObjectIsNotServedItsStatusSays(t *testing.T) {
	const status = `, metadata: {name: a, namespace: dns, generation: 2}, status: {conditions: [{type: Ready, status: "False",
  reason: Away, message: It is away., observedGeneration: 2, lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`
	for _, c := range []struct{ name, object, want string }{
		{"of a DNSZone", "{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone", "DNSZone dns/a"},
		{"of a record of bindy", "{apiVersion: bindy.firestoned.io/v1beta1, kind: ARecord", "ARecord dns/a"},
		{"of a DNSRecord", "{apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSRecord", "DNSRecord dns/a"},
		{"of a DNSClass", "{apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSClass", "DNSClass a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := []byte(c.object + status)
			in, err := manifest.Read(manifest.Options{Texts: []manifest.Text{{Name: "it", Text: text}}})
			if err != nil || len(in.Objects) != 1 {
				t.Fatalf("%v: %d objects", err, len(in.Objects))
			}
			x := &Explainer{Found: &command.Found{Input: in, Cluster: true}}
			if got := x.unserved(fold.IdOf(in.Objects[0].Ref)); got != c.want+" is not served (Away): It is away." {
				t.Errorf("it says %q", got)
			}
		})
	}
}
