package objects

import (
	"strconv"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/guarded"
)

// Version returns the resourceVersion of an object as a number: versions of one kind are ordered (KEP-5504). What is no
// number is 0.
func Version(o client.Object) uint64 {
	n, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// writes are our last writes.
type writes struct{ guarded.Value[lastWrites] }

// lastWrites are by object. An entry lives as long as its object: a version that was read from the cache before our
// write came may be used after that.
type lastWrites struct {
	of    map[types.UID]write
	after map[types.UID][]func() // what to do when the cache has them
}

// A write is the version that our last one gave to an object.
type write struct {
	version uint64
	cached  uint64 // the newest version that the cache has brought since there is an entry
}

// begin has an entry be there before an object is written, for the cache may have the write before it is answered.
func (w *writes) begin(uid types.UID) {
	last, unlock := w.Lock()
	defer unlock()
	if last.of == nil {
		last.of, last.after = map[types.UID]write{}, map[types.UID][]func(){}
	}
	if _, known := last.of[uid]; !known && uid != "" { // else it may not exist yet
		last.of[uid] = write{}
	}
}

// wrote notes the answer to a write that has begun.
func (w *writes) wrote(begun types.UID, answer client.Object) {
	last, unlock := w.Lock()
	defer unlock()
	uid := answer.GetUID()
	one, there := last.of[uid]
	if begun != "" && !there {
		return // it has gone meanwhile
	}
	one.version = max(one.version, Version(answer))
	last.of[uid] = one
}

// Behind is the error that an object is as it was before our last write of it: the cache does not have that yet, or had
// not when the object was read.
type Behind struct {
	writes *writes
	uid    types.UID
}

// Error implements error.
func (b *Behind) Error() string { return "the cache does not have the operator's last write yet" }

// Then calls a function once the cache has our last write, maybe at once. It is not called when the object goes before.
func (b *Behind) Then(do func()) {
	last, unlock := b.writes.Lock()
	one := last.of[b.uid]
	waits := one.cached < one.version
	if waits {
		last.after[b.uid] = append(last.after[b.uid], do)
	}
	unlock()
	if !waits {
		do()
	}
}

// Behind returns a *Behind if an object is as it was before our last write of it, and nil otherwise.
func (w *Writer) Behind(o client.Object) error {
	if Version(o) < w.writes.version(o) {
		return &Behind{&w.writes, o.GetUID()}
	}
	return nil
}

// version returns the version that our last write gave to an object; 0: we have not written it.
func (w *writes) version(o client.Object) uint64 {
	last, unlock := w.Lock()
	defer unlock()
	return last.of[o.GetUID()].version
}

// Saw notes a version of an object that the cache has brought, in the place of another one if there was one. If that
// one was newer, the API server has come back with a backup: what was written later is undone, and nobody is behind it
// any more. Several who follow an object hear of its versions at different times, each of them in order.
func (w *Writer) Saw(before, o client.Object) {
	last, unlock := w.writes.Lock()
	uid := o.GetUID()
	one, ours := last.of[uid]
	var all []func()
	if ours {
		one.cached = Version(o)
		if before != nil && one.cached < Version(before) {
			one.version = 0
		}
		last.of[uid] = one
		if one.cached >= one.version {
			all = last.after[uid]
			delete(last.after, uid)
		}
	}
	unlock()
	for _, do := range all {
		do()
	}
}

// Forget forgets an object that is gone.
func (w *Writer) Forget(o client.Object) {
	last, unlock := w.writes.Lock()
	defer unlock()
	delete(last.of, o.GetUID())
	delete(last.after, o.GetUID())
}
