package bindcar

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const minimal = `{"zoneName":"example.com","zoneType":"primary","updateKeyName":"bindy-operator","zoneConfig":{"ttl":300,"soa":{"primaryNs":"ns1.example.com.","adminEmail":"admin.example.com."},"nameServers":["ns1.example.com."],"nameServerIps":{"ns1.example.com.":"192.0.2.1"}}}`

// TestB1Zones goes through the life of a primary zone by the existing bindcar's calls.
func TestB1Zones(t *testing.T) {
	f := newFixture(t, nil)
	zone := "/api/v1/zones/example.com"
	f.want("GET", "/api/v1/zones", "", 200, `{"zones":[],"count":0}`)
	f.want("POST", "/api/v1/zones", minimal, 201,
		`{"success":true,"message":"Zone example.com created successfully","details":""}`)
	if got := f.ask("ns1.example.com.", "A"); got != "300 IN A 192.0.2.1" {
		t.Errorf("the name server has %s", got)
	}
	f.want("GET", "/api/v1/zones", "", 200, `{"zones":["example.com"],"count":1}`)
	soa := strings.Fields(f.ask("example.com.", "SOA"))
	if got := strings.Join(soa[3:5], " ") + " " + strings.Join(soa[6:], " "); got != "ns1.example.com. "+
		"admin.example.com. 3600 600 604800 86400" || !strings.HasSuffix(soa[5], "01") || len(soa[5]) != 10 {
		t.Errorf("the SOA is %s", soa)
	}
	f.want("GET", zone, "", 200, `{"name":"example.com","zoneType":"primary","serial":`+soa[5]+
		`,"filePath":"%DIR%/example.com.zone"}`)
	f.want("POST", zone+"/freeze", "", 200,
		`{"success":true,"message":"Zone example.com frozen successfully","details":""}`)
	f.want("POST", zone+"/freeze", "", 200,
		`{"success":true,"message":"Zone example.com frozen successfully","details":"the zone was frozen already"}`)
	f.want("POST", zone+"/reload", "", 200,
		`{"success":true,"message":"Zone example.com reloaded successfully","details":"zone reload up-to-date"}`)
	f.want("POST", zone+"/thaw", "", 200,
		`{"success":true,"message":"Zone example.com thawed successfully","details":"The zone reload and thaw was successful."}`)
	f.want("POST", zone+"/reload", "", 400,
		`{"error":"Invalid request: example.com accepts updates, so BIND reads its file again only while it is frozen","details":null}`)
	f.want("POST", zone+"/notify", "", 200,
		`{"success":true,"message":"Notify sent for zone example.com","details":"zone notify queued"}`)
	f.want("POST", zone+"/retransfer", "", 400,
		`{"error":"Invalid request: example.com: BIND does not support this for a zone of this type","details":null}`)
	f.want("PATCH", zone,
		`{"alsoNotify":["192.0.2.9","192.0.2.9:5353","[2001:db8::9]:53"],"allowTransfer":["192.0.2.0/24","2001:db8::1"]}`,
		200, `{"success":true,"message":"Zone example.com modified successfully","details":"zone 'example.com' reconfigured."}`)
	f.shows("example.com", "also-notify { 192.0.2.9; 192.0.2.9 port 5353; 2001:db8::9 port 53; }",
		"allow-transfer  { 192.0.2.0/24; 2001:db8::1/128; }", `allow-update { "bindy-update"; }`)
	f.want("PATCH", zone, `{"alsoNotify":[]}`, 200,
		`{"success":true,"message":"Zone example.com modified successfully","details":"zone 'example.com' reconfigured."}`)
	f.shows("example.com", "allow-transfer  { 192.0.2.0/24; 2001:db8::1/128; }", `allow-update { "bindy-update"; }`,
		"!also-notify")
	f.want("PATCH", zone, `{}`, 400,
		`{"error":"Invalid request: At least one field (alsoNotify, allowTransfer, allowUpdate, or primaries) must be provided","details":null}`)
	f.want("PATCH", zone, `{"primaries":["192.0.2.1"]}`, 400,
		`{"error":"Invalid request: primaries: example.com is a primary zone; only secondary zones have primaries, at least one","details":null}`)
	f.want("PATCH", zone, `{"alsoNotify":["ns1.example.com"]}`, 400,
		`{"error":"Invalid request: alsoNotify[0]: \"ns1.example.com\" is not an address; write 192.0.2.1, 192.0.2.1:5353, 2001:db8::1 or [2001:db8::1]:5353","details":null}`)
	status, text := f.call("GET", zone+"/status", "")
	if want :=
		`{"success":true,"message":"Zone example.com status retrieved","details":"name: example.com\ntype: primary\nfiles: ` +
			f.dir + `/example.com.zone\nserial: `; status != 200 || !strings.HasPrefix(text, want) {
		t.Errorf("the status is %d %s", status, text)
	}
	f.want("POST", zone+"/freeze", "", 200,
		`{"success":true,"message":"Zone example.com frozen successfully","details":""}`)
	f.want("DELETE", zone, "", 200,
		`{"success":true,"message":"Zone example.com deleted successfully","details":"zone 'example.com' will be deleted."}`)
	for _, call := range []string{"GET ", "DELETE ", "GET /status", "POST /reload", "POST /freeze", "POST /thaw",
		"POST /notify", "POST /retransfer"} {
		method, rest, _ := strings.Cut(call, " ")
		f.want(method, zone+rest, "", 404, `{"error":"Zone not found: example.com","details":null}`)
	}
	f.want("PATCH", zone, `{"alsoNotify":[]}`, 404, `{"error":"Zone not found: example.com","details":null}`)
	f.want("GET", "/api/v1/zones", "", 200, `{"zones":[],"count":0}`)
	if left := f.files(); left != "" {
		t.Errorf("of the zone there is left\n%s", left)
	}
}

