package rr

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A model is what a Sets must be equal to.
type model map[Key]Set

func (m model) sorted(keep func(Key) bool) []Set {
	var sets []Set
	for _, k := range slices.SortedFunc(maps.Keys(m), Key.Compare) {
		if keep(k) {
			sets = append(sets, m[k])
		}
	}
	return sets
}

// check compares every view of s with the model.
func (m model) check(t *rapid.T, s Sets, names []dnsname.Name) {
	if s.Len() != len(m) {
		t.Fatalf("Len is %d, want %d", s.Len(), len(m))
	}
	if d := cmp.Diff(m.sorted(func(Key) bool { return true }), slices.Collect(s.All())); d != "" {
		t.Fatalf("All: %s", d)
	}
	for _, n := range names {
		if d := cmp.Diff(m.sorted(func(k Key) bool { return k.Name.Under(n) }), slices.Collect(s.Under(n))); d != "" {
			t.Fatalf("Under(%s): %s", n, d)
		}
		if d := cmp.Diff(m.sorted(func(k Key) bool { return k.Name == n }), slices.Collect(s.At(n))); d != "" {
			t.Fatalf("At(%s): %s", n, d)
		}
		for _, typ := range []Type{TypeA, TypeTXT, 256, 65280} {
			got, ok := s.Get(Key{n, typ})
			want, exists := m[Key{n, typ}]
			if ok != exists || !got.Equal(want) {
				t.Fatalf("Get(%s %s): %v, want %v", n, typ, got, want)
			}
		}
	}
}

func TestSetsAreWhatWasPut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var names []dnsname.Name
		for range 6 {
			n := drawName(t, 3)
			names = append(names, n)
			if p, ok := n.Parent(); ok {
				names = append(names, p)
			}
		}
		now, snapshots, models := model{}, []Sets{{}}, []model{{}}
		txn := Sets{}.Txn()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			k := Key{rapid.SampledFrom(names).Draw(t, "name"), rapid.SampledFrom([]Type{TypeA, TypeTXT, 256, 65280}).Draw(t,
				"type")}
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				_, exists := now[k]
				if txn.Delete(k) != exists {
					t.Fatalf("Delete(%s) is not %v", k, exists)
				}
				delete(now, k)
			case 1:
				all := txn.Sets()
				snapshots, models = append(snapshots, all), append(models, maps.Clone(now))
				if rapid.Bool().Draw(t, "restart") {
					txn = all.Txn()
				}
			default:
				set := NewSet(k, rapid.Uint32().Draw(t, "ttl"), rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0,
					3).Draw(t, "data")...)
				txn.Put(set)
				if now[k] = set; len(set.Data) == 0 {
					delete(now, k)
				}
			}
			got, ok := txn.Get(k)
			if want, exists := now[k]; ok != exists || !got.Equal(want) {
				t.Fatalf("in the transaction Get(%s) is %v, want %v", k, got, want)
			}
		}
		snapshots, models = append(snapshots, txn.Sets()), append(models, now)
		for i, s := range snapshots {
			models[i].check(t, s, names)
		}
	})
}

func TestTheEmptyCollection(t *testing.T) {
	var none Sets
	for range none.All() {
		t.Error("it yields a set")
	}
	for range none.Under(dnsname.Root) {
		t.Error("it yields a set under the root")
	}
	if _, ok := none.Get(Key{dnsname.Root, TypeA}); ok || none.Len() != 0 {
		t.Error("it is not empty")
	}
	if none.Txn().Delete(Key{dnsname.Root, TypeA}) {
		t.Error("it deletes what is not there")
	}
}

func TestTheZeroNameHasNoSets(t *testing.T) {
	txn := Sets{}.Txn()
	txn.Put(NewSet(Key{dnsname.Root, TypeNS}, 1, "a."))
	for range txn.Sets().Under(dnsname.Name{}) {
		t.Error("something is under no name")
	}
	for range txn.Sets().At(dnsname.Name{}) {
		t.Error("something is at no name")
	}
}

func TestIterationStopsWhenAsked(t *testing.T) {
	txn := Sets{}.Txn()
	for _, n := range []string{"a.", "b.", "c."} {
		txn.Put(NewSet(Key{name(t, n), TypeA}, 1, "192.0.2.1"))
	}
	seen := 0
	for range txn.Sets().All() {
		if seen++; seen == 2 {
			break
		}
	}
	if seen != 2 {
		t.Errorf("saw %d sets", seen)
	}
}

// Whoever has a collection may read it while others make new ones of it; go
// test -race sees whether that is true.
func TestCollectionsAreReadWhileOthersChangeThem(t *testing.T) {
	var names []dnsname.Name
	txn := Sets{}.Txn()
	for _, label := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		n := name(t, label+".example.org.")
		names = append(names, n)
		txn.Put(NewSet(Key{n, TypeA}, 0, "192.0.2.1"))
	}
	all := txn.Sets()
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 100 {
				for s := range all.All() {
					if s.TTL != 0 {
						t.Errorf("%s has the TTL %d of a later collection", s.Key(), s.TTL)
					}
				}
			}
		})
	}
	later := all
	for ttl := range uint32(200) {
		txn := later.Txn()
		txn.Put(NewSet(Key{names[ttl%8], TypeA}, ttl+1, "192.0.2.1"))
		txn.Delete(Key{names[(ttl+3)%8], TypeA})
		later = txn.Sets()
	}
	readers.Wait()
	if all.Len() != 8 {
		t.Errorf("the first collection has %d sets", all.Len())
	}
}

func TestLookUpsDoNotAllocate(t *testing.T) {
	k := Key{name(t, "www.example.org."), TypeA}
	txn := Sets{}.Txn()
	txn.Put(NewSet(k, 1, "192.0.2.1"))
	all := txn.Sets()
	if n := testing.AllocsPerRun(100, func() { all.Get(k) }); n > 0 {
		t.Errorf("Get allocates %v times", n)
	}
}
