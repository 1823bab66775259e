package tree

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"
)

type entry struct {
	name string
	n    int
}

func (e *entry) Key() string { return e.name }

// TestTreeIsAMap compares trees with maps, under hashes that collide always, often and never.
func TestTreeIsAMap(t *testing.T) {
	type version struct {
		tree Tree[*entry]
		want map[string]*entry
	}
	rapid.Check(t, func(t *rapid.T) {
		mask := rapid.SampledFrom([]uint64{0, 0x8000000000000000, 0xf000000000000003, 1<<64 - 1}).Draw(t, "mask")
		now := version{New[*entry](), map[string]*entry{}}
		sum := now.tree.hash
		now.tree.hash = func(b []byte) uint64 { return sum(b) & mask }
		var versions []version
		for range rapid.IntRange(1, 8).Draw(t, "transactions") {
			versions = append(versions, version{now.tree, maps.Clone(now.want)})
			txn := now.tree.Txn()
			for i := range rapid.IntRange(0, 60).Draw(t, "operations") {
				name := fmt.Sprint(rapid.IntRange(0, 40).Draw(t, "name"))
				if rapid.Bool().Draw(t, "put") {
					e := &entry{name, i}
					txn.Put(e)
					now.want[name] = e
				} else {
					txn.Remove([]byte(name))
					delete(now.want, name)
				}
			}
			now.tree = txn.Commit()
		}
		for _, v := range append(versions, now) {
			seen := map[string]*entry{}
			v.tree.All(func(e *entry) bool { seen[e.name] = e; return true })
			if !maps.Equal(seen, v.want) || v.tree.size != len(v.want) {
				t.Fatalf("the tree has %d entries and says %d, want %d", len(seen), v.tree.size, len(v.want))
			}
			for i := range 41 {
				if name := fmt.Sprint(i); v.tree.Get([]byte(name)) != v.want[name] {
					t.Fatalf("%s is %v, want %v", name, v.tree.Get([]byte(name)), v.want[name])
				}
			}
		}
	})
}
