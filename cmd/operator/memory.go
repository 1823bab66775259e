package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The garbage collector lets the heap grow by 100 percent of what is in use before it collects. From smallHeap octets in
// use on it is to grow by that many only, but by leastPercent at the least: memory for time, where memory is what counts.
const (
	smallHeap    = 100 << 20
	leastPercent = 40
)

// tuneGC adapts the garbage collector after each of its runs.
func tuneGC() {
	percent := 100
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var arm func()
	arm = func() {
		// A finalizer runs after the collection that found its object unused.
		runtime.SetFinalizer(new(sentinel), func(*sentinel) {
			metrics.Read(sample)
			if want := gcPercent(sample[0].Value.Uint64()); want != percent {
				percent = want
				debug.SetGCPercent(percent)
			}
			arm()
		})
	}
	arm()
}

type sentinel struct{ _ *sentinel }

// gcPercent returns by how much the heap may grow, in steps of 10 percent.
func gcPercent(live uint64) int {
	if live <= smallHeap {
		return 100
	}
	return max(leastPercent, int(smallHeap*100/live)/10*10)
}
