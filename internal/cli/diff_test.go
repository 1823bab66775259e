package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
)

// diffZone is what the servers hold: one set as wanted, one with another TTL, one of an external-dns, one that nobody
// wants.
const diffZone = `example.org. 300 IN SOA ns1.example.org. hostmaster.example.org. 7 7200 900 1209600 300
example.org. 3600 IN NS ns1.example.org.
ns1.example.org. 300 IN A 192.0.2.53
same.example.org. 300 IN A 192.0.2.1
ttl.example.org. 60 IN A 192.0.2.2
old.example.org. 60 IN A 192.0.2.3
dns.example.org. 60 IN A 192.0.2.4
a-dns.example.org. 60 IN TXT "heritage=external-dns,external-dns/owner=prod"
`

// diffObjects are what is wanted.
const diffObjects = `apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: example, namespace: dns}
spec:
  domainName: example.org.
  ttl: 300
  refresh: 7200
  retry: 900
  expire: 1209600
  negativeResponseCache: 300
  mname: ns1.example.org.
  delegations: [{namespaces: [dns], records: [{pattern: "*"}]}]
  backendRefs: [{name: bind}, {name: powerdns}]
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: same, namespace: dns}
spec: {domainName: same.example.org., type: A, rdata: 192.0.2.1}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: ttl, namespace: dns}
spec: {domainName: ttl.example.org., type: A, rdata: 192.0.2.2}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: new, namespace: dns}
spec: {domainName: new.example.org., type: A, rdata: 192.0.2.5}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: dns, namespace: dns}
spec: {domainName: dns.example.org., type: A, rdata: 192.0.2.6}
`

type diffResult struct {
	Zones []struct {
		FQDN, Backend, Server, Error string
		Missing                      bool
		Serial                       *uint32
		Changes                      []struct {
			Name, Type string
			Old, New   []string
		}
		Refused []struct{ Name, Type, Reason string }
		Foreign []struct{ Name, Type, Owner string }
	}
}

// told is what a comparison says, a line each.
func (d diffResult) told(backend string) []string {
	var out []string
	for _, z := range d.Zones {
		if z.Backend != backend {
			continue
		}
		for _, c := range z.Changes {
			out = append(out, strings.Join([]string{"change", c.Name, c.Type, strings.Join(c.Old, ","), ">",
				strings.Join(c.New, ",")}, " "))
		}
		for _, r := range z.Refused {
			out = append(out, "refused "+r.Name+" "+r.Type)
		}
		for _, f := range z.Foreign {
			out = append(out, strings.TrimSpace("foreign "+f.Name+" "+f.Type+" "+f.Owner))
		}
	}
	return out
}

