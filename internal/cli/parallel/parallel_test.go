package parallel

import (
	"sync/atomic"
	"testing"
)

func TestDoCallsEachOnce(t *testing.T) {
	for _, n := range []int{0, 1, batch - 1, batch, batch + 1, 10 * batch} {
		calls := make([]atomic.Int32, n)
		Do(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("of %d, %d was called %d times", n, i, got)
			}
		}
	}
}
