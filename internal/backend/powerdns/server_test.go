package powerdns_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// api makes a call of the real API as somebody else.
func api(t *testing.T, p *nameserver.PowerDNS, method, path string, body any) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, p.URL+"/api/v1/servers/localhost/"+path,
		bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", p.APIKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		said, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s %s: %s %s", method, path, resp.Status, said)
	}
}

func soa(t *testing.T, serial uint32) *rr.SOA {
	return &rr.SOA{MName: parse(t, "ns.example.net."), RName: parse(t, "root.example.net."), Serial: serial, Refresh: 1,
		Retry: 2, Expire: 3, Minimum: 4, TTL: 60}
}

func put(sets ...rr.Set) []plan.Change {
	var changes []plan.Change
	for _, set := range sets {
		changes = append(changes, plan.Change{Key: set.Key(), Want: set})
	}
	return changes
}

func TestZonesAreCreatedWhole(t *testing.T) {
	t.Parallel()
	p := serve(t)
	for zone, kind := range map[string]string{
		"native.example.": "", "primary.example.": "Primary", "0/25.2.0.192.in-addr.arpa.": "Native",
		"_under.example.": "Master", ".": "",
	} {
		c, err := powerdns.New(powerdns.Config{URL: p.URL + "/", APIKey: p.APIKey, ZoneKind: kind})
		if err != nil {
			t.Fatal(err)
		}
		name := parse(t, zone)
		if _, err := c.Read(t.Context(), name, backend.Ask{}); !errors.Is(err, backend.ErrNoZone) {
			t.Errorf("%s before it is created: %v", zone, err)
		}
		ns := rr.NewSet(rr.Key{Name: name, Type: rr.TypeNS}, 300, "ns.example.net.")
		batch := backend.Batch{Create: true, SOA: soa(t, 2026010105), Changes: put(ns)}
		if _, err := c.Apply(t.Context(), name, batch); err != nil {
			t.Errorf("creating %s: %v", zone, err)
			continue
		}
		if _, err := c.Apply(t.Context(), name, batch); !errors.Is(err, backend.ErrConflict) {
			t.Errorf("creating %s twice: %v", zone, err)
		}
		batch = backend.Batch{Expect: soa(t, 2026010105), SOA: soa(t, 2026010106), Changes: put(ns)}
		if _, err := c.Apply(t.Context(), name, batch); err != nil {
			t.Errorf("changing %s: %v", zone, err)
		}
		found, err := c.Read(t.Context(), name, backend.Ask{})
		if got, _ := found.Sets.Get(ns.Key()); err != nil || !got.Equal(ns) || found.SOA != *soa(t, 2026010106) {
			t.Errorf("%s is read as %v %v (%v)", zone, found.SOA, got, err)
		}
		if serial, err := p.Serial(t.Context(), name); err != nil || serial != 2026010106 {
			t.Errorf("%s is served with serial %d (%v)", zone, serial, err)
		}
	}
	zones, err := client(t, p, p.APIKey).Zones(t.Context())
	if err != nil || len(zones) != 6 {
		t.Errorf("the server lists %v (%v), want 6 zones", zones, err)
	}
}

