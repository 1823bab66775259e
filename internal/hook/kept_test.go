package hook_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/hook"
	"github.com/zonefold/zonefold/internal/rr"
)

// keep serves example.com as a folder keeps it.
func keep(t *testing.T, dir string) (*hook.Provider, *hook.Kept) {
	t.Helper()
	names, err := embedded.Serve(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := hook.Keep(names.Group("g"), dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Open(t.Context(), parse(t, "example.com.")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return before(t, hook.Zone{Name: parse(t, "example.com."), Backend: k}), k
}

// content is what is served, without SOA, and its serial.
func content(t *testing.T, k *hook.Kept) (string, uint32) {
	t.Helper()
	found, err := k.Read(t.Context(), parse(t, "example.com."), backend.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for set := range found.Sets.All() {
		out = append(out, fmt.Sprint(set.Key(), " ", set.TTL, " ", strings.Join(set.Data, ",")))
	}
	return strings.Join(out, "\n"), found.SOA.Serial
}

// counting counts how often a server is read.
type counting struct {
	backend.Backend
	reads atomic.Int32
}

// Read implements backend.Backend.
func (c *counting) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	c.reads.Add(1)
	return c.Backend.Read(ctx, zone, ask)
}

// TestNothingIsReadForWhatIsDone counts what a change costs: services limit requests, and a read may be of a whole
// zone.
func TestNothingIsReadForWhatIsDone(t *testing.T) {
	_, k := keep(t, t.TempDir())
	c := &counting{Backend: k}
	p := before(t, hook.Zone{Name: parse(t, "example.com."), Backend: c})
	const changes = 3
	for i := range changes {
		if err := p.Upsert(t.Context(), record("A", "example.com", "www", fmt.Sprintf("192.0.2.%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	want := int32(2 * changes) // what is there, and what has become of it
	if k.Limits().Confirms {
		want = changes
	}
	if got := c.reads.Load(); got != want {
		t.Errorf("for %d changes there are %d reads, want %d", changes, got, want)
	}
}

// TestAnAliasStandsAlone is about what other servers see to themselves.
func TestAnAliasStandsAlone(t *testing.T) {
	p, k := keep(t, t.TempDir())
	upsert := func(kind, subdomain, value string) dnshook.Operation {
		return dnshook.Operation{Action: dnshook.ActionUpsert, Record: record(kind, "example.com", subdomain, value)}
	}
	remove := func(kind, subdomain string) dnshook.Operation {
		return dnshook.Operation{Action: dnshook.ActionDelete, Record: record(kind, "example.com", subdomain)}
	}
	for _, c := range []struct {
		sentence   string
		operations []dnshook.Operation
		want       string // the codes
	}{
		{"not at the apex, where the SOA is", []dnshook.Operation{upsert("CNAME", "@", "a.example.net")}, "INVALID_VALUE"},
		{"the first of two keeps the name", []dnshook.Operation{upsert("CNAME", "x", "a.example.net"), upsert("A", "x",
			"192.0.2.1"), upsert("A", "y", "192.0.2.1")}, ",INVALID_VALUE,"},
		{"nothing comes beside it", []dnshook.Operation{upsert("TXT", "x", "text")}, "INVALID_VALUE"},
		{"it comes beside nothing", []dnshook.Operation{upsert("CNAME", "y", "a.example.net")}, "INVALID_VALUE"},
		{"it changes", []dnshook.Operation{upsert("CNAME", "x", "b.example.net")}, ""},
		{"and takes turns with others", []dnshook.Operation{remove("CNAME", "x"), upsert("A", "x", "192.0.2.2"), remove("A",
			"y"), upsert("CNAME", "y", "c.example.net")}, ",,,"},
		{"what is below it does not matter", []dnshook.Operation{upsert("A", "z.y", "192.0.2.3")}, ""},
	} {
		var codes []string
		for _, err := range p.Batch(t.Context(), c.operations) {
			codes = append(codes, string(dnshook.CodeOf(err)))
		}
		if got := strings.Join(codes, ","); got != c.want {
			t.Errorf("%s: it comes to %q, want %q", c.sentence, got, c.want)
		}
	}
	want := "example.com. NS 3600 ns.example.com.\nx.example.com. A 300 192.0.2.2\ny.example.com. CNAME 300 " +
		"c.example.net.\nz.y.example.com. A 300 192.0.2.3"
	if got, _ := content(t, k); got != want {
		t.Errorf("it holds %s", got)
	}
}

func TestWhatIsKeptIsThereAgain(t *testing.T) {
	dir := t.TempDir()
	p, k := keep(t, dir)
	for i := range 50 {
		if err := p.Upsert(t.Context(), record("A", "example.com", fmt.Sprintf("n%d", i%5),
			fmt.Sprintf("192.0.2.%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Delete(t.Context(), dnshook.ID{Type: "A", Domain: "example.com", Subdomain: "n3"}); err != nil {
		t.Error(err)
	}
	if err := p.Upsert(t.Context(), record("TXT", "example.com", "@", `a "b" \ ä`)); err != nil {
		t.Error(err)
	}
	before, serial := content(t, k)
	file := filepath.Join(dir, "example.com.journal")
	for _, half := range []string{"", `{"soa":"ns.exam`} { // as the process was killed while it wrote
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(half); err != nil {
			t.Fatal(err)
		}
		f.Close()
		k.Close()
		_, k = keep(t, dir)
		after, next := content(t, k)
		if after != before || !rr.SerialLess(serial+1, next) {
			t.Errorf("after a new start it serves, with serial %d after %d,\n%s\nwant\n%s", next, serial, after, before)
		}
		serial = next
	}
}

func TestAZoneAlwaysHasANameServer(t *testing.T) {
	dir := t.TempDir()
	p, k := keep(t, dir)
	ns := dnshook.ID{Type: "NS", Domain: "example.com", Subdomain: "@"}
	has := func(when, want string) {
		t.Helper()
		if r, err := p.Get(t.Context(), ns); err != nil || strings.Join(r.Values, ",") != want {
			t.Errorf("%s GET shows %q, %v; want %s", when, r.Values, err, want)
		}
	}
	has("at first", "ns.example.com")
	if err := p.Upsert(t.Context(), record("NS", "example.com", "@", "ns.example.net")); err != nil {
		t.Error(err)
	}
	has("with another one", "ns.example.net")
	for range 2 {
		if err := p.Delete(t.Context(), ns); err != nil {
			t.Error(err)
		}
		has("when it was deleted", "ns.example.com")
	}
	k.Close()
	p, k = keep(t, dir)
	has("after a new start", "ns.example.com")
	k.Close()
	text, err := os.ReadFile(filepath.Join(dir, "example.com.journal"))
	if err != nil {
		t.Fatal(err)
	}
	without := strings.ReplaceAll(string(text), `"type":"NS"`, `"type":"TXT"`)
	if err := os.WriteFile(filepath.Join(dir, "example.com.journal"), []byte(without), 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ = keep(t, dir)
	has("when a journal has none", "ns.example.com")
}

func TestJournalsThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	p, k := keep(t, dir)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	r := record("A", "example.com", "www", "192.0.2.1")
	for range 2 { // the second time nothing would have to be changed
		if err := p.Upsert(t.Context(), r); err == nil {
			t.Error("what is not kept is confirmed")
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "example.com.journal"), []byte("{\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	names, err := embedded.Serve(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := hook.Keep(names.Group("g"), dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	if err := again.Open(t.Context(), parse(t, "example.com.")); err == nil ||
		!strings.Contains(err.Error(), "example.com.journal:1: ") {
		t.Errorf("a journal that is damaged: %v", err)
	}
}

func TestAFolderBelongsToOne(t *testing.T) {
	dir := t.TempDir()
	_, k := keep(t, dir)
	names, err := embedded.Serve(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hook.Keep(names.Group("g"), dir, time.Now); err == nil ||
		!strings.Contains(err.Error(), "another process keeps its records in the folder "+dir) {
		t.Errorf("another one that keeps its records there is told: %v", err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	keep(t, dir)
}
