package rr

import (
	"iter"

	"github.com/tidwall/btree"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// Sets is an immutable collection of sets in canonical order, at most one a
// key. The zero value is empty. A copy costs nothing, and what was changed in a
// transaction is never seen in a copy made before.
type Sets struct {
	tree *btree.BTreeG[Set] // nobody changes it any more
}

// halfNode is half of how many sets a node of the tree has at most. A change copies a node on each level.
const halfNode = 16

func newTree() *btree.BTreeG[Set] {
	less := func(a, b Set) bool { return a.Key().Compare(b.Key()) < 0 }
	return btree.NewBTreeGOptions(less, btree.Options{Degree: halfNode, NoLocks: true})
}

// Len counts the sets.
func (s Sets) Len() int {
	if s.tree == nil {
		return 0
	}
	return s.tree.Len()
}

// Get returns the set of k.
func (s Sets) Get(k Key) (Set, bool) {
	if s.tree == nil {
		return Set{}, false
	}
	return s.tree.Get(Set{Name: k.Name, Type: k.Type})
}

// All yields every set in canonical order.
func (s Sets) All() iter.Seq[Set] {
	return func(yield func(Set) bool) {
		if s.tree != nil {
			s.tree.Scan(yield)
		}
	}
}

// Under yields the sets at n and below it.
func (s Sets) Under(n dnsname.Name) iter.Seq[Set] {
	return s.from(n, func(set Set) bool { return set.Name.Under(n) })
}

// At yields the sets at n, by type number.
func (s Sets) At(n dnsname.Name) iter.Seq[Set] {
	return s.from(n, func(set Set) bool { return set.Name == n })
}

// from yields the sets from those at n on that lie together, as within says.
func (s Sets) from(n dnsname.Name, within func(Set) bool) iter.Seq[Set] {
	return func(yield func(Set) bool) {
		if s.tree != nil && !n.IsZero() {
			s.tree.Ascend(Set{Name: n}, func(set Set) bool { return within(set) && yield(set) })
		}
	}
}

// Only returns the sets of some keys, which may repeat.
func (s Sets) Only(keys []Key) Sets {
	txn := Sets{}.Txn()
	for _, key := range keys {
		if set, ok := s.Get(key); ok {
			txn.Put(set)
		}
	}
	return txn.Sets()
}

// Txn starts a transaction on s, which itself never changes.
//
// The tree is copied as a value. Its method Copy marks the tree that it is called of as well, which others may read. A
// tree changes nodes with its own mark alone, and copies others first. No node has that of a tree of Sets: it was given
// when the tree was finished.
func (s Sets) Txn() *SetsTxn {
	if s.tree == nil {
		return &SetsTxn{*newTree()}
	}
	return &SetsTxn{*s.tree}
}

// A SetsTxn collects changes. It is not safe for concurrent use.
type SetsTxn struct {
	tree btree.BTreeG[Set]
}

// Put adds a set, in place of the one with its key. A set without data is no
// set: putting it deletes.
func (t *SetsTxn) Put(s Set) {
	if len(s.Data) == 0 {
		t.Delete(s.Key())
		return
	}
	t.tree.Set(s)
}

// Delete removes the set of k and reports whether there was one.
func (t *SetsTxn) Delete(k Key) bool {
	_, ok := t.tree.Delete(Set{Name: k.Name, Type: k.Type})
	return ok
}

// Get returns the set of k as changed so far.
func (t *SetsTxn) Get(k Key) (Set, bool) { return t.tree.Get(Set{Name: k.Name, Type: k.Type}) }

// Sets returns the collection as changed so far. The transaction can go on.
func (t *SetsTxn) Sets() Sets { return Sets{t.tree.Copy()} }
