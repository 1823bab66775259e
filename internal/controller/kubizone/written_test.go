package kubizone

import (
	"slices"
	"testing"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// TestWhatAChangedRecordWasIsNotKept: what nobody asks for at a name is of a Record that has changed while no operator
// ran, if there is no more of it than such Records had.
func TestWhatAChangedRecordWasIsNotKept(t *testing.T) {
	name, err := dnsname.Parse("www.example.org.")
	if err != nil {
		t.Fatal(err)
	}
	of := func(data ...string) zone.Claim {
		return zone.Claim{Where: zone.Where{Name: name}, Type: rr.TypeA, Data: data}
	}
	const one, two, later, latest = "192.0.2.1", "192.0.2.2", "192.0.2.8", "192.0.2.9"
	for sentence, c := range map[string]struct {
		published, kept []string
		changed         []zone.Claim
		stays           bool
	}{
		"nothing has changed":             {[]string{one}, []string{one}, nil, true},
		"a Record has another address":    {[]string{one}, []string{one}, []zone.Claim{of(later)}, false},
		"and somebody else has one there": {[]string{one, two}, []string{one, two}, []zone.Claim{of(later)}, true},
		"two Records have others": {[]string{one, two}, []string{one, two}, []zone.Claim{of(later), of(latest)},
			false},
		"what a Record has become is published yet": {[]string{one, later}, []string{one}, []zone.Claim{of(later)}, true},
	} {
		txn := rr.Sets{}.Txn()
		txn.Put(rr.NewSet(rr.Key{Name: name, Type: rr.TypeA}, 60, c.published...))
		left := unlessFormer([]zone.Claim{of(c.kept...)}, txn.Sets(), map[dnsname.Name][]zone.Claim{name: c.changed})
		if stays := len(left) == 1 && slices.Equal(left[0].Data, c.kept); stays != c.stays {
			t.Errorf("%s: it stays: %t", sentence, stays)
		}
	}
}
