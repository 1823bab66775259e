package bindcar

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/bind9"
)

// TestHeldZones makes a zone that nobody sees, and shows it.
func TestHeldZones(t *testing.T) {
	f := newFixture(t, nil)
	f.want("PUT", "/api/v1/server/content", `{"zones":[]}`, 200, `{"declared":true,"zones":[]}`)
	const zone = "/api/v1/zones/h.test"
	held := strings.Replace(createBody("h.test", `,"alsoNotify":["192.0.2.1"]`), `"zoneType"`, `"held":true,"zoneType"`, 1)
	f.want("POST", "/api/v1/zones", strings.Replace(held, `"updateKeyName":"bindy-operator",`, "", 1), 400,
		`{"error":"Invalid request: held: no key may update the zone, so it could not be filled; name a key in updateKeyName","details":null}`)
	if status, text := f.call("POST", "/api/v1/zones", held); status != 201 {
		t.Fatalf("making a held zone is answered %d %s", status, text)
	}
	f.want("GET", zone+"/settings", "", 200,
		`{"zoneType":"primary","own":true,"held":true,"alsoNotify":[],"allowTransfer":["none"],"allowUpdate":["key bindy-operator"],"primaries":[],"dnssecPolicy":""}`)
	f.want("GET", "/api/v1/ready", "", 503,
		`{"ready":false,"checks":["zone_dir: ok","rndc: ok","content: ok","zones: 1 of 1 not loaded"]}`)
	if got := f.ask("h.test.", "SOA"); got != "REFUSED" {
		t.Errorf("asking for a held zone is answered %s", got)
	}
	f.want("PATCH", zone, `{"alsoNotify":["192.0.2.1"]}`, 400,
		`{"error":"Invalid request: held: a held zone is neither notified of nor transferred; set alsoNotify and allowTransfer with held false","details":null}`)
	for change, want := range map[string]bool{`{"allowUpdate":["key bindy-operator","192.0.2.1"]}`: true,
		`{"held":true}`: true} {
		if status, text := f.call("PATCH", zone, change); status != 200 {
			t.Errorf("%s is answered %d %s", change, status, text)
		}
		if s, err := f.client(testToken).Settings(t.Context(), "h.test"); err != nil || s.Held != want {
			t.Errorf("after %s: %+v, %v", change, s, err)
		}
	}
	if status, text := f.call("PATCH", zone,
		`{"held":false,"alsoNotify":["192.0.2.1:53"],"allowTransfer":["key bindy-operator","10.0.0.0/8","2001:db8::1"],"allowUpdate":["key bindy-operator"]}`); status != 200 {
		t.Errorf("releasing it is answered %d %s", status, text)
	}
	f.want("GET", zone+"/settings", "", 200,
		`{"zoneType":"primary","own":true,"held":false,"alsoNotify":["192.0.2.1:53"],"allowTransfer":["key bindy-operator","10.0.0.0/8","2001:db8::1"],"allowUpdate":["key bindy-operator"],"primaries":[],"dnssecPolicy":""}`)
	f.want("GET", "/api/v1/ready", "", 200,
		`{"ready":true,"checks":["zone_dir: ok","rndc: ok","content: ok","zones: ok"]}`)
	if got := f.ask("h.test.", "NS"); !strings.Contains(got, "ns1.other.test.") {
		t.Errorf("asking for a zone that is shown is answered %s", got)
	}
}

func TestSettingsOfZones(t *testing.T) {
	f := newFixture(t, nil)
	f.want("GET", "/api/v1/zones/none.test/settings", "", 404, `{"error":"Zone not found: none.test","details":null}`)
	f.want("POST", "/api/v1/zones/none.test/refresh", "", 404, `{"error":"Zone not found: none.test","details":null}`)
	if status, text := f.call("POST", "/api/v1/zones", createBody("a.test", "")); status != 201 {
		t.Fatalf("making a zone is answered %d %s", status, text)
	}
	f.want("PATCH", "/api/v1/zones/a.test", `{"dnssecPolicy":"p1\"; x"}`, 400,
		`{"error":"Invalid request: the DNSSEC policy \"p1\\\"; x\" is not a name: letters, digits, '-', '_' and dots","details":null}`)
	for _, policy := range []string{"default", ""} {
		if status, text := f.call("PATCH", "/api/v1/zones/a.test", `{"dnssecPolicy":"`+policy+`"}`); status != 200 {
			t.Errorf("the policy %q is answered %d %s", policy, status, text)
		}
		f.want("GET", "/api/v1/zones/a.test/settings", "", 200,
			`{"zoneType":"primary","own":true,"held":false,"alsoNotify":[],"allowTransfer":[],"allowUpdate":["key bindy-operator"],"primaries":[],"dnssecPolicy":"`+policy+`"}`)
	}
	primaries := `,"primaries":["192.0.2.1:5353 key bindy-operator","2001:db8::1"]`
	if status, text := f.call("POST", "/api/v1/zones",
		strings.Replace(createBody("s.test", primaries), `"primary","updateKeyName":"bindy-operator"`, `"secondary"`,
			1)); status != 201 {
		t.Fatalf("making a secondary zone is answered %d %s", status, text)
	}
	f.want("GET", "/api/v1/zones/s.test/settings", "", 200,
		`{"zoneType":"secondary","own":true,"held":false,"alsoNotify":[],"allowTransfer":[],"allowUpdate":[],"primaries":["192.0.2.1:5353 key bindy-operator","2001:db8::1"],"dnssecPolicy":""}`)
	if status, text := f.call("POST", "/api/v1/zones/s.test/refresh", ""); status != 200 {
		t.Errorf("refreshing is answered %d %s", status, text)
	}
}

// TestOwnKeysStandForTheirLists names a key in a zone, and has the next one of its kind in its place.
func TestOwnKeysStandForTheirLists(t *testing.T) {
	f := newFixture(t, nil)
	ring := bind9.Ring{Keys: []bind9.Key{testKey("bindy-transfer"), testKey("bindy-transfer-2")},
		InUse: "bindy-transfer-2"}
	items, err := ring.Data(bind9.ForTransfer, f.control)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range items {
		f.write(filepath.Join(f.conf, "keys", name), string(text))
	}
	if status, text := f.call("POST", "/api/v1/zones",
		createBody("a.test", `,"allowTransfer":["key bindy-transfer"]`)); status != 201 {
		t.Fatalf("making a zone is answered %d %s", status, text)
	}
	f.shows("a.test", `allow-transfer  { "bindy-transfer"; }`)
	f.want("GET", "/api/v1/zones/a.test/settings", "", 200,
		`{"zoneType":"primary","own":true,"held":false,"alsoNotify":[],"allowTransfer":["key bindy-transfer-2"],"allowUpdate":["key bindy-operator"],"primaries":[],"dnssecPolicy":""}`)
}