// shows compares BIND's configuration of a zone: what has to be in it, and after a "!" what not.
func (f *fixture) shows(zone string, parts ...string) {
	f.t.Helper()
	name, err := parseZone(zone)
	if err != nil {
		f.t.Fatal(err)
	}
	text, err := f.server.control.zone(f.t.Context(), "showzone", name)
	for _, part := range parts {
		wanted, not := strings.CutPrefix(part, "!")
		if err != nil || strings.Contains(text, wanted) == not {
			f.t.Errorf("BIND shows %s\n%v\nwanted: %s", text, err, part)
		}
	}
}

func TestB1Server(t *testing.T) {
	f := newFixture(t, nil)
	status, text := f.call("GET", "/api/v1/server/status", "")
	if want := `{"status":"version: BIND 9`; status != 200 || !strings.HasPrefix(text, want) ||
		!strings.HasSuffix(text, `server is up and running"}`) {
		t.Errorf("the server's status is %d %s", status, text)
	}
	f.want("GET", "/api/v1/health", "", 200, `{"status":"healthy","version":"1.2.3"}`)
	f.want("GET", "/api/v1/ready", "", 200,
		`{"ready":true,"checks":["zone_dir: ok","rndc: ok","content: ok","zones: ok"]}`)
	f.want("GET", "/api/v1/server/ready", "", 200,
		`{"ready":true,"checks":["zone_dir: ok","rndc: ok","content: ok","zones: ok"]}`)
	f.want("GET", "/api/v1/server/content", "", 200, `{"declared":false,"zones":[]}`)
	f.want("PUT", "/api/v1/server/content", `{"zones":["B.example.","a.example","a.example"]}`, 200,
		`{"declared":true,"zones":["a.example","b.example"]}`)
	f.want("GET", "/api/v1/server/content", "", 200, `{"declared":true,"zones":["a.example","b.example"]}`)
	f.want("PUT", "/api/v1/server/content", `{"zones":["a;b"]}`, 400,
		`{"error":"Invalid request: the zone name \"a;b\" has the character ';' at its octet 2; a zone's name has letters, digits, '-', '_', '/' and dots, and begins with a letter, a digit or '_'","details":null}`)
	f.want("GET", "/api/v1/ready", "", 503,
		`{"ready":false,"checks":["zone_dir: ok","rndc: ok","content: ok","zones: 2 of 2 not loaded"]}`)
	f.want("GET", "/api/v1/server/ready", "", 503,
		`{"ready":false,"checks":["zone_dir: ok","rndc: ok","content: ok","zones: 2 of 2 not loaded"]}`)
	f.want("GET", "/api/v1/server/keys", "", 200, `{"keys":[{"name":"bindy-operator","id":"`+
		testKey("bindy-operator").ID()+`","control":true,"dns":true}],"transfer":[{"name":"bindy-transfer","id":"`+testKey(
		"bindy-transfer").ID()+`","control":false,"dns":true}]}`)
	f.Kill()
	f.want("GET", "/api/v1/server/status", "", 503, `{"error":"Internal server error","details":null}`)
	f.want("GET", "/api/v1/server/keys", "", 503, `{"error":"Internal server error","details":null}`)
	f.want("POST", "/api/v1/zones", minimal, 503, `{"error":"Internal server error","details":null}`)
	f.want("DELETE", "/api/v1/zones/example.com", "", 503, `{"error":"Internal server error","details":null}`)
	until(t, "not being ready without BIND", func() bool {
		status, text = f.call("GET", "/api/v1/ready", "")
		return status == 503 && strings.Contains(text, "rndc: unavail")
	})
	if want := `{"ready":false,"checks":["zone_dir: ok","rndc: unavailable"]}`; text != want {
		t.Errorf("without BIND: %s", text)
	}
	if log := f.log.String(); !strings.Contains(log, "connection refused") || strings.Contains(log, testToken) ||
		strings.Contains(log, testKey("bindy-operator").Secret) {
		t.Errorf("the log has\n%s", log)
	}
}

