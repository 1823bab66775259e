package embedded

import "slices"

// A treeTxn changes a tree; whoever has the old one never sees it.
type treeTxn[V keyed] struct {
	tree[V]
	edit *edit
}

func (t tree[V]) txn() *treeTxn[V] { return &treeTxn[V]{t, new(edit)} }

// commit returns the changed tree. The transaction can go on.
func (t *treeTxn[V]) commit() tree[V] {
	t.edit = new(edit)
	return t.tree
}

// put adds a value, in place of the one with its key.
func (t *treeTxn[V]) put(v V) {
	var added bool
	t.root, added = t.insert(t.root, v, t.hash([]byte(v.key())), 0)
	if added {
		t.size++
	}
}

// own returns a branch that this transaction may change.
func (t *treeTxn[V]) own(b *branch[V]) *branch[V] {
	if b.owner == t.edit {
		return b
	}
	return &branch[V]{b.leaves, b.below, slices.Clone(b.values), slices.Clone(b.branches), t.edit}
}

func (t *treeTxn[V]) insert(b *branch[V], v V, hash uint64, depth int) (_ *branch[V], added bool) {
	b = t.own(b)
	if depth >= hashBits {
		if i := b.find([]byte(v.key())); i >= 0 {
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
	if there.key() == v.key() {
		b.values[at] = v
		return b, false
	}
	next := &branch[V]{owner: t.edit}
	next, _ = t.insert(next, there, t.hash([]byte(there.key())), depth+hashStep)
	next, _ = t.insert(next, v, hash, depth+hashStep)
	b.leaves &^= bit
	b.values = slices.Delete(b.values, at, at+1)
	b.below |= bit
	b.branches = slices.Insert(b.branches, rank(b.below, bit), next)
	return b, true
}

// remove takes the value of a name out, if there is one.
func (t *treeTxn[V]) remove(name []byte) {
	var none V
	if t.get(name) == none {
		return
	}
	t.root = t.cut(t.root, name, t.hash(name), 0)
	t.size--
}

// cut removes a value that is there. A branch that is left with one value is replaced by it, so that the shape of a
// tree follows from what is in it.
func (t *treeTxn[V]) cut(b *branch[V], name []byte, hash uint64, depth int) *branch[V] {
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
