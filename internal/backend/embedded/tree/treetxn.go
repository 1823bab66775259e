package tree

import "slices"

// A Txn changes a tree; whoever has the old one never sees it.
type Txn[V Keyed] struct {
	Tree[V]
	Edit *Edit
}

// Txn begins a change.
func (t Tree[V]) Txn() *Txn[V] { return &Txn[V]{t, new(Edit)} }

// Commit returns the changed tree. The transaction can go on.
func (t *Txn[V]) Commit() Tree[V] {
	t.Edit = new(Edit)
	return t.Tree
}

// Put adds a value, in place of the one with its key.
func (t *Txn[V]) Put(v V) {
	var added bool
	t.root, added = t.insert(t.root, v, t.hash([]byte(v.Key())), 0)
	if added {
		t.size++
	}
}

// own returns a branch that this transaction may change.
func (t *Txn[V]) own(b *branch[V]) *branch[V] {
	if b.owner == t.Edit {
		return b
	}
	return &branch[V]{b.leaves, b.below, slices.Clone(b.values), slices.Clone(b.branches), t.Edit}
}

func (t *Txn[V]) insert(b *branch[V], v V, hash uint64, depth int) (_ *branch[V], added bool) {
	b = t.own(b)
	if depth >= hashBits {
		if i := b.find([]byte(v.Key())); i >= 0 {
			b.values[i] = v
			return b, false
		}
		b.values = append(b.values, v)
		return b, true
	}
	bit := uint32(1) << (hash >> depth & 31)
	switch {
	case b.below&bit != 0:
		next := &b.branches[rank(b.below, bit)]
		*next, added = t.insert(*next, v, hash, depth+hashStep)
		return b, added
	case b.leaves&bit == 0:
		b.leaves |= bit
		b.values = slices.Insert(b.values, rank(b.leaves, bit), v)
		return b, true
	}
	at := rank(b.leaves, bit)
	there := b.values[at]
	if there.Key() == v.Key() {
		b.values[at] = v
		return b, false
	}
	next := &branch[V]{owner: t.Edit}
	next, _ = t.insert(next, there, t.hash([]byte(there.Key())), depth+hashStep)
	next, _ = t.insert(next, v, hash, depth+hashStep)
	b.leaves &^= bit
	b.values = slices.Delete(b.values, at, at+1)
	b.below |= bit
	b.branches = slices.Insert(b.branches, rank(b.below, bit), next)
	return b, true
}

// Remove takes the value of a name out, if there is one.
func (t *Txn[V]) Remove(name []byte) {
	var none V
	if t.Get(name) == none {
		return
	}
	t.root = t.cut(t.root, name, t.hash(name), 0)
	t.size--
}

// cut removes a value that is there. A branch that is left with one value is replaced by it, so that the shape of a
// tree follows from what is in it.
func (t *Txn[V]) cut(b *branch[V], name []byte, hash uint64, depth int) *branch[V] {
	b = t.own(b)
	if depth >= hashBits {
		i := b.find(name)
		b.values = slices.Delete(b.values, i, i+1)
		return b
	}
	bit := uint32(1) << (hash >> depth & 31)
	if b.leaves&bit != 0 {
		at := rank(b.leaves, bit)
		b.leaves &^= bit
		b.values = slices.Delete(b.values, at, at+1)
		return b
	}
	at := rank(b.below, bit)
	next := t.cut(b.branches[at], name, hash, depth+hashStep)
	if len(next.branches) > 0 || len(next.values) > 1 {
		b.branches[at] = next
		return b
	}
	b.below &^= bit
	b.branches = slices.Delete(b.branches, at, at+1)
	b.leaves |= bit
	b.values = slices.Insert(b.values, rank(b.leaves, bit), next.values[0])
	return b
}
