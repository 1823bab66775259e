package registry

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

func parsed(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func key(t testing.TB, s string) rr.Key {
	t.Helper()
	name, kind, _ := strings.Cut(s, " ")
	k, err := rr.ParseType(kind)
	if err != nil {
		t.Fatal(err)
	}
	return rr.Key{Name: parsed(t, name), Type: k}
}

func zoneOf(t testing.TB, lines ...string) rr.Sets {
	t.Helper()
	txn := rr.Sets{}.Txn()
	for _, line := range lines {
		f := strings.SplitN(line, " ", 3)
		k := key(t, f[0]+" "+f[1])
		data := f[2]
		if k.Type == rr.TypeTXT {
			data = rr.Text(data)
		}
		old, _ := txn.Get(k)
		txn.Put(rr.NewSet(k, 300, append(old.Data[:len(old.Data):len(old.Data)], data)...))
	}
	return txn.Sets()
}

const ofProd = "heritage=external-dns,external-dns/owner=prod,external-dns/resource=ingress/web/www"

func TestNamesOfNotes(t *testing.T) {
	for _, c := range []struct {
		name      string
		format    Format
		set, note string
		old       string // of earlier releases
	}{
		{"without flags", Format{}, "www.example.org. A", "a-www.example.org.", "www.example.org."},
		{"without flags, of a CNAME", Format{}, "www.example.org. CNAME", "cname-www.example.org.", "www.example.org."},
		{"AAAA has no note of earlier releases", Format{}, "www.example.org. AAAA", "aaaa-www.example.org.", ""},
		{"at the apex outside of the zone", Format{}, "example.org. A", "a-example.org.", "example.org."},
		{"with a prefix", Format{Prefix: "Ext-"}, "www.example.org. A", "ext-a-www.example.org.", "ext-www.example.org."},
		{"with a prefix of labels", Format{Prefix: "reg."}, "www.example.org. A", "reg.a-www.example.org.",
			"reg.www.example.org."},
		{"with a prefix that has the type", Format{Prefix: "%{record_type}.reg."}, "example.org. MX", "mx.reg.example.org.",
			""},
		{"with a suffix", Format{Suffix: "-ext"}, "www.example.org. A", "a-www-ext.example.org.", "www-ext.example.org."},
		{"with a suffix of labels that has the type", Format{Suffix: "-%{record_type}.reg"}, "www.example.org. SRV",
			"www-srv.reg.example.org.", "www-.reg.example.org."},
		{"of a wildcard", Format{Wildcard: "any"}, "*.example.org. A", "a-any.example.org.", "any.example.org."},
		{"of a wildcard without a word for it", Format{}, "*.example.org. A", "a-*.example.org.", "*.example.org."},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := key(t, c.set)
			got, ok := c.format.NoteName(k)
			if !ok || got.String() != c.note {
				t.Errorf("the note is %s, %v; want %s", got, ok, c.note)
			}
			r := Registry{Formats: []Format{c.format}}
			for _, note := range []string{c.note, c.old} {
				if note == "" {
					continue
				}
				claims := r.Claims(zoneOf(t, note+" TXT "+ofProd), k)
				if len(claims) != 1 || claims[0].Owner != "prod" || claims[0].Note.String() != note {
					t.Errorf("by a note at %s the set is of %v", note, claims)
				}
				if covered := r.Covered(parsed(t, note), zoneOf(t, c.set+" x"), rr.Sets{}); len(covered) != 1 || covered[0] != k {
					t.Errorf("a note at %s is about %v", note, covered)
				}
			}
		})
	}
}

