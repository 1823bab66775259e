// Package tree has the map that zones and catalogues are: it never changes, and a change makes another one that shares
// with it what is the same.
package tree

import (
	"hash/maphash"
	"math/bits"
)

// A Keyed value bears its own key: a name in wire format, in lower case.
type Keyed interface {
	comparable
	Key() string
}

// A Tree is an immutable map from names: a hash array mapped trie, in which a change copies the few branches on its way
// and shares the others. A look-up costs one hash and some steps whatever the size, and a value 20 to 40 octets besides
// itself. The hash has a seed, so that nobody can choose names that collide.
type Tree[V Keyed] struct {
	hash func([]byte) uint64
	root *branch[V]
	size int
}

// A branch sorts values by five bits of their hash. The bits of leaves say which have a value of their own, those of
// below which have branches; where the bits of the hash are used up, values stand in leaves in any order.
type branch[V Keyed] struct {
	leaves, below uint32
	values        []V
	branches      []*branch[V]
	owner         *Edit // may change it in place
}

// An Edit is a change under way. It has a size, for pointers to what has none may be equal.
type Edit struct{ _ byte }

const (
	hashStep = 5
	hashBits = 64
)

// New returns a tree without values.
func New[V Keyed]() Tree[V] {
	seed := maphash.MakeSeed()
	return Tree[V]{hash: func(b []byte) uint64 { return maphash.Bytes(seed, b) }, root: &branch[V]{}}
}

// Get returns the value of a name, the zero value if there is none.
func (t Tree[V]) Get(name []byte) V {
	var none V
	hash := t.hash(name)
	for b, depth := t.root, 0; ; depth += hashStep {
		if depth >= hashBits {
			if i := b.find(name); i >= 0 {
				return b.values[i]
			}
			return none
		}
		bit := uint32(1) << (hash >> depth & 31)
		if b.leaves&bit != 0 {
			if v := b.values[rank(b.leaves, bit)]; v.Key() == string(name) {
				return v
			}
			return none
		}
		if b.below&bit == 0 {
			return none
		}
		b = b.branches[rank(b.below, bit)]
	}
}

// rank counts the bits below one.
func rank(set, bit uint32) int { return bits.OnesCount32(set & (bit - 1)) }

// find returns where a name is among values without order, or -1.
func (b *branch[V]) find(name []byte) int {
	for i, v := range b.values {
		if v.Key() == string(name) {
			return i
		}
	}
	return -1
}

// All calls f with every value, until it returns false.
func (t Tree[V]) All(f func(V) bool) bool { return t.root.all(f) }

func (b *branch[V]) all(f func(V) bool) bool {
	for _, v := range b.values {
		if !f(v) {
			return false
		}
	}
	for _, next := range b.branches {
		if !next.all(f) {
			return false
		}
	}
	return true
}
