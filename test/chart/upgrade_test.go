package chart_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// The key of the BIND that everything but embedded zones is delivered to.
const (
	keyName   = "zonefold"
	keySecret = "c2VjcmV0IGZvciB0ZXN0cyBvbmx5"
)

// upgraded are objects that people have while they upgrade: of a BIND, of the operators' own name servers, and of a
// server of the webhook protocol.
const upgraded = `
{apiVersion: v1, kind: Namespace, metadata: {name: names}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: team}}
---
{apiVersion: v1, kind: Secret, metadata: {name: tsig, namespace: zonefold-system}, stringData: {key: %[2]s}}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: bind}
spec: {rfc2136: {servers: ["%[1]s"], tsig: {keyName: zonefold, secretRef: {name: tsig}}}}
---
{apiVersion: zonefold.dev/v1alpha1, kind: Backend, metadata: {name: own}, spec: {embedded: {}}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: org, namespace: names}
spec:
  domainName: example.org.
  backendRefs: [{name: bind}]
  delegations: [{namespace: names, records: [{pattern: "*"}]}, {namespace: team, records: [{pattern: "*.team"}]}]
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: net, namespace: names}
spec: {domainName: example.net., backendRefs: [{name: own}], delegations: [{records: [{pattern: "*"}]}]}
---
` + record + `
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: mail, namespace: names}
spec: {domainName: mail.example.org., type: MX, rdata: 10 mx.example.com.}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: shop, namespace: team}
spec: {domainName: shop.team.example.org., type: CNAME, rdata: www.example.com.}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www, namespace: team}
spec: {domainName: www.example.net., type: AAAA, rdata: "2001:db8::1"}
---
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata: {name: hook}
spec: {server: "%[3]s", allowed: [{namespaces: [team], names: ["*.example.com"]}]}
---
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSRecord
metadata: {name: www, namespace: team}
spec: {type: A, domain: example.com, subdomain: www, dnsClassRef: {name: hook}, values: [192.0.2.4, 192.0.2.5]}
`

// record is one of which tests change the address.
const record = `
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: moving, namespace: names}
spec: {domainName: moving.example.org., type: A, rdata: 192.0.2.1}
`

// isNew is what only the newer chart knows: fields of objects that were there, and objects that need them.
const isNew = `
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: own}
spec: {embedded: {update: [{keyName: zonefold, namespace: team, secretRef: {name: tsig}}]}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: reverse, namespace: names}
spec: {domainName: 8.b.d.0.1.0.0.2.ip6.arpa., backendRefs: [{name: own}], reverse: {from: [team]}}
`