func TestTheServersOwnCountingIsSwitchedOff(t *testing.T) {
	t.Parallel()
	p := serve(t)
	for _, mode := range []string{"DEFAULT", "INCREASE", "EPOCH"} {
		zone := parse(t, strings.ToLower(mode)+".example.")
		api(t, p, http.MethodPost, "zones", map[string]any{"name": zone.String(), "kind": "Master", "nameservers": []string{
			"ns.example.net."}, "soa_edit_api": mode})
		c := client(t, p, p.APIKey)
		found, err := c.Read(t.Context(), zone, backend.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		next := found.SOA
		next.Serial += 7
		set := rr.NewSet(rr.Key{Name: parse(t, "www."+zone.String()), Type: rr.TypeA}, 300, "192.0.2.1")
		if _, err := c.Apply(t.Context(), zone, backend.Batch{Expect: &found.SOA, SOA: &next,
			Changes: put(set)}); err != nil {
			t.Fatal(err)
		}
		if serial, err := p.Serial(t.Context(), zone); err != nil || serial != next.Serial {
			t.Errorf("with SOA-EDIT-API %s the serial is %d (%v), want %d", mode, serial, err, next.Serial)
		}
		again := next
		again.Serial++
		if _, err := c.Apply(t.Context(), zone, backend.Batch{Expect: &found.SOA, SOA: &again}); !errors.Is(err,
			backend.ErrConflict) {
			t.Errorf("an SOA that is not there any more: %v", err)
		}
	}
}

func TestErrorsOfTheRealServer(t *testing.T) {
	t.Parallel()
	p := serve(t)
	zone := parse(t, "example.org.")
	api(t, p, http.MethodPost, "zones", map[string]any{"name": "secondary.example.", "kind": "Slave",
		"nameservers": []string{}, "masters": []string{"192.0.2.1"}})
	bad := rr.NewSet(rr.Key{Name: parse(t, "bad.example.org."), Type: rr.TypeKEY}, 300, "49152 3 5")
	good := rr.NewSet(rr.Key{Name: parse(t, "good.example.org."), Type: rr.TypeA}, 300, "192.0.2.1")
	odd := rr.NewSet(rr.Key{Name: parse(t, `a\.b.example.org.`), Type: rr.TypeA}, 300, "192.0.2.1")
	right, wrong := client(t, p, p.APIKey), client(t, p, "wrong-key-of-a-test")
	elsewhere, err := powerdns.New(powerdns.Config{URL: p.URL, APIKey: p.APIKey, ServerID: "other"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		client *powerdns.Client
		zone   dnsname.Name
		batch  backend.Batch
		class  backend.ErrorClass
		text   string
	}{
		{"a wrong key", wrong, zone, backend.Batch{Changes: put(good)}, backend.ErrNotAuthorised, "HTTP 401"},
		{"a zone that is not there", right, parse(t, "missing.example."), backend.Batch{Changes: put(good)},
			backend.ErrNoZone, "HTTP 404"},
		{"a zone that another server fills", right, parse(t, "secondary.example."), backend.Batch{SOA: soa(t, 1)},
			backend.ErrNotAuthorised, "Slave"},
		{"a record that it cannot read", right, zone, backend.Batch{Changes: put(good, bad)}, backend.ErrRejected,
			"bad.example.org./KEY"},
		{"a name that it does not take", right, zone, backend.Batch{Changes: put(odd)}, backend.ErrRejected,
			"unsupported characters"},
		{"a new zone at another server", elsewhere, zone, backend.Batch{Create: true, SOA: soa(t, 1)}, backend.ErrUnavailable,
			"id is wrong"},
	} {
		_, err := c.client.Apply(t.Context(), c.zone, c.batch)
		if backend.Class(err) != c.class || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %s with %q", c.name, err, c.class, c.text)
		}
		if err != nil && (strings.Contains(err.Error(), p.APIKey) || strings.Contains(err.Error(), "wrong-key-of-a-test")) {
			t.Errorf("the error shows a key: %v", err)
		}
	}
	if _, sets, _ := truth(t, p, zone); sets.Len() != 1 {
		t.Errorf("the zone has %d sets: a batch with a bad record was half applied", sets.Len())
	}
}

func TestWhatOthersStoredIsRead(t *testing.T) {
	t.Parallel()
	p := serve(t)
	zone := parse(t, "example.org.")
	set := func(name, typ string, records ...map[string]any) map[string]any {
		return map[string]any{"name": name, "type": typ, "ttl": 60, "changetype": "REPLACE", "records": records}
	}
	record := func(content string, disabled bool) map[string]any {
		return map[string]any{"content": content, "disabled": disabled}
	}
	api(t, p, http.MethodPatch, "zones/example.org.", map[string]any{"rrsets": []any{
		set("alias.example.org.", "ALIAS", record("www.example.net.", false)),
		set("lua.example.org.", "LUA", record(`A "ifportup(443, {'192.0.2.1'})"`, false)),
		set("half.example.org.", "A", record("192.0.2.1", false), record("192.0.2.2", true)),
		set("off.example.org.", "A", record("192.0.2.1", true)),
		set("UPPER.example.org.", "MX", record("10 Mail.Example.ORG.", false)),
		set("_spf.example.org.", "SPF", record(`"v=spf1 -all"`, false)),
		set("x/y.example.org.", "TXT", record(`"a;b \"c\" \200"`, false)),
	}})
	found, err := client(t, p, p.APIKey).Read(t.Context(), zone, backend.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"alias.example.org. TYPE65401": "", "lua.example.org. TYPE65402": "", "half.example.org. A": "192.0.2.1",
		"upper.example.org. MX": "10 mail.example.org.", "_spf.example.org. TYPE99": `\# 12 0B763D73706631202D616C6C`,
		"x/y.example.org. TXT": `"a;b \"c\" \200"`, "example.org. NS": "localhost.",
	}
	for got := range found.Sets.All() {
		data, ok := want[got.Key().String()]
		if !ok || len(got.Data) != 1 || data != "" && got.Data[0] != data {
			t.Errorf("%s is read as %q, want %q", got.Key(), got.Data, data)
		}
		delete(want, got.Key().String())
	}
	if len(want) > 0 {
		t.Errorf("not read: %v", want)
	}
	var all []plan.Change
	for got := range found.Sets.All() {
		if got.Name != zone {
			all = append(all, plan.Change{Key: got.Key(), Have: got})
		}
	}
	if _, err := client(t, p, p.APIKey).Apply(t.Context(), zone, backend.Batch{Changes: all}); err != nil {
		t.Fatal(err)
	}
	if again, err := client(t, p, p.APIKey).Read(t.Context(), zone, backend.Ask{}); err != nil || again.Sets.Len() != 1 {
		t.Errorf("after everything was deleted %d sets are left (%v)", again.Sets.Len(), err)
	}
}

// TestChangesAreAnsweredAtOnce asks before and after: PowerDNS caches answers, and that a name does not exist.
func TestChangesAreAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	p := serve(t)
	zone := parse(t, "example.org.")
	c := client(t, p, p.APIKey)
	key := rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}
	for _, data := range []string{"", "192.0.2.1", "192.0.2.2", ""} {
		change := plan.Change{Key: key}
		if data != "" {
			change.Want = rr.NewSet(key, 300, data)
		}
		if _, err := c.Apply(t.Context(), zone, backend.Batch{Changes: []plan.Change{change}}); err != nil {
			t.Fatal(err)
		}
		answer, err := p.Lookup(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if data == "" && answer.Rcode != "NXDOMAIN" ||
			data != "" && (len(answer.Sets) != 1 || !answer.Sets[0].Equal(change.Want)) {
			t.Errorf("after %q was written the answer is %v", data, answer)
		}
	}
}

// TestNewZonesAreAnsweredAtOnce asks for a zone before there is one: PowerDNS remembers that it refused.
func TestNewZonesAreAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	p := serve(t)
	set := rr.NewSet(rr.Key{Name: parse(t, "www.new.example."), Type: rr.TypeA}, 300, "192.0.2.1")
	answers := func(want string) {
		t.Helper()
		if answer, err := p.Lookup(t.Context(), set.Key()); err != nil || answer.Rcode != want {
			t.Errorf("the answer is %v (%v), not %s", answer, err, want)
		}
	}
	answers("REFUSED")
	batch := backend.Batch{Create: true, SOA: soa(t, 1), Changes: put(set)}
	if _, err := client(t, p, p.APIKey).Apply(t.Context(), parse(t, "new.example."), batch); err != nil {
		t.Fatal(err)
	}
	answers("NOERROR")
}
