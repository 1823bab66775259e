package figures

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// Address is the i-th of 16 million.
func Address(i int) string { return fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255) }

// NewAddress is for a change: one that no record had before.
func NewAddress(i int) string { return fmt.Sprintf("172.%d.%d.%d", 16+i>>16, i>>8&255, i&255) }

// Ready reports whether an object says that it is ready as it is now.
func Ready(conditions []metav1.Condition, generation int64) bool {
	for _, c := range conditions {
		if c.Type == "Ready" {
			return c.Status == metav1.ConditionTrue && c.ObservedGeneration == generation
		}
	}
	return false
}

// ErrEnded says that there is nothing to measure any more.
var ErrEnded = errors.New("the operator has ended; -log says where its log goes")

// Until asks every 100 milliseconds whether something has come true, as long as ctx lasts and the operator runs; nil is
// none.
func Until(ctx context.Context, operator *testoperator.Process, done func() (bool, error)) error {
	var ended <-chan struct{}
	if operator != nil {
		ended = operator.Done()
	}
	for {
		yes, err := done()
		if yes {
			return err
		}
		select {
		case <-ended:
			return ErrEnded
		default:
		}
		if late := Pause(ctx, 100*time.Millisecond); late != nil {
			return errors.Join(late, err)
		}
	}
}

var label = regexp.MustCompile(`(\w+)="([^"]*)"`)

// Labels are those of a sample.
func Labels(sample string) map[string]string {
	out := map[string]string{}
	for _, l := range label.FindAllStringSubmatch(sample, -1) {
		out[l[1]] = l[2]
	}
	return out
}
