package homelab

import (
	"context"
	"fmt"
	"testing"

	"github.com/zonefold/zonefold/dnshook"
)

func TestBatchesThatFailAsAWholeAreMadeSmaller(t *testing.T) {
	timedOut := fmt.Errorf("%w: %w", dnshook.ErrUnreachable, context.DeadlineExceeded)
	for _, c := range []struct {
		sentence string
		errs     []error
		want     int
	}{
		{"what works is as large as it was", []error{nil}, batchSize},
		{"one that takes too long", []error{timedOut}, batchSize / 4},
		{"and again", []error{timedOut, timedOut}, batchSize / 16},
		{"until there is one", []error{timedOut, timedOut, timedOut, timedOut, timedOut}, 1},
		{"a server that fails", []error{&dnshook.Error{Status: 500}}, batchSize / 4},
		{"a server that asks to wait", []error{&dnshook.Error{Status: 503, RetryAfter: 1e9}}, batchSize},
		{"a server that is not there", []error{dnshook.ErrUnreachable}, batchSize},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			is := &class{batch: true}
			k := &Controller{classes: map[string]*class{"dns": is}}
			for _, err := range c.errs {
				k.shrink(is, k.most("dns"), err)
			}
			if got := k.most("dns"); got != c.want {
				t.Errorf("%d records go out at once, want %d", got, c.want)
			}
		})
	}
}
