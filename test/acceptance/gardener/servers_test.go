package gardener

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// A provider is a kind of DNS service, and one that runs.
type provider struct {
	name    string // in names of tests and objects
	kind    string // spec.type
	address string
	secret  map[string][]byte // credentials that work
	wrong   map[string][]byte // credentials that are well-formed and do not
}

func providers() []provider {
	right := func(pairs ...string) map[string][]byte {
		m := map[string][]byte{}
		for pair := range slices.Chunk(pairs, 2) {
			m[pair[0]] = []byte(pair[1])
		}
		return m
	}
	const other = "bm90IHRoZSByaWdodCBrZXkgYXQgYWxsLCBub3QgYXQgYWxs"
	return []provider{{
		name: "powerdns", kind: "powerdns", address: here.PowerDNS,
		secret: right("server", here.PowerDNSURL, "apiKey", here.PowerDNSKey),
		wrong:  right("server", here.PowerDNSURL, "apiKey", "wrong"),
	}, {
		name: "bind", kind: "rfc2136", address: here.BIND,
		secret: right("Server", here.BIND, "TSIGKeyName", here.TSIGName, "TSIGSecret", here.TSIGSecret, "TSIGSecretAlgorithm",
			"hmac-sha256", "Zone", "example.com."),
		wrong: right("Server", here.BIND, "TSIGKeyName", here.TSIGName, "TSIGSecret", other, "TSIGSecretAlgorithm",
			"hmac-sha256", "Zone", "example.com."),
	}}
}

// dig asks a server for a record set and returns its TTL and values, sorted, as dig prints them.
func (p provider) dig(t *testing.T, name, kind string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(p.address)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "dig", "@"+host, "-p", port, "+norecurse", "+noall", "+answer",
		"+tries=3", "-t", kind, "-q", name).CombinedOutput()
	if err != nil {
		t.Fatalf("dig %s %s: %v: %s", name, kind, err, out)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if strings.HasPrefix(line, ";") || len(fields) < 5 || fields[3] != kind {
			continue
		}
		lines = append(lines, fields[1]+" "+strings.Join(fields[4:], " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// want compares what the server answers.
func (p provider) want(t *testing.T, name, kind, want string) {
	t.Helper()
	if got := p.dig(t, name, kind); got != want {
		t.Errorf("%s answers %s %s with %q, want %q", p.name, name, kind, got, want)
	}
}

// put writes a record set past the operator, as somebody does who does not know of it.
func (p provider) put(t *testing.T, zone string, records ...string) {
	t.Helper()
	m := new(dns.Msg)
	m.SetUpdate(zone)
	for _, text := range records {
		rr, err := dns.NewRR(text)
		if err != nil {
			t.Fatal(err)
		}
		m.RemoveRRset([]dns.RR{rr})
		m.Insert([]dns.RR{rr})
	}
	if p.kind == "powerdns" {
		for _, text := range records {
			rr, _ := dns.NewRR(text)
			h := rr.Header()
			p.patch(t, zone, fmt.Sprintf(
				`{"rrsets":[{"name":%q,"type":%q,"ttl":%d,"changetype":"REPLACE","records":[{"content":%q}]}]}`,
				h.Name, dns.TypeToString[h.Rrtype], h.Ttl, strings.TrimPrefix(rr.String(), h.String())))
		}
		return
	}
	key := dns.Fqdn(here.TSIGName)
	m.SetTsig(key, dns.HmacSHA256, 300, nowSeconds())
	c := &dns.Client{Net: "tcp", TsigSecret: map[string]string{key: here.TSIGSecret}}
	answer, _, err := c.ExchangeContext(t.Context(), m, p.address)
	if err != nil || answer.Rcode != dns.RcodeSuccess {
		t.Fatalf("changing %s by hand: %v %v", zone, err, answer)
	}
}

func (p provider) patch(t *testing.T, zone, body string) {
	t.Helper()
	powerdnsCall(t, http.MethodPatch, "/zones/"+zone, body)
}

// powerdnsCall makes a call to the API of PowerDNS.
func powerdnsCall(t *testing.T, method, path, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, here.PowerDNSURL+
		"/api/v1/servers/localhost"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", here.PowerDNSKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
}
