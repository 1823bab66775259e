package bindcar

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// FuzzBodies sends anything to the calls that take bodies, with a BIND behind them. No body is the server's fault, what
// is taken can be deleted, and then nothing is left anywhere.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{minimal,
		createBody("a.test",
			`,"records":[{"name":"@","type":"MX","value":"mail","priority":10}],"primaries":["[::1]:53 key bindy-operator"]`),
		`{"zones":["a.test"]}`,
		`{"alsoNotify":["192.0.2.1"],"allowTransfer":[],"allowUpdate":["key bindy-operator"]}`,
		`{"name":"@","type":"A","value":"192.0.2.1","currentValue":"192.0.2.1","newValue":"192.0.2.2"}`,
		`{"zoneName":"../x"}`,
		`[[[[`, "\x00", `{"zoneName":"a","zoneName":"b"}`, strings.Replace(minimal, `"primary"`, `"secondary"`, 1),
		strings.Replace(minimal, "bindy-operator", "nobody", 1)} {
		f.Add(seed)
	}
	api := newFixture(f, func(s *Settings) { s.Limit = Limit{} })
	ask := func(method, path, body string) (int, string) {
		req := httptest.NewRequest(method, path, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+testToken)
		answer := httptest.NewRecorder()
		api.server.Handler().ServeHTTP(answer, req)
		return answer.Code, answer.Body.String()
	}
	f.Fuzz(func(t *testing.T, body string) {
		api.t = t
		for _, call := range []string{"POST /api/v1/zones", "POST /api/addzone/a.test", "PATCH /api/v1/zones/a.test",
			"POST /api/v1/zones/a.test/records", "PUT /api/v1/zones/a.test/records", "DELETE /api/v1/zones/a.test/records"} {
			method, path, _ := strings.Cut(call, " ")
			if status, text := ask(method, path, body); status >= 500 {
				t.Errorf("%s with %q is answered %d %s\n%s", call, body, status, text, api.log.String())
			}
		}
		_, text := ask("GET", "/api/v1/zones", "")
		var list ZoneList
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		for _, zone := range list.Zones {
			if status, text := ask("DELETE", zonePath(zone, ""), ""); status != 200 {
				t.Errorf("%q made %s, and deleting it is answered %d %s", body, zone, status, text)
			}
		}
		if left := api.files(); left != "" {
			t.Errorf("%q leaves %s", body, left)
		}
	})
}

// FuzzZoneFile makes zones of anything. What is taken is a master file that reads as what it was made of: a SOA and the
// records, in the zone, one a line.
func FuzzZoneFile(f *testing.F) {
	for _, seed := range [][4]string{
		{"a.test", "ns.a.test.", "www A", "192.0.2.1"}, {"a.test", "ns", "@ TXT", `"a;b" c`}, {"0/25.2.0.192.in-addr.arpa",
			"ns.x.", "* CNAME", "y"}, {"a", "b.", `\$ORIGIN TXT`, "$INCLUDE x"},
		{"a.test", "ns.b.", "x\ny TYPE65280", `\# 2 0102`}, {"a.test", "ns.b.", "@ SRV", "1 2 3 x"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, name, server, key, value string) {
		at := strings.LastIndexByte(key, ' ')
		owner, typ := key[:max(at, 0)], key[at+1:]
		zone, err := parseZone(name)
		if err != nil {
			return
		}
		if stem := zone.stem(); strings.ContainsAny(stem, "/\\\x00") || strings.HasPrefix(stem, ".") || len(stem) > maxStem {
			t.Fatalf("the zone %q has the file %q", name, stem)
		}
		var serial uint32
		text, err := zoneFile(zone, ZoneConfig{
			TTL: 300, SOA: SOA{PrimaryNS: server, AdminEmail: "admin.x.", Serial: &serial}, NameServers: []string{server,
				"ns.other."},
			NameServerIPs: map[string]string{server: "192.0.2.1"}, Records: []Record{{Name: owner, Type: typ, Value: value}},
		}, time.Unix(0, 0))
		if err != nil {
			if statusOf(err) != 400 {
				t.Fatalf("it is refused with %d %v", statusOf(err), err)
			}
			return
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		parser := dns.NewZoneParser(strings.NewReader(text), zone.name.String(), "")
		parser.SetIncludeAllowed(false)
		records := 0
		for record, ok := parser.Next(); ok; record, ok = parser.Next() {
			records++
			if !dns.IsSubDomain(zone.name.String(), record.Header().Name) {
				t.Errorf("%s is not in %s", record.Header().Name, name)
			}
		}
		if records != len(lines)-1 {
			t.Errorf("%d lines have %d records (%v):\n%s", len(lines), records, parser.Err(), text)
		}
	})
}