func TestB1DocumentPaths(t *testing.T) {
	f := newFixture(t, nil)
	body := strings.Replace(minimal, `"zoneName":"example.com",`, "", 1)
	f.want("GET", "/api/zonestatus/example.com", "", 404, `{"error":"Zone not found: example.com","details":null}`)
	f.want("POST", "/api/addzone/example.com", body, 200,
		`{"success":true,"message":"Zone example.com created successfully","details":""}`)
	before := f.files()
	f.want("POST", "/api/addzone/example.com", body, 200,
		`{"success":true,"message":"Zone example.com already exists","details":""}`)
	if after := f.files(); after != before {
		t.Errorf("adding a zone twice made\n%s\nof\n%s", after, before)
	}
	f.want("POST", "/api/notify/example.com", "", 200,
		`{"success":true,"message":"Notify sent for zone example.com","details":"zone notify queued"}`)
	if status, text := f.call("GET", "/api/zonestatus/example.com", ""); status != 200 || !strings.Contains(text,
		"serial: ") {
		t.Errorf("the status is %d %s", status, text)
	}
	f.want("DELETE", "/api/delzone/example.com", "", 200,
		`{"success":true,"message":"Zone example.com deleted successfully","details":"zone 'example.com' will be deleted."}`)
	f.want("DELETE", "/api/delzone/example.com", "", 200,
		`{"success":true,"message":"Zone example.com does not exist","details":""}`)
	f.want("POST", "/api/notify/example.com", "", 404, `{"error":"Zone not found: example.com","details":null}`)
	f.want("POST", "/api/addzone/..%2F..%2Fetc", body, 400,
		`{"error":"Invalid request: the zone name \"../../etc\" is not a domain name: labels of 1 to 63 characters, 253 in all","details":null}`)
}