// TestAnUpgradeLosesNoAnswer goes from the chart, the definitions and the operators that people have to those of today,
// and back, while a resolver asks.
func TestAnUpgradeLosesNoAnswer(t *testing.T) {
	s := newSite(t)
	tree, err := testoperator.FormerTree(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	former, err := testoperator.BuildFormer(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	today, err := testoperator.Build(s.ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.ctx, 5*time.Minute)
	defer cancel()
	s.ctx = ctx
	values := []string{"-n", namespace, "--set", "dialects.homelab=true,admission.enabled=false",
		"--take-ownership", "--force-conflicts"} // of definitions, which there are already, and of what other tests have left
	s.helm(append([]string{"install", "zonefold", filepath.Join(tree, "charts/zonefold"), "--create-namespace"},
		values...)...)
	bind := s.bind("example.org.", "example.com.")
	s.apply(fmt.Sprintf(upgraded, bind.Addr(), keySecret, s.hook(bind)))

	own, others := asked(bind)
	r := newRoll(s, own)
	r.add(former)
	r.add(former)
	s.settled(own, others)
	end := resolve(t, own, others)
	defer end()

	before, serial := s.updates(bind), s.serial()
	s.helm(append([]string{"upgrade", "zonefold", "charts/zonefold"}, values...)...)
	r.replace(today, true)
	s.moves(bind, "192.0.2.2")
	if after := s.updates(bind); after != before+1 || s.serial() != serial {
		t.Errorf("an upgrade and a change are %d updates, and %s became %s", after-before, serial, s.serial())
	}

	s.apply(isNew)
	address := "1." + strings.Repeat("0.", 23) + "8.b.d.0.1.0.0.2.ip6.arpa. PTR"
	s.eventually("what is new", func() string {
		if got := ask(&own.how, r.pods[0].Addr(), address); got != "www.example.net." {
			return got
		}
		return ""
	})
	objects := s.objects()
	s.helm("rollback", "zonefold", "1", "-n", namespace)
	r.replace(former, false)
	s.moves(bind, "192.0.2.3")
	if left := s.objects(); left != objects {
		t.Errorf("after going back there are\n%s\nand there were\n%s", left, objects)
	}
	end()
	s.withdraw(r)
}

// asked are the questions of the resolver, at the operators' own name servers and at a BIND.
func asked(bind *nameserver.Server) (own, others *answers) {
	how := dns.Client{Timeout: 5 * time.Second}
	own = &answers{how: how, want: map[string]string{"www.example.net. AAAA": "2001:db8::1"}}
	others = &answers{how: how, at: []string{bind.Addr()}, want: map[string]string{
		"mail.example.org. MX": "10 mx.example.com.", "shop.team.example.org. CNAME": "www.example.com.",
		"www.example.com. A": "192.0.2.4, 192.0.2.5"}}
	return own, others
}

// bind starts a BIND with empty zones.
func (s *site) bind(zones ...string) *nameserver.Server {
	s.t.Helper()
	o := nameserver.Options{Dir: s.t.TempDir(), Keys: []nameserver.TSIG{{Name: name(s.t, keyName+"."),
		Algorithm: "hmac-sha256", Secret: keySecret}}}
	for _, z := range zones {
		o.Zones = append(o.Zones, nameserver.Zone{Name: name(s.t, z)})
	}
	server, err := nameserver.StartBIND(s.ctx, o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(server.Close)
	return server
}

func name(t *testing.T, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// hook starts a server of the webhook protocol for example.com on a BIND, and returns its address.
func (s *site) hook(bind *nameserver.Server) string {
	s.t.Helper()
	dir := s.t.TempDir()
	program, err := testoperator.BuildHook(s.ctx, dir)
	if err != nil {
		s.t.Fatal(err)
	}
	secret := filepath.Join(dir, "tsig")
	if err := os.WriteFile(secret, []byte(keySecret), 0o600); err != nil {
		s.t.Fatal(err)
	}
	h, err := testoperator.StartHook(program, nil, "--zone", "example.com", "--rfc2136", bind.Addr(), "--tsig-name",
		keyName, "--tsig-secret-file", secret, "--unsigned")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(h.Stop)
	return h.URL
}

func (s *site) apply(manifest string) {
	s.t.Helper()
	if out, err := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(manifest), "apply", "-f", "-"); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

// settled waits until everything is answered, and all objects say so.
func (s *site) settled(all ...*answers) {
	s.t.Helper()
	s.eventually("what was applied", func() string {
		for _, a := range all {
			if _, err := a.wrong(); err != nil {
				return err.Error()
			}
		}
		return ""
	})
	s.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "-A", "--all", "zones.kubi.zone,records.kubi.zone")
	s.kubectl("wait", "--for=condition=Ready", "--timeout=60s", "-A", "--all", "dnsrecords.dns.homelab.mortenolsen.pro")
}

// moves gives a Record another address, and waits until that is answered.
func (s *site) moves(bind *nameserver.Server, address string) {
	s.t.Helper()
	s.apply(strings.Replace(record, "192.0.2.1", address, 1))
	c := dns.Client{Timeout: 5 * time.Second}
	s.eventually("a change", func() string {
		if got := ask(&c, bind.Addr(), "moving.example.org. A"); got != address {
			return got
		}
		return ""
	})
}

// updates are how many updates a server has received.
func (s *site) updates(bind *nameserver.Server) int {
	s.t.Helper()
	n, err := bind.Updates(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// serial is that of a zone in which nothing changes.
func (s *site) serial() string {
	s.t.Helper()
	return s.kubectl("get", "zones.kubi.zone/net", "-n", "names", "-o", "jsonpath={.status.serial}")
}

// objects are the names of all of ours.
func (s *site) objects() string {
	s.t.Helper()
	return s.kubectl("get", "-A", "-o", `jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\n"}{end}`,
		"zones.kubi.zone,records.kubi.zone,backends.zonefold.dev,dnsclasses.dns.homelab.mortenolsen.pro,"+
			"dnsrecords.dns.homelab.mortenolsen.pro")
}

// withdraw deletes all objects, which the operators let go.
func (s *site) withdraw(r *roll) {
	s.t.Helper()
	for _, kind := range []string{"dnsrecords.dns.homelab.mortenolsen.pro", "records.kubi.zone", "zones.kubi.zone"} {
		s.kubectl("delete", kind, "-A", "--all", "--timeout=60s")
	}
	s.kubectl("delete", "dnsclasses.dns.homelab.mortenolsen.pro,backends.zonefold.dev", "--all", "--timeout=60s")
	for len(r.pods) > 0 {
		r.end(r.pods[0])
	}
	s.helm("uninstall", "zonefold", "-n", namespace)
}
