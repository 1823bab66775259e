package bindcar

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/bind9"
)

// TestB3Injection sends what would end a file name, a statement or a record, everywhere where text is taken.
func TestB3Injection(t *testing.T) {
	f := newFixture(t, nil)
	if status, text := f.call("POST", "/api/v1/zones", createBody("good.test", "")); status != 201 {
		t.Fatal(status, text)
	}
	before, zones := f.files(), f.zoneCount()
	for _, evil := range []string{
		"../evil", "/etc/evil", "..", ".", "a/../../evil", `evil"; };`, "evil; }; reload", "evil\nreload", "evil\x00",
		"-clean", "evil evil", "evil{", "ev\\il", "$INCLUDE /etc/passwd", "a..b",
		strings.Repeat("a", 64), strings.Repeat("a.", 130), "ev\u00efl.test", "evil\r\n@ IN A 192.0.2.1",
	} {
		quoted, err := json.Marshal(evil)
		if err != nil {
			t.Fatal(err)
		}
		field := func(old string) string {
			body := createBody("evil.test",
				`,"records":[{"name":"www","type":"A","value":"192.0.2.1"}],"alsoNotify":["192.0.2.1"],"allowTransfer":["192.0.2.2"],"dnssecPolicy":"p"`)
			if !strings.Contains(body, old) {
				t.Fatalf("the body has no %s", old)
			}
			return strings.Replace(body, old, string(quoted), 1)
		}
		bodies := []string{
			field(`"evil.test"`), field(`"primary"`), field(`"bindy-operator"`), field(`"A"`), field(`"192.0.2.1"`),
			field(`"192.0.2.2"`), field(`"p"`),
			// the second address stays what it is, so that the first is tried above
			strings.Replace(field(`"192.0.2.1"`), string(quoted), `"192.0.2.1"`, 1),
		}
		if !legalName(evil) {
			bodies = append(bodies, field(`"www"`), field(`"ns1.other.test."`), field(`"admin.other.test."`))
		}
		for i, body := range bodies {
			if i == 7 {
				continue
			}
			if status, text := f.call("POST", "/api/v1/zones", body); status != 400 {
				t.Errorf("%s\nis answered %d %s", body, status, text)
			}
		}
		path := "/api/v1/zones/" + url.PathEscape(evil)
		for _, method := range []string{"GET", "DELETE"} {
			if status, text := f.call(method, path, ""); status != 400 && status != 404 {
				t.Errorf("%s %s is answered %d %s", method, path, status, text)
			}
		}
		for _, body := range []string{`{"alsoNotify":[%s]}`, `{"allowTransfer":[%s]}`, `{"allowUpdate":[%s]}`} {
			if status, text := f.call("PATCH", "/api/v1/zones/good.test", fmt.Sprintf(body, quoted)); status != 400 {
				t.Errorf(body+" is answered %d %s", quoted, status, text)
			}
		}
	}
	for _, r := range f.server.routes() {
		if !strings.Contains(r.path, "{name}") {
			continue
		}
		body :=
			`{"zoneType":"primary","zoneConfig":{"ttl":1,"soa":{"primaryNs":"a.","adminEmail":"a."},"nameServers":["a."],"nameServerIps":{}}}`
		if status, text := f.call(r.method, strings.Replace(r.path, "{name}", "evil%22%3B%20reload", 1),
			body); status != 400 || !strings.HasPrefix(text, `{"error":"Invalid request: the zone name`) {
			t.Errorf("%s %s is answered %d %s", r.method, r.path, status, text)
		}
	}
	if after := f.files(); after != before {
		t.Errorf("it left\n%s\nwhere there was\n%s", after, before)
	}
	if after := f.zoneCount(); after != zones {
		t.Errorf("there are %s zones and not %s", after, zones)
	}
	f.want("GET", "/api/v1/zones", "", 200, `{"zones":["good.test"],"count":1}`)
}

// legalName reports whether text can be a name within a zone, however odd.
func legalName(text string) bool {
	return !strings.ContainsAny(text, " \n\r\x00\"{};$\\") && !strings.Contains(text, "..") && len(text) < 64 &&
		text != "."
}