// TestTheDocumentsPathAddsWhatTheBodySays has the fields that the body of POST /api/v1/zones has, too.
func TestTheDocumentsPathAddsWhatTheBodySays(t *testing.T) {
	f := newFixture(t, nil)
	body := createBody("h.test", "")
	f.want("POST", "/api/addzone/another.test", body, 400,
		`{"error":"Invalid request: the zone is another.test in the path and \"h.test\" in zoneName; leave zoneName out","details":null}`)
	f.want("GET", "/api/zonestatus/another.test", "", 404, `{"error":"Zone not found: another.test","details":null}`)
	f.want("POST", "/api/addzone/h.test", strings.Replace(body, `"zoneName":"h.test"`, `"zoneName":"H.test.","held":true`,
		1), 200,
		`{"success":true,"message":"Zone h.test created successfully","details":""}`)
	if _, text := f.call("GET", "/api/v1/zones/h.test/settings", ""); !strings.Contains(text, `"held":true`) {
		t.Errorf("the zone is not held: %s", text)
	}
}

func TestB1Records(t *testing.T) {
	f := newFixture(t, nil)
	records := "/api/v1/zones/example.com/records"
	f.want("POST", records, `{"name":"www","type":"A","value":"192.0.2.5"}`, 404,
		`{"error":"Zone not found: example.com","details":null}`)
	f.want("PUT", records, `{"name":"www","type":"A","currentValue":"192.0.2.5","newValue":"192.0.2.6"}`, 404,
		`{"error":"Zone not found: example.com","details":null}`)
	f.want("DELETE", records, `{"name":"www","type":"A"}`, 404, `{"error":"Zone not found: example.com","details":null}`)
	f.want("POST", "/api/v1/zones", minimal, 201,
		`{"success":true,"message":"Zone example.com created successfully","details":""}`)
	f.want("POST", records, `{"name":"www","type":"A","value":"192.0.2.5"}`, 201,
		`{"success":true,"message":"Record added to zone example.com","details":{"record":{"name":"www","ttl":3600,"type":"A","value":"192.0.2.5"},"zone":"example.com"}}`)
	f.want("PUT", records,
		`{"name":"www.example.com","type":"a","currentValue":"192.0.2.5","newValue":"192.0.2.6","ttl":60}`, 200,
		`{"success":true,"message":"Record updated in zone example.com","details":{"record":{"currentValue":"192.0.2.5","name":"www.example.com","newValue":"192.0.2.6","ttl":60,"type":"a"},"zone":"example.com"}}`)
	if got := f.ask("www.example.com.", "A"); got != "60 IN A 192.0.2.6" {
		t.Errorf("www has %s", got)
	}
	f.want("POST", records, `{"name":"notexample.com","type":"TXT","value":"\"one; two\""}`, 201,
		`{"success":true,"message":"Record added to zone example.com","details":{"record":{"name":"notexample.com","ttl":3600,"type":"TXT","value":"\"one; two\""},"zone":"example.com"}}`)
	if got := f.ask("notexample.com.example.com.", "TXT"); got != `3600 IN TXT "one; two"` {
		t.Errorf("a name that only ends like the zone has %s", got)
	}
	f.want("POST", records, `{"name":"@","type":"MX","value":"mail.example.net.","priority":10}`, 201,
		`{"success":true,"message":"Record added to zone example.com","details":{"record":{"name":"@","ttl":3600,"type":"MX","value":"mail.example.net."},"zone":"example.com"}}`)
	if got := f.ask("example.com.", "MX"); got != "3600 IN MX 10 mail.example.net." {
		t.Errorf("the apex has %s", got)
	}
	f.want("POST", records, `{"name":"www","type":"CNAME","value":"other.example.net."}`, 400,
		`{"error":"Invalid record: BIND has left out www.example.com. CNAME \"other.example.net.\": it does not go with the other records of the zone (a CNAME stands alone, RFC 1034 §3.6.2)","details":null}`)
	f.want("DELETE", records, `{"name":"@","type":"NS"}`, 400,
		`{"error":"Invalid record: BIND has kept example.com. NS: the last name server of a zone cannot be removed","details":null}`)
	f.want("DELETE", records, `{"name":"www","type":"A","value":"192.0.2.6"}`, 200,
		`{"success":true,"message":"Record removed from zone example.com","details":{"record":{"name":"www","type":"A","value":"192.0.2.6"},"zone":"example.com"}}`)
	f.want("DELETE", records, `{"name":"notexample.com","type":"TXT"}`, 200,
		`{"success":true,"message":"Record removed from zone example.com","details":{"record":{"name":"notexample.com","type":"TXT","value":null},"zone":"example.com"}}`)
	if got := f.ask("www.example.com.", "A") + f.ask("notexample.com.example.com.", "TXT"); got != "NXDOMAINNXDOMAIN" {
		t.Errorf("of what was removed there is %s", got)
	}
	for body, want := range map[string]string{
		`{"name":"www","type":"SOA","value":"x"}`:                      `Invalid record: Invalid record type: \"SOA\". Supported types: A, AAAA, CNAME, MX, TXT, NS, PTR, SRV, CAA`,
		`{"name":"www","type":"A","value":""}`:                         `Invalid record: A data \"\" is not valid: it is empty`,
		`{"name":"www","type":"CNAME","value":"a.example"}`:            `Invalid record: CNAME record value must be a fully qualified domain name ending with '.': \"a.example\"`,
		`{"name":"www.example.net.","type":"A","value":"192.0.2.1"}`:   `Invalid record: the name \"www.example.net.\" of a record: it is not in the zone example.com`,
		`{"name":"www","type":"A","value":"192.0.2.1\n@ A 192.0.2.2"}`: ``,
	} {
		status, text := f.call("POST", records, body)
		if status != 400 || want != "" && text != `{"error":"`+want+`","details":null}` {
			t.Errorf("%s is answered %d %s", body, status, text)
		}
	}
	f.want("POST", "/api/v1/zones", strings.Replace(createBody("static.test", ""), `"updateKeyName":"bindy-operator",`, "",
		1), 201, `{"success":true,"message":"Zone static.test created successfully","details":""}`)
	f.want("POST", "/api/v1/zones/static.test/records", `{"name":"www","type":"A","value":"192.0.2.5"}`, 400,
		`{"error":"Dynamic updates not enabled: Zone static.test does not have allow-update configured. Create zone with updateKeyName or modify zone to enable dynamic updates","details":null}`)
	f.want("POST", "/api/v1/zones/example.com/freeze", "", 200,
		`{"success":true,"message":"Zone example.com frozen successfully","details":""}`)
	f.want("POST", records, `{"name":"www","type":"A","value":"192.0.2.5"}`, 400,
		`{"error":"Dynamic updates not enabled: Zone example.com refuses the update: it is frozen, our key may not change it, or the change is not allowed","details":null}`)
}

