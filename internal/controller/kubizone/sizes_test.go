package kubizone

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// largest is what one object may have in etcd, by default.
const largest = 1536 << 10

// hugeSets are n sets of one TXT of 60,000 octets, which JSON writes with six characters each.
func hugeSets(t *testing.T, n int) rr.Sets {
	t.Helper()
	data, err := rr.ParseData(rr.TypeTXT, strings.TrimSpace(strings.Repeat(`"`+strings.Repeat("<", 250)+`" `, 240)))
	if err != nil {
		t.Fatal(err)
	}
	txn := rr.Sets{}.Txn()
	for i := range n {
		name, err := dnsname.Parse(fmt.Sprintf("n%03d.example.org.", i))
		if err != nil {
			t.Fatal(err)
		}
		txn.Put(rr.NewSet(rr.Key{Name: name, Type: rr.TypeTXT}, 60, data))
	}
	apex, _ := dnsname.Parse("example.org.")
	txn.Put(rr.NewSet(rr.Key{Name: apex, Type: rr.TypeNS}, 60, "ns1.example.net.", "ns2.example.net."))
	return txn.Sets()
}

// TestLargeRecordsFitIntoTheirObjects: a tenant with a few names and very large data would else keep the zone of all
// from being written down, and so, among foreign sets, from being published.
func TestLargeRecordsFitIntoTheirObjects(t *testing.T) {
	sets := hugeSets(t, 300)
	var entries []v1alpha1.Entry
	for set := range sets.All() {
		entries = entriesOf(entries, set)
	}
	page := journalPage(page{name: "journal", sets: sets})
	for what, object := range map[string]any{"a page of the journal": page, "a slice": within(entries, maxStatus)} {
		body, err := json.Marshal(object)
		if err != nil || len(body) > largest {
			t.Errorf("%s has %d octets (%v)", what, len(body), err)
		}
	}
	back := pageSets(page)
	if back.Len() != sets.Len() {
		t.Errorf("of %d sets, %d are read back", sets.Len(), back.Len())
	}
	for set := range back.All() {
		if set.Type == rr.TypeNS && len(set.Data) != 2 {
			t.Errorf("of the name servers, %q are left", set.Data)
		}
	}
}

func TestTheSizeOfAnEntryIsThatOfItsJSON(t *testing.T) {
	for _, data := range []string{"192.0.2.1", `"<&>\"\\\010"`, strings.Repeat("a", 1000)} {
		e := v1alpha1.Entry{FQDN: "a.example.org.", Type: "NSEC3PARAM", Class: "IN", TTL: 2147483647, RData: data}
		body, err := json.Marshal(e)
		if got := sizeOf(e); err != nil || got < len(body) || got > len(body)+40 {
			t.Errorf("%.20s: %d octets are %d (%v)", data, len(body), got, err)
		}
	}
}

func TestEntriesThatFitStayAsTheyAre(t *testing.T) {
	entries := []v1alpha1.Entry{{FQDN: "a.", Type: "A", RData: "192.0.2.1"}, {FQDN: "a.", Type: "A", RData: "192.0.2.2"},
		{FQDN: "b.", Type: "TXT", RData: `"x"`}}
	if got := within(entries, maxStatus); len(got) != 3 {
		t.Errorf("%v", got)
	}
	got := within(entries, 3*80+20)
	if len(got) != 2 || got[0].RData != "" || got[1].RData != `"x"` {
		t.Errorf("the larger set keeps its data: %v", got)
	}
}

// TestAllEntriesAreInTheStatusWhileTheyFit: the document knows no other place for them.
func TestAllEntriesAreInTheStatusWhileTheyFit(t *testing.T) {
	txn := rr.Sets{}.Txn()
	for i := range 5000 {
		name, err := dnsname.Parse(fmt.Sprintf("r%d.example.org.", i))
		if err != nil {
			t.Fatal(err)
		}
		txn.Put(rr.NewSet(rr.Key{Name: name, Type: rr.TypeA}, 60, "192.0.2.1"))
	}
	k := New(Config{Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(), Clock: &stopped{now: noon},
		Rand: rand.Float64})
	status, id := v1alpha1.ZoneStatus{}, dialect.ZoneID("a", "org")
	if err := k.flush(t.Context(), id, &v1alpha1.Zone{},
		zone.Snapshot{Name: mustName(t, "example.org."), Sets: txn.Sets()}, &status); err != nil {
		t.Fatal(err)
	}
	if len(status.Entries) != 5001 || status.Slices != 0 {
		t.Errorf("the status gets %d entries and %d slices", len(status.Entries), status.Slices)
	}
	if !k.isLarge(id) {
		t.Error("it is written with every change")
	}
}

func TestThatABackendHasGotOnIsNoNewsOfALargeZone(t *testing.T) {
	one, two := v1alpha1.Number(1), v1alpha1.Number(2)
	at := func(serial *v1alpha1.Number, reason string) []v1alpha1.ZoneBackend {
		return []v1alpha1.ZoneBackend{{Name: "bind", FQDN: "example.org.", Serial: serial, Reason: reason}}
	}
	for _, c := range []struct {
		sentence      string
		before, after []v1alpha1.ZoneBackend
		want          bool
	}{
		{"another serial", at(&one, ""), at(&two, ""), true},
		{"the first serial", at(nil, ""), at(&one, ""), true},
		{"another reason", at(&one, ""), at(&two, "Unavailable"), false},
		{"another Backend", nil, at(&one, ""), false},
	} {
		if got := onlySerials(c.before, c.after); got != c.want {
			t.Errorf("%s: %t, want %t", c.sentence, got, c.want)
		}
	}
}

func mustName(t *testing.T, text string) dnsname.Name {
	t.Helper()
	name, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}
