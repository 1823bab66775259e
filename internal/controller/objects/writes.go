package objects

import (
	"slices"
	"strconv"

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

// Writes are the versions that our own writes gave to an object, one by one, for the time until the cache has them. Its
// zero value is ready for use; whoever has it guards it.
type Writes struct {
	last   uint64   // that of the last one
	coming []uint64 // those that the cache has not brought yet
	seen   uint64   // the newest version that it has brought
	asked  bool     // somebody waits for the cache to have the last one
}

// Wrote notes a write of ours.
func (w *Writes) Wrote(version uint64) {
	w.last = max(w.last, version)
	if version > w.seen && !slices.Contains(w.coming, version) {
		w.coming = append(w.coming, version)
	}
}

// Last returns the version that our last write gave, 0 if there was none.
func (w *Writes) Last() uint64 { return w.last }

// Lag reports whether a version is one from before our last write, and whether the cache has that write nevertheless:
// then the version was read before it came. Otherwise Saw says when it comes.
func (w *Writes) Lag(version uint64) (lags, came bool) {
	lags = version < w.last
	w.asked = lags && w.seen < w.last
	return lags, lags && !w.asked
}

// Saw notes a version that the cache has brought, and reports whether it is one that we wrote ourselves and that nobody
// waits for. A version that somebody else has made right before a write of ours is none, although the cache brings it
// when our write is known already.
func (w *Writes) Saw(version uint64) (echo bool) {
	w.seen = version
	echo = slices.Contains(w.coming, version)
	if w.coming = slices.DeleteFunc(w.coming, func(v uint64) bool { return v <= version }); len(w.coming) == 0 {
		w.coming = nil
	}
	if w.asked && version >= w.last {
		w.asked = false
		return false
	}
	return echo
}
