package kubizone

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestTheLedgerKeepsASetWhoseDataItDoesNotKnow(t *testing.T) {
	name, err := dnsname.Parse("www.example.org.")
	if err != nil {
		t.Fatal(err)
	}
	key := rr.Key{Name: name, Type: rr.TypeA}
	txn := rr.Sets{}.Txn()
	txn.Put(rr.Set{Name: name, Type: rr.TypeA, Data: []string{""}})
	slice := journalPage(page{sets: txn.Sets()})
	back := rr.Sets{}.Txn()
	dialect.PutEntries(back, dialect.EntriesIn(slice.Text))
	if _, ok := back.Get(key); !ok {
		t.Fatalf("%s is lost on the way through %+v", key, slice)
	}
}

func TestAPageOfTheJournalIsReadAsItWasWritten(t *testing.T) {
	txn := rr.Sets{}.Txn()
	for name, data := range map[string][]string{
		`a\032b.example.org.`: {`"one two"`, `"a;b" "c\"d" ""`},
		`*.example.org.`:      {`"` + strings.Repeat("x", 255) + `"`},
		`.`:                   {`""`},
	} {
		owner, err := dnsname.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		txn.Put(rr.NewSet(rr.Key{Name: owner, Type: rr.TypeTXT}, 2147483647, data...))
		txn.Put(rr.NewSet(rr.Key{Name: owner, Type: rr.Type(65280)}, 0, `\# 0`))
	}
	want := txn.Sets()
	back := rr.Sets{}.Txn()
	dialect.PutEntries(back, dialect.EntriesIn(journalPage(page{sets: want}).Text))
	got := back.Sets()
	if got.Len() != want.Len() {
		t.Errorf("%d sets became %d", want.Len(), got.Len())
	}
	for set := range want.All() {
		if read, _ := got.Get(set.Key()); !read.Equal(set) {
			t.Errorf("%v became %v", set, read)
		}
	}
}

func TestAPageThatSomebodyHasEditedLosesOnlyTheLinesThatSayNothing(t *testing.T) {
	text := "x\n\nwww.example.org. many IN A 192.0.2.1\nwww.example.org. -1 IN A 192.0.2.1\nmail.example.org. 300 " +
		"IN A 192.0.2.2"
	back := rr.Sets{}.Txn()
	dialect.PutEntries(back, dialect.EntriesIn(text))
	if got := back.Sets(); got.Len() != 1 {
		t.Errorf("%d sets were read from %q, want 1", got.Len(), text)
	}
}

// TestADivisionFollowsItsZone holds following by changed keys equal to dividing anew.
func TestADivisionFollowsItsZone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "parts")
		content := rr.Sets{}
		d := divide(content, n)
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			txn := content.Txn()
			var changed []rr.Key
			for range rapid.IntRange(1, 5).Draw(t, "sets") {
				name, err := dnsname.Parse(rapid.StringMatching(`[a-c]\.[a-c]\.example\.`).Draw(t, "name"))
				if err != nil {
					t.Fatal(err)
				}
				key := rr.Key{Name: name, Type: rapid.SampledFrom([]rr.Type{rr.TypeA, rr.TypeAAAA}).Draw(t, "type")}
				data := rapid.SliceOfN(rapid.SampledFrom([]string{"192.0.2.1", "192.0.2.2"}), 0, 2).Draw(t, "data")
				if len(data) == 0 {
					txn.Delete(key)
				} else {
					txn.Put(rr.NewSet(key, 300, data...))
				}
				changed = append(changed, key)
			}
			slices.SortFunc(changed, rr.Key.Compare)
			changed = slices.Compact(changed)
			old := content
			content = txn.Sets()
			d.update(old, content, changed)
			want := divide(content, n)
			for i := range d.parts {
				if !slices.Equal(d.parts[i].keys, want.parts[i].keys) || d.parts[i].count != want.parts[i].count {
					t.Fatalf("part %d is %+v, want %+v", i, d.parts[i], want.parts[i])
				}
			}
		}
	})
}

func TestOnlyPartsThatChangedAreTaken(t *testing.T) {
	name, err := dnsname.Parse("www.example.org.")
	if err != nil {
		t.Fatal(err)
	}
	d := divide(rr.Sets{}, 4)
	if got := d.take(); !got.parts[0].dirty || !got.parts[3].dirty {
		t.Error("a new division is not written whole")
	}
	set := rr.NewSet(rr.Key{Name: name, Type: rr.TypeA}, 300, "192.0.2.1")
	txn := rr.Sets{}.Txn()
	txn.Put(set)
	d.update(rr.Sets{}, txn.Sets(), []rr.Key{set.Key()})
	taken := d.take()
	for i, p := range taken.parts {
		if mine := i == partOf(name, 4); p.dirty != mine || (len(p.keys) == 1) != mine {
			t.Errorf("part %d is %+v", i, p)
		}
	}
	if again := d.take(); slices.ContainsFunc(again.parts, func(p part) bool { return p.dirty }) {
		t.Error("what was taken is taken again")
	}
	d.spoil()
	if again := d.take(); slices.ContainsFunc(again.parts, func(p part) bool { return !p.dirty }) {
		t.Error("what was not written is not taken again")
	}
}
