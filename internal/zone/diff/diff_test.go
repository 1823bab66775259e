package diff

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

func drawContent(t *rapid.T) zone.Snapshot {
	apex, err := dnsname.Parse("example.org.")
	if err != nil {
		t.Fatal(err)
	}
	txn := rr.Sets{}.Txn()
	for range rapid.IntRange(0, 8).Draw(t, "sets") {
		label := rapid.SampledFrom([]string{"", "a.", "b.", `c\032d.`, "*."}).Draw(t, "name")
		name, err := dnsname.Parse(label + "example.org.")
		if err != nil {
			t.Fatal(err)
		}
		kind := rapid.SampledFrom([]rr.Type{rr.TypeA, rr.TypeTXT}).Draw(t, "type")
		data := rapid.SliceOfNDistinct(rapid.SampledFrom(map[rr.Type][]string{
			rr.TypeA: {"192.0.2.1", "192.0.2.2"}, rr.TypeTXT: {`"one two" ""`, `"+ x\"y;"`, `"- z"`},
		}[kind]), 1, 2, rapid.ID).Draw(t, "data")
		txn.Put(rr.NewSet(rr.Key{Name: name, Type: kind}, rapid.Uint32Range(0, 2).Draw(t, "ttl"), data...))
	}
	s := zone.Snapshot{Name: apex, Sets: txn.Sets(), SOA: rr.SOA{MName: apex, RName: apex, Refresh: 1,
		TTL: rapid.Uint32Range(1, 2).Draw(t, "soa")}}
	s.Hash = zone.HashOf(s.Sets)
	return s
}

func same(a, b zone.Snapshot) bool {
	return a.Name == b.Name && a.SOA == b.SOA && a.Hash == b.Hash && len(Between(a, b, nil)) == 0
}

// TestEveryContentOfAHistoryComesBack walks random contents back and forth by the text of their deltas.
func TestEveryContentOfAHistoryComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		contents := []zone.Snapshot{drawContent(t)}
		var revisions []Revision
		for i := range rapid.IntRange(0, 5).Draw(t, "changes") {
			was, is := contents[i], drawContent(t)
			edits := Between(was, is, nil)
			text := Text(edits)
			read, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			forth, err := Redo(was, read)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Undo(is, read)
			if err != nil {
				t.Fatal(err)
			}
			forth.Hash, back.Hash = zone.HashOf(forth.Sets), zone.HashOf(back.Sets)
			if !same(forth, is) || !same(back, was) {
				t.Fatalf("by\n%s\n%+v becomes %+v, and back %+v", text, was, forth, back)
			}
			contents = append(contents, is)
			revisions = append(revisions, Revision{Serial: uint32(i) + 2, PreviousSerial: uint32(i) + 1, Hash: is.Hash,
				PreviousHash: was.Hash, Delta: text})
		}
		now := contents[len(contents)-1]
		for i, want := range contents[:len(contents)-1] {
			got, err := Earlier(now, revisions, uint32(i)+1)
			if err != nil {
				t.Fatal(err)
			}
			if !same(got, want) {
				t.Fatalf("serial %d was %+v and is %+v", i+1, want, got)
			}
			edits, err := Back(zone.Snapshot{Name: now.Name, Hash: now.Hash}, revisions, uint32(i)+1)
			if shown := Between(now, want, nil); err != nil || Text(edits) != Text(shown) {
				t.Fatalf("going back to serial %d is shown as\n%s\nand is\n%s: %v", i+1, Text(edits), Text(shown), err)
			}
		}
	})
}

func TestWhatAHistoryCannotTell(t *testing.T) {
	apex, err := dnsname.Parse("example.org.")
	if err != nil {
		t.Fatal(err)
	}
	content := func(address string) zone.Snapshot {
		txn := rr.Sets{}.Txn()
		txn.Put(rr.NewSet(rr.Key{Name: apex, Type: rr.TypeA}, 60, address))
		return zone.Snapshot{Name: apex, Sets: txn.Sets(), Hash: zone.HashOf(txn.Sets()),
			SOA: rr.SOA{MName: apex, RName: apex}}
	}
	one, two, three := content("192.0.2.1"), content("192.0.2.2"), content("192.0.2.3")
	step := func(serial uint32, was, is zone.Snapshot) Revision {
		return Revision{Serial: serial, PreviousSerial: serial - 1, Hash: is.Hash, PreviousHash: was.Hash,
			Delta: Text(Between(was, is, nil))}
	}
	with := func(r Revision, change func(*Revision)) Revision {
		change(&r)
		return r
	}
	for _, c := range []struct {
		name      string
		revisions []Revision
		serial    uint32
		want      string
	}{
		{"a serial that never was", []Revision{step(2, one, two), step(3, two, three)}, 7, "no content with serial 7"},
		{"a step that is missing", []Revision{step(2, one, two)}, 1, "a gap after serial 1"},
		{"a step that was too large", []Revision{step(2, one, two), with(step(3, two, three), func(r *Revision) {
			r.LeftOut, r.Delta = true, ""
		})}, 2, "the change to serial 3 of example.org. is not kept"},
		{"a step that somebody has changed", []Revision{step(2, one, two), with(step(3, two, three), func(r *Revision) {
			r.Delta = strings.ReplaceAll(r.Delta, "192.0.2.2", "192.0.2.9")
		})}, 2, "does not match the published content"},
		{"a step about another zone", []Revision{step(2, one, two), with(step(3, two, three), func(r *Revision) {
			r.Delta = strings.ReplaceAll(r.Delta, "example.org.", "example.net.")
		})}, 2, "example.net. A is not in example.org."},
		{"a line that is none", []Revision{step(2, one, two), with(step(3, two, three), func(r *Revision) {
			r.Delta = "* x"
		})}, 2, "is no line of a delta"},
		{"a serial that was taken by a content that an operator crashed with", []Revision{step(2, one, two),
			{Serial: 3, PreviousSerial: 2, PreviousHash: two.Hash, Hash: one.Hash, Delta: Text(Between(two, one, nil))},
			with(step(4, two, three), func(r *Revision) { r.PreviousSerial = 2 })}, 1, "<nil>"},
		{"a content that has got another serial since", []Revision{step(2, one, two), step(5, two, three)}, 1, "<nil>"},
		{"the content that there is", []Revision{step(2, one, two), step(3, two, three)}, 3, "<nil>"},
		{"the first content", []Revision{step(2, one, two), step(3, two, three)}, 1, "<nil>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Earlier(three, c.revisions, c.serial); !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("it says %v, without %q", err, c.want)
			}
		})
	}
}