func TestClaims(t *testing.T) {
	sealer := Format{Key: []byte(strings.Repeat("k", 32))}
	hidden := sealer.write("prod", key(t, "www.example.org. A"))
	for _, c := range []struct {
		name   string
		format Format
		notes  []string
		set    string
		owners string
	}{
		{"a text that is no note", Format{}, []string{"a-www.example.org. TXT v=spf1 -all"}, "www.example.org. A", ""},
		{"a note of another program", Format{}, []string{"a-www.example.org. TXT heritage=other,external-dns/owner=x"},
			"www.example.org. A", ""},
		{"a note of another type", Format{}, []string{"a-www.example.org. TXT " + ofProd}, "www.example.org. AAAA", ""},
		{"a note in quotes", Format{}, []string{`a-www.example.org. TXT "` + ofProd + `"`}, "www.example.org. A", "prod"},
		{"a note with the type comes before one without", Format{}, []string{
			"www.example.org. TXT heritage=external-dns,external-dns/owner=old", "a-www.example.org. TXT " + ofProd},
			"www.example.org. A", "prod"},
		{"two owners in one note", Format{}, []string{"a-www.example.org. TXT heritage=external-dns,external-dns/owner=a",
			"a-www.example.org. TXT heritage=external-dns,external-dns/owner=b"}, "www.example.org. A", "a b"},
		{"a note without owner", Format{}, []string{"a-www.example.org. TXT heritage=external-dns"}, "www.example.org. A",
			"?"},
		{"an encrypted note", sealer, []string{"a-www.example.org. TXT " + hidden}, "www.example.org. A", "prod"},
		{"an encrypted note without the key", Format{}, []string{"a-www.example.org. TXT " + hidden}, "www.example.org. A",
			"?"},
		{"an encrypted note with another key", Format{Key: []byte(strings.Repeat("x", 32))},
			[]string{"a-www.example.org. TXT " + hidden}, "www.example.org. A", "?"},
		{"what looks encrypted beside the name", Format{}, []string{"www.example.org. TXT " + hidden}, "www.example.org. A",
			""},
		{"a plain note where notes are encrypted", sealer, []string{"a-www.example.org. TXT " + ofProd},
			"www.example.org. A", "prod"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Registry{Formats: []Format{c.format}}
			var owners []string
			for _, claim := range r.Claims(zoneOf(t, c.notes...), key(t, c.set)) {
				if claim.Owner == "" {
					claim.Owner = "?"
				}
				owners = append(owners, claim.Owner)
			}
			if got := strings.Join(owners, " "); got != c.owners {
				t.Errorf("it is of %q, want %q", got, c.owners)
			}
		})
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, f := range []Format{{}, {Prefix: "x-", Key: []byte(strings.Repeat("k", 32))}} {
		r := Registry{Formats: []Format{f}, Writes: &f, Writer: "prod"}
		k := key(t, "www.example.org. A")
		set, ok := r.Note(k, parsed(t, "example.org."))
		again, _ := r.Note(k, parsed(t, "example.org."))
		if !ok || !set.Equal(again) {
			t.Fatalf("the note is %v, and then %v", set, again)
		}
		txn := rr.Sets{}.Txn()
		txn.Put(set)
		if claims := r.Claims(txn.Sets(), k); len(claims) != 1 || claims[0].Owner != "prod" {
			t.Errorf("%v says %v", set, claims)
		}
		if _, ok := r.Note(key(t, "example.org. A"), parsed(t, "example.org.")); ok && f.Prefix == "" {
			t.Error("the note about the apex is outside of the zone, and is written there")
		}
		if _, ok := r.Note(key(t, "www.example.org. CAA"), parsed(t, "example.org.")); ok {
			t.Error("there is a note about a type that external-dns does not have")
		}
	}
}

func TestParseKey(t *testing.T) {
	raw := strings.Repeat("k", 32)
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"32 characters", raw, true},
		{"base64", base64.StdEncoding.EncodeToString([]byte(raw)), true},
		{"base64 with a newline", base64.StdEncoding.EncodeToString([]byte(raw)) + "\n", true},
		{"too short", "secret", false},
		{"base64 of 16 octets", base64.StdEncoding.EncodeToString([]byte(raw[:16])), false},
		{"nothing", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if key, err := ParseKey(c.text); (err == nil) != c.ok || c.ok && string(key) != raw {
				t.Errorf("%q, %v", key, err)
			}
		})
	}
}

// FuzzNotes has anything at all as names, affixes and texts: what a note says does not depend on how it is looked up.
func FuzzNotes(f *testing.F) {
	f.Add("a-www.example.org.", "", "", ofProd)
	f.Add("x.aaaa-any.example.org.", "x.", "any", ofProd)
	f.Add("www-mx.reg.example.org.", "/-%{record_type}.reg", "", "heritage=external-dns")
	f.Add("mx-a.", "%{record_type}-", "a", strings.Repeat("QUFB", 20))
	f.Fuzz(func(t *testing.T, at, affix, wildcard, text string) {
		name, err := dnsname.Parse(at)
		if err != nil || len(text) > 4000 || len(affix+wildcard) > 200 {
			return
		}
		format := Format{Prefix: affix, Wildcard: wildcard, Key: []byte(strings.Repeat("k", 32))}
		if suffix, ok := strings.CutPrefix(affix, "/"); ok {
			format.Prefix, format.Suffix = "", suffix
		}
		r := Registry{Formats: []Format{format}}
		note := rr.NewSet(rr.Key{Name: name, Type: rr.TypeTXT}, 300, rr.Text(text))
		txn := rr.Sets{}.Txn()
		txn.Put(note)
		has := txn.Sets()
		for _, about := range format.about(format.subject(name)) {
			for _, k := range noted() {
				k := rr.Key{Name: about, Type: k}
				claimed := len(r.Claims(has, k)) > 0
				if covers := r.IsNote(note) && format.covers(format.subject(name), k); claimed != covers {
					t.Errorf("a note at %s is about %s: %v, and the set is claimed: %v", name, k, covers, claimed)
				}
			}
		}
	})
}

// TestANoteSaysWhereItIs: beside a table, who writes TXT records says nothing in it.
func TestANoteSaysWhereItIs(t *testing.T) {
	r := Registry{Formats: []Format{{}, InTable("external-dns")}}
	for note, want := range map[string]string{
		"a.:dynamodb:.www.example.org. TXT " + ofProd: "external-dns",
		"a-www.example.org. TXT " + ofProd:            "",
	} {
		for set := range zoneOf(t, note).All() {
			claims := r.Notes(set)
			if len(claims) == 0 {
				t.Errorf("%s says nothing", note)
			}
			for _, c := range claims {
				if c.Table != want || c.Owner != "prod" {
					t.Errorf("%s is of %q in the table %q, want %q", note, c.Owner, c.Table, want)
				}
			}
		}
	}
}
