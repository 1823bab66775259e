package controller

import (
	"fmt"
	"testing"
)

func TestWhatIsSharedIsBounded(t *testing.T) {
	var s Shared[string]
	for i := range 3 * mostShared {
		key := fmt.Sprint(i)
		if got := s.One(key, func() string { return key }); got != key || len(s) > mostShared {
			t.Fatalf("value %q for %q, %d values kept", got, key, len(s))
		}
	}
}
