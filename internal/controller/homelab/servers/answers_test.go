package servers

import (
	"fmt"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

func TestWhichAnswersAreAboutAllRecords(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"no answer", fmt.Errorf("asking: %w", dnshook.ErrUnreachable), true},
		{"a signature that is not taken", &dnshook.Error{Status: 401}, true},
		{"a caller who may not", &dnshook.Error{Status: 403}, true},
		{"too many calls", &dnshook.Error{Status: 429}, true},
		{"a server that is not available", &dnshook.Error{Status: 503}, true},
		{"a server that says when to come back", &dnshook.Error{Status: 500, RetryAfter: time.Second}, true},
		{"a record that fails", &dnshook.Error{Status: 500}, false},
		{"a record that is not taken", &dnshook.Error{Status: 400}, false},
	} {
		if got := AboutAll(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
