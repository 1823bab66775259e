package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestServingIsWhatRenderWouldPrint changes objects at random. After each change the server holds what becomes of all
// objects folded from nothing, and exactly the zones whose content is different have a higher serial.
func TestServingIsWhatRenderWouldPrint(t *testing.T) {
	server, err := embedded.Serve(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close(t.Context())
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
		group := server.Group(fmt.Sprint(runs))
		folded, s := fold.New(), newServing(func() time.Time { return now })
		s.server = group
		objects := map[string][]*manifest.Object{}
		before := map[dnsname.Name]backend.Observed{}
		newest := map[dnsname.Name]uint32{} // of each name, whether it is served or not
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			for range rapid.IntRange(1, 4).Draw(t, "changes") {
				key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(t, "object")
				objects[key] = nil
				if rapid.IntRange(0, 3).Draw(t, "presence") > 0 {
					objects[key] = parse(t, someObject(t))
				}
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "days")) * 24 * time.Hour)
			var all []*manifest.Object
			for _, key := range slices.Sorted(maps.Keys(objects)) {
				all = append(all, objects[key]...)
			}
			slices.SortStableFunc(all, func(a, b *manifest.Object) int { return a.Compare(b.Ref) })
			c, delta := folded.Put(all)
			changed := s.apply(t.Context(), c, delta)
			if len(changed.faults) > 0 {
				t.Fatal(changed.faults)
			}
			after := observe(t, group)
			want := map[string][]string{}
			for _, z := range fold.Compose(&manifest.Input{Objects: all}, now).Zones {
				if z.Verdict.Accepted {
					want[z.Snapshot.Name.String()] = linesIn(z.Snapshot.SOA, z.Snapshot.Sets)
					if n, got := len(want[z.Snapshot.Name.String()]), s.zones[z.Snapshot.Name].records; n != got {
						t.Fatalf("%s counts %d records, want %d", z.Snapshot.Name, got, n)
					}
				}
			}
			got := map[string][]string{}
			for name, z := range after {
				got[name.String()] = linesIn(z.SOA, z.Sets)
				old, was := before[name]
				same := was && slices.Equal(linesIn(old.SOA, old.Sets), got[name.String()])
				if told := slices.Contains(changed.served, name); was && told == same {
					t.Fatalf("%s is told of: %t; is the same: %t", name, told, same)
				}
				if last, known := newest[name]; known && was && same != (z.SOA.Serial == last) ||
					known && rr.SerialLess(z.SOA.Serial, last) {
					t.Fatalf("the serial of %s goes from %d to %d; the content is the same: %t", name, last, z.SOA.Serial, same)
				}
				newest[name] = z.SOA.Serial
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			before = after
		}
	})
}

// someObject returns a Zone or Record that has to do with the others, as YAML.
func someObject(t *rapid.T) string {
	pick := func(what string, from ...string) string { return rapid.SampledFrom(from).Draw(t, what) }
	name := pick("name", "example.", "a.example.", "b.a.example.", "ns.a.example.", "broken..example.", "*.b.a.example.")
	meta := fmt.Sprintf("metadata: {name: %s, namespace: %s}", pick("object name", "x", "other", "z"), pick("namespace",
		"one", "two"))
	if pick("kind", "Zone", "Record", "Record") == "Zone" {
		return fmt.Sprintf("apiVersion: kubi.zone/v1alpha1\nkind: Zone\n%s\nspec: {domainName: '%s', refresh: %s, "+
			"delegations: [{namespace: %s, zones: ['*'], records: [{pattern: '%s'}, {pattern: '@'}]}]}",
			meta, name, pick("refresh", "3600", "7200"), pick("delegate", "one", "two", "''"), pick("pattern", "*", "ns", "b"))
	}
	data := pick("data", "A, rdata: 192.0.2.1", "A, rdata: 192.0.2.2", "AAAA, rdata: '2001:db8::1'",
		"NS, rdata: ns.a.example.", "NS, rdata: ns.elsewhere.",
		"CNAME, rdata: a.example.", "A, rdata: nonsense", "DNSKEY, rdata: 257 3 13 AAAA", "CDS, rdata: 0 0 0 00",
		"TXT, ttl: 60, rdata: text")
	return fmt.Sprintf("apiVersion: kubi.zone/v1alpha1\nkind: Record\n%s\nspec: {domainName: '%s', type: %s}", meta, name,
		data)
}

func parse(t *rapid.T, text string) []*manifest.Object {
	in, err := manifest.Read(manifest.Options{Paths: []string{"-"}, Stdin: strings.NewReader(text)})
	if err != nil || len(in.Objects) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	return in.Objects
}

// observe reads back all that the server has.
func observe(t *rapid.T, group *embedded.Group) map[dnsname.Name]backend.Observed {
	names, err := group.Zones(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[dnsname.Name]backend.Observed{}
	for _, name := range names {
		if out[name], err = group.Read(t.Context(), name, backend.Ask{}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// linesIn returns a zone as text, without its serial.
func linesIn(soa rr.SOA, sets rr.Sets) []string {
	soa.Serial = 0
	out := []string{fmt.Sprint(soa.TTL, soa.Data())}
	for set := range sets.All() {
		for _, data := range set.Data {
			out = append(out, fmt.Sprint(set.Key(), set.TTL, data))
		}
	}
	return out
}