// zoneCount is how many zones BIND has, in its words.
func (f *fixture) zoneCount() string {
	f.t.Helper()
	text, err := f.server.control.server(f.t.Context(), "status")
	if err != nil {
		f.t.Fatal(err)
	}
	return statusLine(text, "number of zones")
}

// TestZonesOfAnyLegalName has names whose files need care.
func TestZonesOfAnyLegalName(t *testing.T) {
	f := newFixture(t, nil)
	long := strings.Repeat(strings.Repeat("a", 49)+".", 5) + "bc"
	for given, file := range map[string]string{
		"0/25.2.0.192.in-addr.arpa": "0+25.2.0.192.in-addr.arpa.zone", "Case.TEST": "case.test.zone",
		"_tcp.example.test": "_tcp.example.test.zone", "single": "single.zone", "dot.test.": "dot.test.zone",
		long: "",
	} {
		path, name := "/api/v1/zones/"+url.PathEscape(given), strings.ToLower(strings.TrimSuffix(given, "."))
		f.want("POST", "/api/v1/zones", createBody(given, ""), 201, `{"success":true,"message":"Zone `+given+
			` created successfully","details":""}`)
		if file == "" {
			file = mustZone(t, name).stem() + ".zone"
		}
		f.want("GET", path, "", 200, `{"name":"`+given+`","zoneType":"primary","serial":7,"filePath":"%DIR%/`+file+`"}`)
		f.want("GET", "/api/v1/zones", "", 200, `{"zones":["`+name+`"],"count":1}`)
		f.want("DELETE", path, "", 200, `{"success":true,"message":"Zone `+given+` deleted successfully","details":"zone '`+
			name+`' will be deleted."}`)
	}
	if left := f.files(); left != "" {
		t.Errorf("there is left\n%s", left)
	}
}

