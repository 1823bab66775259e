package updates

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/zonefold/zonefold/internal/controller/objects"
)

func TestStepsAreTakenTogetherAfterTheFirst(t *testing.T) {
	steps := make([]*step, 3*writers)
	for i := range steps {
		steps[i] = &step{}
	}
	var mu sync.Mutex
	var begun []*step
	all := make(chan struct{}) // closed when as many are under way as may be
	err := each(steps, func(s *step) error {
		mu.Lock()
		begun = append(begun, s)
		n := len(begun)
		mu.Unlock()
		if n == writers+1 {
			close(all)
		}
		if n > 1 {
			<-all
		}
		return nil
	})
	if err != nil || len(begun) != len(steps) || begun[0] != steps[0] {
		t.Errorf("%d have begun: %v", len(begun), err)
	}
	wrong := errors.New("no")
	begun = nil
	if err := each(steps, func(s *step) error { begun = append(begun, s); return wrong }); !errors.Is(err, wrong) ||
		len(begun) != 1 {
		t.Errorf("when the first fails, %d have begun: %v", len(begun), err)
	}
}

func TestWhatMayHaveBeenWritten(t *testing.T) {
	records := schema.GroupResource{Group: "kubi.zone", Resource: "records"}
	for _, c := range []struct {
		sentence string
		err      error
		want     bool
	}{
		{"the time is over", context.DeadlineExceeded, true},
		{"a connection breaks", errors.New("EOF"), true},
		{"the API server gives up", apierrors.NewTimeoutError("no", 1), true},
		{"it is forbidden", apierrors.NewForbidden(records, "a", nil), false},
		{"there is one", apierrors.NewAlreadyExists(records, "a"), false},
		{"another operator may lead", objects.ErrNotLeading, false},
	} {
		if got := unanswered(fmt.Errorf("creating: %w", c.err)); got != c.want {
			t.Errorf("%s: %v", c.sentence, got)
		}
	}
}
