package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	api "github.com/zonefold/zonefold/api/inspect/v1alpha1"
)

// ownZone is a zone of tenant a, whose Backends no tenant may read: at BIND, beside others, and at the operator.
const ownZone = `---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: here}
spec: {embedded: {}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: own, namespace: a}
spec: {domainName: own.example., backendRefs: [{name: up}, {name: here}],
  delegations: [{namespaces: [a], records: [{pattern: "*"}]}]}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: own, namespace: a}
spec: {domainName: www.own.example., type: A, rdata: 192.0.2.7, ttl: 60}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: DNSZone
metadata: {name: fleet, namespace: a}
spec: {zoneName: fleet.example, soa: {primaryNameServer: ns.example.net, adminEmail: admin@example.net}}
`

func differencePath(namespace, name string) string {
	return api.Path(namespace, "zones", name) + "/" + api.Difference
}

// compares has a tenant compare its zone: somebody else changes what BIND holds.
func (s *site) compares(t *testing.T) {
	s.await("the zone is at both servers as it is wanted", func() error {
		out, code := s.command("a", "diff", "own.example", "-n", "a")
		if want := "2 zones compared, 0 with differences"; code != 0 || !strings.Contains(out, want) {
			return errors.New(out)
		}
		return nil
	})
	s.others("www.own.example. 60 IN A 192.0.2.99", "theirs.own.example. 60 IN A 192.0.2.98")
	out, code := s.command("a", "diff", "own.example", "-n", "a")
	for _, want := range []string{
		"own.example. (Zone a/own) at Backend here Sync, embedded here, serial ",
		"own.example. (Zone a/own) at Backend up Sync, dns " + s.bind.Addr() + ", serial ",
		"\n  - www.own.example. 60 IN A 192.0.2.99\n  + www.own.example. 60 IN A 192.0.2.7\n",
		"\n  = theirs.own.example. 60 IN A 192.0.2.98\n",
		"\n2 zones compared, 1 with differences: 0 sets to add, 1 to change, 0 to delete; 1 foreign set would stay.\n",
	} {
		if code != 2 || !strings.Contains(out, want) {
			t.Errorf("diff ends with %d, and does not say %q:\n%s", code, want, out)
		}
	}
	var said struct {
		Zones []struct {
			Backend, Mode string
			Serial        int64
			Changes       []struct{ Name, Type string }
		}
	}
	text, _ := s.command("a", "diff", "own.example", "-n", "a", "-o", "json")
	text, _, _ = strings.Cut(text, "\n}\n")
	if err := json.Unmarshal([]byte(text+"}"), &said); err != nil || len(said.Zones) != 2 ||
		said.Zones[0].Backend != "up" || len(said.Zones[0].Changes) != 1 || said.Zones[1].Backend != "here" ||
		said.Zones[1].Serial == 0 || said.Zones[1].Mode != "Sync" || len(said.Zones[1].Changes) != 0 {
		t.Errorf("as JSON it says %+v, %v:\n%s", said, err, text)
	}
	s.await("of a DNSZone that no server has yet it is said that there is none", func() error {
		out, code := s.command("a", "diff", "fleet.example", "-n", "a")
		want := "which the operator could read for you, but it does not deliver the zone there yet; or name a server"
		if code != 1 || !strings.Contains(out, want) {
			return errors.New(out)
		}
		return nil
	})
	if out, err := s.raw("b", differencePath("a", "own")); err == nil ||
		!strings.Contains(err.Error(), `cannot get resource "zones" in API group "kubi.zone" in the namespace "a"`) {
		t.Errorf("tenant b gets %s, %v", out, err)
	}
	if out, err := s.raw("a", recordPath("a", "www")+"/"+api.Difference); err == nil ||
		!strings.Contains(err.Error(), "not found") {
		t.Errorf("of a record there is %s, %v", out, err)
	}
}

// others writes at BIND as somebody else.
func (s *site) others(sets ...string) {
	s.t.Helper()
	m := new(dns.Msg)
	m.SetUpdate("own.example.")
	for _, text := range sets {
		record, err := dns.NewRR(text)
		s.must(err)
		m.RemoveRRset([]dns.RR{record})
		m.Insert([]dns.RR{record})
	}
	m.SetTsig(tsig.Name.String(), dns.HmacSHA256, 300, time.Now().Unix())
	answer, _, err := (&dns.Client{Net: "tcp", TsigSecret: map[string]string{tsig.Name.String(): tsig.Secret}}).Exchange(m,
		s.bind.Addr())
	if err == nil && answer.Rcode != dns.RcodeSuccess {
		err = fmt.Errorf("it answers %s", dns.RcodeToString[answer.Rcode])
	}
	s.must(err)
}