// TestB1Requests has what is wrong with a request before it is understood: plain text.
func TestB1Requests(t *testing.T) {
	f := newFixture(t, nil)
	many := `{"zoneName":"` + strings.Repeat("a", maxBody) + `"}`
	for _, c := range []struct {
		name, method, path, body, contentType string
		status                                int
		text                                  string
	}{
		{"malformed JSON", "POST", "/api/v1/zones", `{"zoneName":`, "application/json", 400,
			"Failed to parse the request body as JSON: unexpected EOF"},
		{"something after it", "POST", "/api/v1/zones", minimal + "{}", "application/json", 400,
			"Failed to parse the request body as JSON: trailing characters"},
		{"a missing field", "POST", "/api/v1/zones", `{"zoneType":"primary"}`, "application/json", 422,
			"Failed to deserialize the JSON body into the target type: missing field `zoneName`"},
		{"a missing field inside", "POST", "/api/v1/zones", strings.Replace(minimal, `"nameServers"`, `"nameservers"`, 1),
			"application/json", 422,
			"Failed to deserialize the JSON body into the target type: zoneConfig: missing field `nameServers`"},
		{"a field of another type", "POST", "/api/v1/zones", strings.Replace(minimal, `"ttl":300`, `"ttl":"300"`, 1),
			"application/json", 422,
			"Failed to deserialize the JSON body into the target type: zoneConfig.ttl: invalid type: string, expected u32"},
		{"a number that is too large", "POST", "/api/v1/zones", strings.Replace(minimal, `"ttl":300`, `"ttl":4294967296`, 1),
			"application/json", 422,
			"Failed to deserialize the JSON body into the target type: zoneConfig.ttl: invalid value: 4294967296, expected u32"},
		{"null for what is required", "POST", "/api/v1/zones", strings.Replace(minimal, `"ttl":300`, `"ttl":null`, 1),
			"application/json", 422,
			"Failed to deserialize the JSON body into the target type: zoneConfig.ttl: invalid type: null, expected u32"},
		{"no content type", "POST", "/api/v1/zones", minimal, "", 415,
			"Expected request with `Content-Type: application/json`"},
		{"another content type", "POST", "/api/v1/zones", minimal, "text/yaml", 415,
			"Expected request with `Content-Type: application/json`"},
		{"more than 2 MB", "POST", "/api/v1/zones", many, "application/json", 413,
			"Failed to buffer the request body: length limit exceeded"},
		{"an unknown path", "GET", "/api/v1/nothing", "", "", 404, "404 page not found\n"},
		{"a path with dots", "GET", "/api/v1/zones/../server/status", "", "", 404, "Not Found"},
		{"another method", "PUT", "/api/v1/zones", "", "", 405, "Method Not Allowed\n"},
	} {
		status, text := f.send(c.method, c.path, c.body, "Authorization", "Bearer "+testToken, "Content-Type", c.contentType)
		if status != c.status || text != c.text {
			t.Errorf("%s is answered %d %s, not %d %s", c.name, status, text, c.status, c.text)
		}
	}
}

