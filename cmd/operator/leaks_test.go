package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/zonefold/zonefold/test/sim"
)

// TestNothingIsRemembered has things come and go, again and again, each time under other names. Operators then have as
// many objects in memory after many turns as after few. What has a limit of its own does not count.
func TestNothingIsRemembered(t *testing.T) {
	ctrl.SetLogger(logr.Discard()) // or controller-runtime keeps what it would have logged
	kindsOf(t)                     // the world's are not counted: that takes a while
	before := runtime.MemProfileRate
	runtime.MemProfileRate = 1 // each allocation is counted
	defer func() { runtime.MemProfileRate = before }()
	files, err := filepath.Glob(filepath.Join("..", "..", "test", "sim", "testdata", "turns", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d lives, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			const few = 1
			first := inUse(t, file, few)
			if len(first) == 0 {
				t.Error("no stack counts as one of an operator")
			}
			var grow map[string]int64           // by how much; nil: all may
			for _, many := range []int{4, 11} { // what comes once may come by another stack, but not each time
				more := map[string]int64{}
				for stack, n := range inUse(t, file, many) {
					_, grew := grow[stack]
					if by := n - first[stack]; by > int64(many/2) && (grew || grow == nil) {
						more[stack] = by
					}
				}
				if grow = more; len(grow) == 0 {
					return
				}
			}
			for stack, by := range grow {
				t.Errorf("%d more objects after ten more turns are of\n%s", by, stack)
			}
		})
	}
}

// inUse returns how many objects an operator has after so many turns, by the stack that has made them.
func inUse(t *testing.T, file string, turns int) (objects map[string]int64) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	life, turn, _ := strings.Cut(string(text), "-- turn --\n")
	for i := range turns {
		life += strings.ReplaceAll(turn, "NN", strconv.Itoa(100+i))
	}
	l, err := sim.ParseLife([]byte(life))
	if err != nil {
		t.Fatal(err)
	}
	l.Rights, l.Reviews, l.Unsucceeded = rightsOf(t, l.Roles()...), reviewsOf(t), true
	out, err := bubble(t, l, kindsOf(t), func(ctx context.Context, p sim.Process) error {
		alive, end := context.WithCancel(context.WithoutCancel(ctx))
		defer end()
		over := make(chan error, 1)
		go func() { over <- leaseOf(l).live(alive, p) }()
		select {
		case err := <-over:
			return err
		case <-ctx.Done():
		}
		objects = profile()
		end()
		return <-over
	})
	if err != nil || len(out.Wrong) > 0 {
		t.Fatal(err, out.Wrong)
	}
	return objects
}

// profile returns what is in use, by stack.
func profile() map[string]int64 {
	runtime.GC()
	runtime.GC() // what was freed by the one before is known after this one
	records := make([]runtime.MemProfileRecord, 1<<16)
	n, ok := runtime.MemProfile(records, false)
	if !ok {
		panic(fmt.Sprintf("%d stacks are in use", n))
	}
	objects := map[string]int64{}
	for _, r := range records[:n] {
		if stack := stackOf(r.Stack()); counts(stack) {
			objects[stack] += r.InUseObjects()
		}
	}
	return objects
}

// stackOf returns a stack for people, where the memory was asked for first.
func stackOf(frames []uintptr) string {
	var out strings.Builder
	for all := runtime.CallersFrames(frames); ; {
		f, more := all.Next()
		fmt.Fprintf(&out, "  %s:%d\n", f.Function, f.Line)
		if !more {
			return out.String()
		}
	}
}

// limited are parts of stacks by which something comes into memory that has a limit of its own, or that the world
// keeps.
var limited = []string{
	".cacheOptions.Compact",                 // controller.Shared
	"objects.(*contests)",                   // forgets those that are over, when there are some
	"engine.(*serials).enter",               // forgets those of former days, when there are some
	"apiutil.(*mapper)",                     // what an API server can be asked for, at the start
	"reflect.Equalities", "json.(*scanner)", // their pools
	"notifyListWait",        // where goroutines wait
	"structured-merge-diff", // the world's; stacks end there
	// What the world's servers know again, or have:
	"newHTTPRequest", "dnshook.NewNonce", "sources.(*Wish).claim", "gardener.KeyOf", "gardener.dataOf",
	"bindy.ZoneName", "events.(*recorderImpl).makeEvent",
}

// counts reports whether a stack is one of an operator: whose function asked for the memory last decides.
func counts(stack string) bool {
	for _, part := range limited {
		if strings.Contains(stack, part) {
			return false
		}
	}
	for line := range strings.Lines(stack) {
		switch {
		case strings.Contains(line, "zonefold/test/sim."), strings.Contains(line, "test."):
			return false
		case strings.Contains(line, "zonefold/internal/controller"), strings.Contains(line, "zonefold/internal/backend"):
			return true
		}
	}
	return false
}
