package kubizone

import (
	"slices"
	"testing"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

func setsFor(t *testing.T, sets ...rr.Set) rr.Sets {
	t.Helper()
	txn := rr.Sets{}.Txn()
	for _, s := range sets {
		txn.Put(s)
	}
	return txn.Sets()
}

func apexOf(t *testing.T, typ rr.Type, data ...string) rr.Set {
	t.Helper()
	return rr.NewSet(rr.Key{Name: parse(t, "example.org."), Type: typ}, 300, data...)
}

func parse(t *testing.T, text string) dnsname.Name {
	t.Helper()
	name, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWhatTheLedgerKnowsOfASet(t *testing.T) {
	one, two := "ns1.example.org.", "ns2.example.org."
	for _, c := range []struct {
		name    string
		base    rr.Sets
		journal rr.Sets
		set     rr.Set
		known   bool // nothing of the set has to be written down
		all     []string
	}{
		{
			name: "a set of which nothing is known", set: apexOf(t, rr.TypeA, "192.0.2.1"),
		}, {
			name: "other data of a known set are no news: the key says whose it is", base: setsFor(t, apexOf(t, rr.TypeA, "192.0.2.1")),
			set: apexOf(t, rr.TypeA, "192.0.2.2"), known: true, all: []string{"192.0.2.1"},
		}, {
			name: "of other data the newer ones count", base: setsFor(t, apexOf(t, rr.TypeA, "192.0.2.1")),
			journal: setsFor(t, apexOf(t, rr.TypeA, "192.0.2.2")),
			set:     apexOf(t, rr.TypeA, "192.0.2.3"), known: true, all: []string{"192.0.2.2"},
		}, {
			name: "a name server that came to a known set is news", base: setsFor(t, apexOf(t, rr.TypeNS, one)),
			set: apexOf(t, rr.TypeNS, one, two), all: []string{one},
		}, {
			name: "a name server that left is still known", base: setsFor(t, apexOf(t, rr.TypeNS, one, two)),
			set: apexOf(t, rr.TypeNS, one), known: true, all: []string{one, two},
		}, {
			name: "name servers of the status and of the journal are known together", base: setsFor(t, apexOf(t, rr.TypeNS, one)),
			journal: setsFor(t, apexOf(t, rr.TypeNS, two)),
			set:     apexOf(t, rr.TypeNS, one, two), known: true, all: []string{one, two},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := ledger{base: c.base, journal: []page{{sets: c.journal}}}
			value, ok := l.value(c.set.Key(), l.journal)
			if known := ok && covers(value, c.set); known != c.known {
				t.Errorf("known: %v, want %v", known, c.known)
			}
			if got, _ := l.all().Get(c.set.Key()); !slices.Equal(got.Data, c.all) {
				t.Errorf("the ledger holds %q, want %q", got.Data, c.all)
			}
		})
	}
}

func TestAPageIsOnlySuperfluousWhenItSaysNothingMore(t *testing.T) {
	status := setsFor(t, apexOf(t, rr.TypeNS, "ns1.example.org."), apexOf(t, rr.TypeA, "192.0.2.1"))
	for _, c := range []struct {
		name string
		page rr.Sets
		want bool
	}{
		{"an empty page", rr.Sets{}, true},
		{"a page with older data of a set", setsFor(t, apexOf(t, rr.TypeA, "192.0.2.9")), true},
		{"a page with a set that is gone", setsFor(t, apexOf(t, rr.TypeMX, "10 mail.example.org.")), false},
		{"a page with a name server that is gone", setsFor(t, apexOf(t, rr.TypeNS, "ns1.example.org.", "ns9.example.org.")), false},
	} {
		if got := contained(c.page, status); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWhatIsClutterBesideAContentThatIsWrittenDown(t *testing.T) {
	www := rr.NewSet(rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}, 60, "192.0.2.1")
	gone := rr.NewSet(rr.Key{Name: parse(t, "gone.example.org."), Type: rr.TypeA}, 60, "192.0.2.2")
	for _, tt := range []struct {
		what  string
		pages []rr.Sets
		want  bool
	}{
		{"an empty journal is none", nil, false},
		{"a page that says what the content says is left for the next change", []rr.Sets{setsFor(t, www)}, false},
		{"a page with a set that is withdrawn is", []rr.Sets{setsFor(t, www, gone)}, true},
		{"several pages are", []rr.Sets{setsFor(t, www), setsFor(t, www)}, true},
	} {
		l := ledger{base: setsFor(t, www)}
		for _, p := range tt.pages {
			l.journal = append(l.journal, page{sets: p})
		}
		if got := l.cluttered(); got != tt.want {
			t.Errorf("%s: clutter is %v", tt.what, got)
		}
	}
}
