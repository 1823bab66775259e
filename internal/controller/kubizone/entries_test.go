package kubizone

import (
	"testing"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestTheLedgerKeepsASetWhoseDataItDoesNotKnow(t *testing.T) {
	name, err := dnsname.Parse("www.example.org.")
	if err != nil {
		t.Fatal(err)
	}
	key := rr.Key{Name: name, Type: rr.TypeA}
	page := rr.Sets{}.Txn()
	page.Put(rr.Set{Name: name, Type: rr.TypeA, Data: []string{""}})
	slice := journalPage(0, page.Sets())
	back := rr.Sets{}.Txn()
	setsOf(back, zoneEntries(slice.Entries))
	if _, ok := back.Get(key); !ok {
		t.Fatalf("%s is lost on the way through %+v", key, slice)
	}
}

func TestLabelValuesAreValidAndDistinct(t *testing.T) {
	long := "a-name-that-is-much-longer-than-a-label-value-may-be-because-it-says-everything"
	for text, want := range map[string]string{
		"example-org.dns": "example-org.dns",
		"example.org.dns": "example.org.dns",
	} {
		if got := labelValue(text); got != want {
			t.Errorf("labelValue(%q) = %q, want %q", text, got, want)
		}
	}
	one, two := labelValue(long+".one"), labelValue(long+".two")
	if len(one) > 63 || one == two {
		t.Errorf("long names get the values %q and %q", one, two)
	}
}
