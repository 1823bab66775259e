package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// The garbage collector lets the heap grow by 100 percent of what is in use before it collects. From smallHeap octets
// in use on it is to grow by that many only, but by leastPercent at the least: memory for time, where memory is what
// counts.
const (
	smallHeap    = 16 << 20
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

// leastReadMemory is what answers need at the least: less would refuse usual ones.
const leastReadMemory = 16 << 20

// setReadMemory takes the flag: a quantity such as 128Mi.
func (o *options) setReadMemory(text string) error {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return fmt.Errorf("%q is not a quantity such as 128Mi: %w", text, err)
	}
	if o.readMemory = q.Value(); o.readMemory < leastReadMemory {
		return errors.New("it must be at least 16Mi")
	}
	return nil
}

// readBudget returns how much memory everything that is being read from servers may have together, in octets.
func (o *options) readBudget(usual int64) int64 {
	return cmp.Or(o.readMemory, max(usual, leastReadMemory))
}

// assumedMemory is what the operator may have where nobody says, in octets.
const assumedMemory = 4 << 30

// memoryLimit returns how much memory this process may have, in octets: as GOMEMLIMIT or its control group says,
// whichever is less.
func memoryLimit(read func(string) ([]byte, error)) int64 {
	limit := debug.SetMemoryLimit(-1) // reads it
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := read(file)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && n > 0 { // else "max"
			limit = min(limit, n)
		}
	}
	if limit >= math.MaxInt64/2 { // version 1 says a large number for none
		return assumedMemory
	}
	return limit
}
