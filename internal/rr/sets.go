package rr

import (
	"iter"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// Sets is an immutable collection of sets in canonical order, at most one a
// key. The zero value is empty. A copy costs nothing, and what was changed in a
// transaction is never seen in a copy made before.
type Sets struct {
	tree *iradix.Tree[Set]
}

// maxKey bounds the key of a set in the tree: the name's, 0x00, and the type.
const maxKey = 512 + 3

// appendKey adds the key of a set in the tree. The 0x00 puts the sets of a name
// before those of the names below it, since no label begins with one there.
func appendKey(dst []byte, k Key) []byte {
	return append(k.Name.AppendKey(dst), 0, byte(k.Type>>8), byte(k.Type))
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
	var buf [maxKey]byte
	return s.tree.Get(appendKey(buf[:0], k))
}

// All yields every set in canonical order.
func (s Sets) All() iter.Seq[Set] { return s.walk(nil) }

// Under yields the sets at n and below it.
func (s Sets) Under(n dnsname.Name) iter.Seq[Set] {
	if n.IsZero() {
		return func(func(Set) bool) {}
	}
	return s.walk(n.AppendKey(nil))
}

// At yields the sets at n, by type number.
func (s Sets) At(n dnsname.Name) iter.Seq[Set] {
	if n.IsZero() {
		return func(func(Set) bool) {}
	}
	return s.walk(append(n.AppendKey(nil), 0))
}

func (s Sets) walk(prefix []byte) iter.Seq[Set] {
	return func(yield func(Set) bool) {
		if s.tree != nil {
			s.tree.Root().WalkPrefix(prefix, func(_ []byte, set Set) bool { return !yield(set) })
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
func (s Sets) Txn() *SetsTxn {
	if s.tree == nil {
		s.tree = iradix.New[Set]()
	}
	return &SetsTxn{s.tree.Txn()}
}

// A SetsTxn collects changes. It is not safe for concurrent use.
type SetsTxn struct {
	txn *iradix.Txn[Set]
}

// Put adds a set, in place of the one with its key. A set without data is no
// set: putting it deletes.
func (t *SetsTxn) Put(s Set) {
	if len(s.Data) == 0 {
		t.Delete(s.Key())
		return
	}
	var buf [maxKey]byte
	key := appendKey(buf[:0], s.Key())
	t.txn.Insert(append(make([]byte, 0, len(key)), key...), s)
}

// Delete removes the set of k and reports whether there was one.
func (t *SetsTxn) Delete(k Key) bool {
	var buf [maxKey]byte
	_, ok := t.txn.Delete(appendKey(buf[:0], k))
	return ok
}

// Get returns the set of k as changed so far.
func (t *SetsTxn) Get(k Key) (Set, bool) {
	var buf [maxKey]byte
	return t.txn.Get(appendKey(buf[:0], k))
}

// Sets returns the collection as changed so far. The transaction can go on.
func (t *SetsTxn) Sets() Sets { return Sets{t.txn.CommitOnly()} }
