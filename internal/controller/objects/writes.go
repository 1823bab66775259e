package objects

import (
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// writes are our last writes, by object. An entry lives as long as its object: a version that was read from the cache
// before our write came may be used after that.
type writes struct {
	mu    sync.Mutex
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
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of, w.after = map[types.UID]write{}, map[types.UID][]func(){}
	}
	if _, known := w.of[uid]; !known && uid != "" { // else it may not exist yet
		w.of[uid] = write{}
	}
}

// wrote notes the answer to a write that has begun.
func (w *writes) wrote(begun types.UID, answer client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	uid := answer.GetUID()
	last, there := w.of[uid]
	if begun != "" && !there {
		return // it has gone meanwhile
	}
	last.version = max(last.version, Version(answer))
	w.of[uid] = last
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
	b.writes.mu.Lock()
	last := b.writes.of[b.uid]
	waits := last.cached < last.version
	if waits {
		b.writes.after[b.uid] = append(b.writes.after[b.uid], do)
	}
	b.writes.mu.Unlock()
	if !waits {
		do()
	}
}

// Behind returns a *Behind if an object is as it was before our last write of it, and nil otherwise.
func (w *Writer) Behind(o client.Object) error {
	w.writes.mu.Lock()
	defer w.writes.mu.Unlock()
	if uid := o.GetUID(); Version(o) < w.writes.of[uid].version {
		return &Behind{&w.writes, uid}
	}
	return nil
}

// Saw notes a version of an object that the cache has brought.
func (w *Writer) Saw(o client.Object) {
	w.writes.mu.Lock()
	uid := o.GetUID()
	last, ours := w.writes.of[uid]
	var all []func()
	if ours {
		last.cached = Version(o)
		w.writes.of[uid] = last
		if last.cached >= last.version {
			all = w.writes.after[uid]
			delete(w.writes.after, uid)
		}
	}
	w.writes.mu.Unlock()
	for _, do := range all {
		do()
	}
}

// Forget forgets an object that is gone.
func (w *Writer) Forget(o client.Object) {
	w.writes.mu.Lock()
	defer w.writes.mu.Unlock()
	delete(w.writes.of, o.GetUID())
	delete(w.writes.after, o.GetUID())
}