// TestB1Metrics has every metric of the existing bindcar move.
func TestB1Metrics(t *testing.T) {
	f := newFixture(t, func(s *Settings) { s.Limit.Burst, s.Limit.Requests = 6, 1 })
	f.call("POST", "/api/v1/zones", minimal)
	f.call("POST", "/api/v1/zones", minimal)
	f.call("POST", "/api/v1/zones/example.com/records", `{"name":"www","type":"A","value":"192.0.2.5"}`)
	f.call("POST", "/api/v1/zones/example.com/records", `{"name":"www","type":"CNAME","value":"a."}`)
	f.call("BREW", "/api/v1/zones/example.com", "")
	f.call("GET", "/api/v1/zones/example.com", "")
	f.call("GET", "/api/v1/zones/example.com", "")
	if status, text := f.call("GET", "/api/v1/zones", ""); status != 429 || text != "Too Many Requests! Wait for 60s" {
		t.Errorf("too many requests are answered %d %s", status, text)
	}
	status, text := f.send("GET", "/metrics", "")
	if status != 200 {
		t.Fatalf("the metrics are answered %d", status)
	}
	for _, want := range []string{
		`bindcar_http_requests_total{method="POST",path="/api/v1/zones",status="201"} 1`,
		`bindcar_http_requests_total{method="POST",path="/api/v1/zones",status="409"} 1`,
		`bindcar_http_requests_total{method="POST",path="/api/v1/zones/{name}/records",status="201"} 1`,
		`bindcar_http_requests_total{method="GET",path="/api/v1/zones/{name}",status="200"} 2`,
		`bindcar_http_requests_total{method="other",path="unmatched",status="405"} 1`,
		`bindcar_http_requests_total{method="GET",path="/api/v1/zones",status="429"} 1`,
		`bindcar_http_request_duration_seconds_count{method="POST",path="/api/v1/zones"} 2`,
		`bindcar_zone_operations_total{operation="create",result="success"} 1`,
		`bindcar_zone_operations_total{operation="create",result="error"} 1`,
		`bindcar_zone_operations_total{operation="record_add",result="success"} 1`,
		`bindcar_zone_operations_total{operation="record_add",result="error"} 1`,
		`bindcar_rndc_commands_total{command="addzone",result="success"} 1`,
		`bindcar_rndc_commands_total{command="nsupdate_add",result="success"} 1`,
		`bindcar_rndc_command_duration_seconds_count{command="addzone"} 1`,
		`bindcar_zones_managed 1`,
		`bindcar_app_info{version="1.2.3"} 1`,
		`bindcar_rate_limit_requests_total{result="allowed"} 6`,
		`bindcar_rate_limit_requests_total{result="rejected"} 1`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("the metrics have no %s:\n%s", want,
				strings.Join(regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(want[:20])+`.*$`).FindAllString(text, -1), "\n"))
		}
	}
}

