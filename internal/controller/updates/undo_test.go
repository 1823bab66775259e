package updates

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
)

func newTestUndoings(t *testing.T) *undoings {
	t.Helper()
	return newUndoings(t.Context(), backend.SystemClock{}, slog.New(slog.DiscardHandler))
}

func TestUndoingGoesOnUntilAllIsUndone(t *testing.T) {
	records := schema.GroupResource{Group: "kubi.zone", Resource: "records"}
	gone := apierrors.NewNotFound(records, "a")
	for _, c := range []struct {
		sentence string
		fails    int   // how often each step does
		with     error // then
		lost     bool
	}{
		{"nothing is in the way", 0, nil, false},
		{"the API server is away for a while", 3, errors.New("connection refused"), false},
		{"somebody is faster for a while", 3, apierrors.NewConflict(records, "a", errors.New("no")), false},
		{"the Records are gone", 1, gone, true},
		{"others have their names", 1, errReplaced, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			u := newTestUndoings(t)
			steps := make([]*step, 3*writers)
			for i := range steps {
				steps[i] = &step{}
			}
			var mu sync.Mutex
			tries, undone, freed := map[*step]int{}, map[*step]bool{}, false
			err := <-u.begin(steps, func(_ context.Context, s *step) error {
				mu.Lock()
				defer mu.Unlock()
				if tries[s]++; tries[s] <= c.fails {
					return c.with
				}
				undone[s] = true
				return nil
			}, func() { freed = true })
			if (err != nil) != c.lost || !c.lost && len(undone) != len(steps) || !freed || u.room() != nil {
				t.Errorf("%s: %d are undone: %v; the names are free: %t", c.sentence, len(undone), err, freed)
			}
			u.wait()
		})
	}
}

func TestUndoingEndsWithTheTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newTestUndoings(t)
		var all []<-chan error
		freed := 0
		for range maxUndoings {
			if err := u.room(); err != nil {
				t.Fatal(err)
			}
			all = append(all, u.begin([]*step{{}}, func(context.Context, *step) error { return errors.New("no") }, func() {}))
		}
		synctest.Wait()
		if u.room() == nil {
			t.Error("any number of updates may be undone at a time")
		}
		u.wait()
		all = append(all, u.begin([]*step{{}}, func(context.Context, *step) error { t.Error("it begins"); return nil },
			func() { freed++ }))
		for _, finished := range all {
			if err := <-finished; err == nil {
				t.Error("what is not undone is said to be")
			}
		}
		if freed != 1 {
			t.Error("the names of what cannot begin stay held")
		}
	})
}

func TestNamesAreHeldUntilAllIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &Updates{names: newNames(), undoings: newTestUndoings(t)}
		name := []dnsname.Name{mustName(t, "a.example.")}
		held, err := u.names.take(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		block := make(chan struct{})
		held.share()
		finished := u.undoings.begin([]*step{{}}, func(context.Context, *step) error { <-block; return nil }, held.free)
		held.free() // it is answered
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := u.names.take(ended, name); err == nil {
			t.Error("another update may begin before this one is undone")
		}
		close(block)
		if err := <-finished; err != nil {
			t.Error(err)
		}
		if after, err := u.names.take(t.Context(), slices.Clone(name)); err != nil {
			t.Error(err)
		} else {
			after.free()
		}
	})
}