func mustZone(t testing.TB, name string) zoneName {
	t.Helper()
	zone, err := parseZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// TestB4DuplicateAndMissing has calls that come twice.
func TestB4DuplicateAndMissing(t *testing.T) {
	f := newFixture(t, nil)
	if status, text := f.call("POST", "/api/v1/zones", createBody("a.test", "")); status != 201 {
		t.Fatal(status, text)
	}
	if status, text := f.call("POST", "/api/v1/zones/a.test/records",
		`{"name":"www","type":"A","value":"192.0.2.5"}`); status != 201 {
		t.Fatal(status, text)
	}
	before := f.files()
	if !strings.Contains(before, "a.test.zone.jnl") {
		t.Fatalf("the zone has no journal, so nothing is at stake:\n%s", before)
	}
	for range 2 {
		f.want("POST", "/api/v1/zones", createBody("A.test", ""), 409,
			`{"error":"Zone already exists: A.test","details":null}`)
	}
	if after := f.files(); after != before {
		t.Errorf("a second create call made\n%s\nof\n%s", after, before)
	}
	if got := f.ask("www.a.test.", "A"); got != "3600 IN A 192.0.2.5" {
		t.Errorf("after a second create call, www has %s", got)
	}
	f.want("DELETE", "/api/v1/zones/none.test", "", 404, `{"error":"Zone not found: none.test","details":null}`)
	if after := f.files(); after != before {
		t.Errorf("deleting nothing made\n%s\nof\n%s", after, before)
	}
}

// TestB4WhatBINDRefusesLeavesNothing has requests that only BIND can refuse.
func TestB4WhatBINDRefusesLeavesNothing(t *testing.T) {
	f := newFixture(t, nil)
	for name, body := range map[string]string{
		"a policy that is not there": createBody("a.test", `,"dnssecPolicy":"none-such"`),
		"a key that is not there":    strings.Replace(createBody("a.test", ""), "bindy-operator", "none-such", 1),
	} {
		status, text := f.call("POST", "/api/v1/zones", body)
		if status != 400 && !(status == 201 && strings.Contains(name, "key")) {
			t.Errorf("%s is answered %d %s", name, status, text)
		}
		f.call("DELETE", "/api/v1/zones/a.test", "")
		if left := f.files(); left != "" {
			t.Errorf("%s leaves\n%s", name, left)
		}
	}
	for name, config := range map[string]string{
		"no name server": strings.Replace(createBody("a.test", ""),
			`"nameServers":["ns1.other.test."]`, `"nameServers":[]`, 1),
		"a name server in it without an address": strings.Replace(createBody("a.test", ""),
			`"nameServers":["ns1.other.test."]`, `"nameServers":["ns1.a.test."]`, 1),
		"a CNAME at the apex": createBody("a.test",
			`,"records":[{"name":"@","type":"CNAME","value":"b.test."}]`),
		"two CNAMEs": createBody("a.test",
			`,"records":[{"name":"x","type":"CNAME","value":"b.test."},{"name":"x","type":"CNAME","value":"c.test."}]`),
		"a CNAME beside a TXT": createBody("a.test",
			`,"records":[{"name":"x","type":"CNAME","value":"b.test."},{"name":"x","type":"TXT","value":"c"}]`),
		"a record of another zone": createBody("a.test",
			`,"records":[{"name":"x.b.test.","type":"TXT","value":"c"}]`),
		"a SOA": createBody("a.test",
			`,"records":[{"name":"@","type":"SOA","value":"a. b. 1 2 3 4 5"}]`),
		"a TTL that is too large": createBody("a.test",
			`,"records":[{"name":"x","type":"TXT","value":"c","ttl":2147483648}]`),
		"a mailbox with @": strings.Replace(createBody("a.test", ""), "admin.other.test.",
			"admin@other.test", 1),
		"a secondary zone without primaries": strings.Replace(createBody("a.test", ""), `"primary"`, `"secondary"`, 1),
		"a zone that is neither":             strings.Replace(createBody("a.test", ""), `"primary"`, `"stub"`, 1),
	} {
		status, text := f.call("POST", "/api/v1/zones", config)
		if status != 400 || !strings.HasPrefix(text, `{"error":"Invalid request: `) {
			t.Errorf("%s is answered %d %s", name, status, text)
		}
		if left := f.files(); left != "" {
			t.Errorf("%s leaves\n%s", name, left)
		}
	}
}

// TestB4StatusWhileLoading has a secondary zone whose primary comes later, and a named that starts anew.
func TestB4StatusWhileLoading(t *testing.T) {
	primary := newFixture(t, nil)
	f := newFixture(t, nil)
	body :=
		fmt.Sprintf(
			`{"zoneName":"s.test","zoneType":"secondary","updateKeyName":"bindy-operator","zoneConfig":{"ttl":1,"soa":{"primaryNs":"","adminEmail":""},"nameServers":[],"nameServerIps":{},"primaries":["127.0.0.1:%d"]}}`, primary.dns)
	f.want("POST", "/api/v1/zones", body, 201,
		`{"success":true,"message":"Zone s.test created successfully","details":""}`)
	f.want("GET", "/api/v1/zones/s.test/status", "", 200,
		`{"success":true,"message":"Zone s.test status retrieved","details":"name: s.test\ntype: secondary\nstate: not loaded"}`)
	f.want("GET", "/api/v1/zones/s.test", "", 200,
		`{"name":"s.test","zoneType":"secondary","filePath":"%DIR%/s.test.zone"}`)
	f.want("GET", "/api/v1/zones", "", 200, `{"zones":["s.test"],"count":1}`)
	f.want("GET", "/api/v1/ready", "", 503,
		`{"ready":false,"checks":["zone_dir: ok","rndc: ok","content: ok","zones: 1 of 1 not loaded"]}`)
	f.want("POST", "/api/v1/zones/s.test/freeze", "", 400,
		`{"error":"Invalid request: s.test: BIND does not support this for a zone of this type","details":null}`)
	f.want("POST", "/api/v1/zones/s.test/records", `{"name":"www","type":"A","value":"192.0.2.5"}`, 400,
		`{"error":"Dynamic updates not enabled: Zone s.test is secondary type. Dynamic updates only supported on primary zones","details":null}`)
	f.want("PATCH", "/api/v1/zones/s.test", `{"allowUpdate":["192.0.2.1"]}`, 400,
		`{"error":"Invalid request: allowUpdate: s.test is a secondary zone, but only primary zones accept updates","details":null}`)

	primary.want("POST", "/api/v1/zones", createBody("s.test", `,"allowTransfer":["127.0.0.1"]`), 201,
		`{"success":true,"message":"Zone s.test created successfully","details":""}`)
	f.want("POST", "/api/v1/zones/s.test/retransfer", "", 200,
		`{"success":true,"message":"Retransfer initiated for zone s.test","details":""}`)
	until(t, "the transfer", func() bool {
		status, _ := f.call("GET", "/api/v1/ready", "")
		return status == http.StatusOK
	})
	f.want("GET", "/api/v1/zones/s.test", "", 200,
		`{"name":"s.test","zoneType":"secondary","serial":7,"filePath":"%DIR%/s.test.zone"}`)

	primary.Kill()
	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	f.startNamed()
	f.want("GET", "/api/v1/zones", "", 200, `{"zones":["s.test"],"count":1}`)
	until(t, "loading the kept copy", func() bool {
		status, _ := f.call("GET", "/api/v1/ready", "")
		return status == http.StatusOK
	})
	if got := f.ask("s.test.", "NS"); got != "300 IN NS ns1.other.test." {
		t.Errorf("after a restart without its primary, the zone has %s", got)
	}
	f.want("PATCH", "/api/v1/zones/s.test", `{"primaries":["192.0.2.1:5353 key bindy-operator"]}`, 200,
		`{"success":true,"message":"Zone s.test modified successfully","details":"zone 's.test' reconfigured."}`)
	f.shows("s.test", `primaries { 192.0.2.1 port 5353 key "bindy-operator"; }`)
	f.want("DELETE", "/api/v1/zones/s.test", "", 200,
		`{"success":true,"message":"Zone s.test deleted successfully","details":"zone 's.test' will be deleted."}`)
	until(t, "removing the files", func() bool { return f.files() == "" })
}

// TestZonesOfTheExistingBindcarAreTakenOver has files without notes: of a zone that BIND has, and of one that it does
// not have.
func TestZonesOfTheExistingBindcarAreTakenOver(t *testing.T) {
	f := newFixture(t, nil)
	if status, text := f.call("POST", "/api/v1/zones", createBody("a.test", "")); status != 201 {
		t.Fatal(status, text)
	}
	if err := os.Remove(filepath.Join(f.dir, "a.test"+noteSuffix)); err != nil {
		t.Fatal(err)
	}
	f.write(filepath.Join(f.dir, "b.test.zone"), "nobody's")
	f.write(filepath.Join(f.dir, "d.test"+noteSuffix), "")
	f.write(filepath.Join(f.dir, "e.test"+noteSuffix), `{"zone":"../e","type":"primary"}`)
	f.write(filepath.Join(f.dir, "c.test"+noteSuffix), `{"zone":"c.test","type":"primary"}`)
	f.serve(nil)
	until(t, "taking over", func() bool {
		_, text := f.call("GET", "/api/v1/zones", "")
		return text == `{"zones":["a.test"],"count":1}`
	})
	if _, err := os.Stat(filepath.Join(f.dir, "b.test.zone")); err != nil {
		t.Errorf("a file of no zone: %v", err)
	}
}

// TestZonesOfTheConfiguration has zones that are in BIND's configuration file.
func TestZonesOfTheConfiguration(t *testing.T) {
	f := newFixture(t, nil)
	f.write(filepath.Join(f.conf, bind9.FileZones),
		`zone "stub.test" { type static-stub; server-addresses { 127.0.0.1; }; }; zone "static.test" { type primary; file "static.db"; };`)
	f.write(filepath.Join(f.dir, "static.db"), "$TTL 300\n@ SOA ns.other. h.other. 3 3600 600 86400 300\n@ NS ns.other.\n")
	f.configure(bind9.Options{Zones: true, Recursion: true})
	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	f.startNamed()
	until(t, "loading the zone", func() bool { return f.ask("static.test.", "NS") == "300 IN NS ns.other." })
	f.want("GET", "/api/v1/zones/static.test", "", 200,
		`{"name":"static.test","zoneType":"primary","serial":3,"filePath":"static.db"}`)
	f.want("GET", "/api/v1/zones", "", 200, `{"zones":["static.test"],"count":1}`)
	f.want("POST", "/api/v1/zones", createBody("static.test", ""), 409,
		`{"error":"Zone already exists: static.test","details":null}`)
	f.want("POST", "/api/v1/zones/static.test/reload", "", 200,
		`{"success":true,"message":"Zone static.test reloaded successfully","details":"zone reload up-to-date"}`)
	f.want("PATCH", "/api/v1/zones/static.test", `{"allowTransfer":["192.0.2.1"]}`, 200,
		`{"success":true,"message":"Zone static.test modified successfully","details":"zone 'static.test' must also be reconfigured in\nnamed.conf to make changes permanent."}`)
	f.want("DELETE", "/api/v1/zones/static.test", ``, 200,
		`{"success":true,"message":"Zone static.test deleted successfully","details":"zone 'static.test' is no longer active and will be deleted.\nTo keep it from returning when the server is restarted, it\nmust also be removed from named.conf."}`)
	if _, err := os.Stat(filepath.Join(f.dir, "static.db")); err != nil {
		t.Errorf("the file of a zone of the configuration: %v", err)
	}
	const other = `{"error":"Invalid request: stub.test is in BIND's configuration, and is neither primary nor secondary; it is not managed here","details":null}`
	f.want("GET", "/api/v1/zones/stub.test", "", 400, other)
	f.want("DELETE", "/api/v1/zones/stub.test", "", 400, other)
	f.want("POST", "/api/v1/zones", createBody("stub.test", ""), 409,
		`{"error":"Zone already exists: stub.test","details":null}`)
}

// TestZonesOfPrivateAddresses are made at a server that resolves, too: by itself BIND would have empty ones there.
func TestZonesOfPrivateAddresses(t *testing.T) {
	f := newFixture(t, nil)
	f.configure(bind9.Options{Recursion: true})
	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	f.startNamed()
	for _, zone := range []string{"10.in-addr.arpa", "168.192.in-addr.arpa", "d.f.ip6.arpa"} {
		if status, text := f.call("POST", "/api/v1/zones", createBody(zone, "")); status != 201 {
			t.Errorf("making %s is answered %d %s", zone, status, text)
		}
		if got := f.ask(zone+".", "SOA"); !strings.Contains(got, "admin.other.test.") {
			t.Errorf("%s has %q", zone, got)
		}
	}
}

// TestB4ACallerThatGoesLeavesNothingHalf has callers go at any moment: afterwards the zone is there whole, with its
// file and its place in the content, or not at all.
func TestB4ACallerThatGoesLeavesNothingHalf(t *testing.T) {
	f := newFixture(t, nil)
	f.call("PUT", "/api/v1/server/content", `{"zones":[]}`)
	for i := range 40 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*200*time.Microsecond)
		name := fmt.Sprintf("z%d.test", i)
		var c CreateZone
		if err := decodeJSON([]byte(createBody(name, "")), &c); err != nil {
			t.Fatal(err)
		}
		client := f.client(testToken)
		_, err := client.Create(ctx, c)
		cancel()
		whole := func() bool {
			_, readErr := os.Stat(filepath.Join(f.dir, name+".zone"))
			noted := f.server.store.has(mustZone(t, name))
			zones, _ := f.server.content.get()
			_, askErr := f.server.control.show(t.Context(), mustZone(t, name))
			there := askErr == nil
			return there == (readErr == nil) && there == noted && there == slices.Contains(zones, name) && (there || err != nil)
		}
		until(t, fmt.Sprintf("being there whole or not at all, after %d steps and %v,", i, err), whole)
	}
}
