// Package parallel spreads independent pieces of work over the processors.
package parallel

import (
	"runtime"
	"sync"
)

// batch is how many pieces are taken at a time: one is some microseconds of work.
const batch = 256

// Do calls do for 0 to n-1, in no order and on all processors, and returns when all
// calls have.
func Do(n int, do func(int)) {
	begins := make(chan int, n/batch+1)
	for begin := 0; begin < n; begin += batch {
		begins <- begin
	}
	close(begins)
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), cap(begins)) {
		wait.Go(func() {
			for begin := range begins {
				for i := begin; i < min(begin+batch, n); i++ {
					do(i)
				}
			}
		})
	}
	wait.Wait()
}