// TestServersAreComparedWithWhatIsWanted compares with BIND, where foreign sets stay and an external-dns has some, and
// with PowerDNS, where zonefold owns all, by their Backends; and with BIND by transfer.
func TestServersAreComparedWithWhatIsWanted(t *testing.T) {
	bind, pdns := bothServers(t, "example.org.", diffZone)
	folder := t.TempDir()
	backends := strings.NewReplacer("spec: {rfc2136:", "spec: {mode: Observe, registries: [{}], rfc2136:",
		"spec: {powerdns:", "spec: {mode: Observe, foreign: Delete, powerdns:").Replace(backendObjects(bind.Addr(), pdns))
	write := func(file, text string) string {
		path := filepath.Join(folder, file)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	objects := write("objects.yaml", diffObjects+"---\n"+backends)
	key := write("key", "hmac-sha256:import-key:"+keySecret+"\n")

	diff := func(t *testing.T, want int, args ...string) (d diffResult, said string) {
		t.Helper()
		code, out, said := run(t, append([]string{"diff", "-f", objects, "-o", "json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &d); code != want || err != nil || strings.Contains(out+said, keySecret) {
			t.Fatalf("it exits with %d and says %s: %v\n%s", code, said, err, out)
		}
		return d, said
	}
	shared := []string{
		"change example.org. NS ns1.example.org. > ",
		"change new.example.org. A  > 192.0.2.5",
		"change ttl.example.org. A 192.0.2.2 > 192.0.2.2",
	}
	foreign := []string{"foreign a-dns.example.org. TXT prod", "foreign ns1.example.org. A", "foreign old.example.org. A"}
	all := []string{shared[0],
		"change a-dns.example.org. TXT \"heritage=external-dns,external-dns/owner=prod\" > ",
		"change dns.example.org. A 192.0.2.4 > 192.0.2.6", shared[1], "change ns1.example.org. A 192.0.2.53 > ",
		"change old.example.org. A 192.0.2.3 > ", shared[2]}
	d, _ := diff(t, 2)
	if got, want := d.told("bind"), append(append(shared[1:], "refused dns.example.org. A"), foreign...); cmp.Diff(want,
		got) != "" {
		t.Errorf("at BIND (-want +got):\n%s", cmp.Diff(want, got))
	}
	if got, want := d.told("powerdns"), all; cmp.Diff(want, got) != "" {
		t.Errorf("at PowerDNS (-want +got):\n%s", cmp.Diff(want, got))
	}
	d, _ = diff(t, 2, "--server", bind.Addr(), "--tsig", key)
	// BIND keeps the last name server of a zone, and so what it needs.
	want := slices.Concat(all[1:4], all[5:], []string{"foreign ns1.example.org. A"})
	if difference := cmp.Diff(want, d.told("")); difference != "" {
		t.Errorf("transferred from BIND (-want +got):\n%s", difference)
	}
	if serial := d.Zones[0].Serial; serial == nil || *serial != 7 {
		t.Errorf("the serial is %v", serial)
	}
	t.Run("in words", func(t *testing.T) { differsInWords(t, objects, bind.Addr()) })
	t.Run("trouble", func(t *testing.T) { comparesNothing(t, objects, bind.Addr()) })
}

// differsInWords compares with what people are shown.
func differsInWords(t *testing.T, objects, addr string) {
	const want = `example.org. (Zone dns/example) at Backend bind Observe, dns ADDR, serial 7
  + new.example.org. 300 IN A 192.0.2.5
  - ttl.example.org. 60 IN A 192.0.2.2
  + ttl.example.org. 300 IN A 192.0.2.2
  ! dns.example.org. A is not written: it belongs to owner "prod" of external-dns, according to TXT a-dns.example.org.; remove it there, or set that owner in spec.registries of the Backend
  = a-dns.example.org. 60 IN TXT "heritage=external-dns,external-dns/owner=prod"` +
		` (of owner "prod" of external-dns)
  = ns1.example.org. 300 IN A 192.0.2.53
  = old.example.org. 60 IN A 192.0.2.3

1 zone compared, 1 with differences: 1 set to add, 1 to change, 0 to delete; 3 foreign sets would stay.
`
	code, out, said := run(t, "diff", "example.org", "-f", objects, "--backend", "bind")
	if got := strings.ReplaceAll(out, addr, "ADDR"); code != 2 || got != want {
		t.Errorf("it exits with %d and says %s (-want +got):\n%s", code, said, cmp.Diff(want, got))
	}
}

// comparesNothing compares what cannot be.
func comparesNothing(t *testing.T, objects, addr string) {
	for what, c := range map[string]struct {
		args []string
		says string
	}{
		"a server that is not there":  {[]string{"--server", "127.0.0.1:1"}, "connection refused"},
		"a transfer without the key":  {[]string{"--server", addr}, "could not be compared: "},
		"a Zone that is not there":    {[]string{"example.net"}, "no accepted Zone is example.net."},
		"a Backend that is not there": {[]string{"--backend", "none"}, "Backend none does not exist"},
		"a Backend that has not this Zone": {[]string{"example.org", "--backend", "account"},
			"no requested Backend serves it"},
		"a Backend beside a server": {[]string{"--backend", "bind", "--server", addr}, "exclude each other"},
	} {
		t.Run(what, func(t *testing.T) {
			code, out, said := run(t, append([]string{"diff", "-f", objects}, c.args...)...)
			if code != 1 || !strings.Contains(out+said, c.says) {
				t.Errorf("it exits with %d, writes %s and says %s", code, out, said)
			}
		})
	}
}

func bothServers(t *testing.T, origin, text string) (*nameserver.Server, *nameserver.PowerDNS) {
	t.Helper()
	name := func(s string) dnsname.Name {
		n, err := dnsname.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	options := func() nameserver.Options {
		return nameserver.Options{
			Dir: t.TempDir(), Zones: []nameserver.Zone{{Name: name(origin), Text: text}},
			Keys: []nameserver.TSIG{{Name: name(keyName), Algorithm: "hmac-sha256", Secret: keySecret}},
		}
	}
	bind, err := nameserver.StartBIND(t.Context(), options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bind.Close)
	pdns, err := nameserver.StartPowerDNS(t.Context(), options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pdns.Close)
	return bind, pdns
}