// TestAZoneIsWholeFromTheFirstAnswer has the optional fields of a create call.
func TestAZoneIsWholeFromTheFirstAnswer(t *testing.T) {
	f := newFixture(t, nil)
	records := []string{
		`{"name":"@","type":"MX","value":"mail","priority":10}`, `{"name":"mail","type":"A","value":"192.0.2.3","ttl":60}`,
		`{"name":"mail","type":"AAAA","value":"2001:DB8::3"}`,
		`{"name":"www.example.org.","type":"CNAME","value":"mail.example.org."}`,
		`{"name":"*.w","type":"TXT","value":"\"a;b\" \"$c\""}`,
		`{"name":"_sip._tcp","type":"SRV","value":"5 5060 mail","priority":1}`,
		`{"name":"@","type":"CAA","value":"0 issue \"ca.example.net\""}`,
		`{"name":"svc","type":"HTTPS","value":"1 . alpn=h2"}`, `{"name":"\\$ORIGIN","type":"TXT","value":"x"}`,
		`{"name":"sub","type":"NS","value":"ns.example.net."}`,
	}
	body := fmt.Sprintf(`{"zoneName":"example.org","zoneType":"primary","zoneConfig":{"ttl":300,"soa":{"primaryNs":"ns1","adminEmail":"admin.example.org.","serial":2026112105,"refresh":1,"retry":2,"expire":3,"negativeTtl":4},
		"nameServers":["ns1.example.org","ns2.example.org.","ns.example.net."],"nameServerIps":{"ns1.example.org.":"2001:db8::1","ns.example.net.":"192.0.2.99"},
		"nameServerAddresses":{"ns2.example.org.":["192.0.2.2","2001:db8::2"]},"records":[%s]}}`, strings.Join(records, ","))
	f.want("POST", "/api/v1/zones", body, 201,
		`{"success":true,"message":"Zone example.org created successfully","details":""}`)
	for question, want := range map[string]string{
		"example.org. SOA":            "300 IN SOA ns1.example.org. admin.example.org. 2026112105 1 2 3 4",
		"ns1.example.org. AAAA":       "300 IN AAAA 2001:db8::1",
		"ns2.example.org. A":          "300 IN A 192.0.2.2",
		"ns2.example.org. AAAA":       "300 IN AAAA 2001:db8::2",
		"example.org. MX":             "300 IN MX 10 mail.example.org.",
		"mail.example.org. A":         "60 IN A 192.0.2.3",
		"mail.example.org. AAAA":      "300 IN AAAA 2001:db8::3",
		"www.example.org. CNAME":      "300 IN CNAME mail.example.org.",
		"x.w.example.org. TXT":        `300 IN TXT "a;b" "$c"`,
		"_sip._tcp.example.org. SRV":  "300 IN SRV 1 5 5060 mail.example.org.",
		"example.org. CAA":            `300 IN CAA 0 issue "ca.example.net"`,
		"svc.example.org. HTTPS":      `300 IN HTTPS 1 . alpn="h2"`,
		`\$ORIGIN.example.org. TXT`:   `300 IN TXT "x"`,
		"ns.example.net. A":           "REFUSED",
		"nothing.mail.example.org. A": "NXDOMAIN",
	} {
		name, typ, _ := strings.Cut(question, " ")
		if got := f.ask(name, typ); got != want {
			t.Errorf("%s: %s, not %s", question, got, want)
		}
	}
	info, err := os.Stat(filepath.Join(f.dir, "example.org.zone"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v, %v", info, err)
	}
}
