package kubizone

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

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
	k := New(Config{Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(), Clock: &stopped{now: noon}})
	status, id := v1alpha1.ZoneStatus{}, dialect.ZoneID("a", "org")
	if err := k.flush(t.Context(), id, &v1alpha1.Zone{},
		zone.Snapshot{Name: mustName(t, "example.org."), Sets: txn.Sets()}, &status); err != nil {
		t.Fatal(err)
	}
	if len(status.Entries) != 5001 || status.Slices != 0 {
		t.Errorf("the status gets %d entries and %d slices", len(status.Entries), status.Slices)
	}
	m, unlock := k.memory.Lock()
	defer unlock()
	if m.zoneState(id).pause == 0 {
		t.Error("it is written with every change")
	}
}

func TestThatABackendHasGotOnIsSmallNews(t *testing.T) {
	one, two := v1alpha1.Number(1), v1alpha1.Number(2)
	at := func(serial *v1alpha1.Number, reason string) []v1alpha1.ZoneBackend {
		return []v1alpha1.ZoneBackend{{Name: "bind", FQDN: "example.org.", Serial: serial, Reason: reason}}
	}
	pending := &controller.Later{After: time.Minute}
	for _, c := range []struct {
		sentence      string
		pause         time.Duration // after the content is written
		told          time.Duration // ago
		before, after []v1alpha1.ZoneBackend
		later         error
		rests         bool
		want          error
	}{
		{"another serial is told", 0, statusRest, at(&one, ""), at(&two, ""), nil, false, nil},
		{"the first serial is told", 0, time.Hour, at(nil, ""), at(&one, ""), nil, false, nil},
		{"the next one waits", 0, statusRest / 5, at(&one, ""), at(&two, ""), nil, true,
			&controller.Later{After: statusRest * 4 / 5}},
		{"nor longer for what comes later", 0, statusRest / 5, at(&one, ""), at(&two, ""), pending, true,
			&controller.Later{After: statusRest * 4 / 5}},
		{"what comes sooner still does", 0, statusRest / 5, at(&one, ""), at(&two, ""), &controller.Later{}, true,
			&controller.Later{}},
		{"it does not wait for long", 0, statusRest, at(&one, ""), at(&two, ""), pending, false, pending},
		{"of a large zone it goes with the content", time.Second, time.Hour, at(&one, ""), at(&two, ""), pending, true,
			pending},
		{"no news make nobody wait", 0, 0, at(&one, ""), at(&one, ""), nil, true, nil},
		{"another reason is told at once", 0, 0, at(&one, ""), at(&two, "Unavailable"), nil, false, nil},
		{"another Backend is told at once", 0, 0, nil, at(&one, ""), nil, false, nil},
	} {
		k := New(Config{Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(), Clock: &stopped{now: noon}})
		id := dialect.ZoneID("a", "org")
		m, unlock := k.memory.Lock()
		m.zoneState(id).pause, m.zoneState(id).told = c.pause, noon.Add(-c.told)
		unlock()
		z, want := v1alpha1.Zone{Status: v1alpha1.ZoneStatus{Backends: c.before}}, v1alpha1.ZoneStatus{Backends: c.after}
		later := k.restSerials(id, &z, &want, c.later)
		if rests := reflect.DeepEqual(want.Backends, c.before); rests != c.rests || !reflect.DeepEqual(later, c.want) {
			t.Errorf("%s: told as before: %t; then %v", c.sentence, rests, later)
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
