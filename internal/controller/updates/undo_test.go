package updates

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
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

func TestNamesAreHeldUntilTheWorldHasWhatIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := core.New(core.Config{Clock: time.Now, Metrics: controller.NewMetrics(),
			Settled: func(core.Settlement) {}})
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go func() { _ = world.Run(ctx, func(context.Context) bool { return true }) }()
		changed := &step{after: &v1alpha1.Record{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "changed"}}}
		created := &step{after: &v1alpha1.Record{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "created"}}}
		watch := world.Watch(changed.id(), created.id())
		defer watch.End()
		to := map[*step]core.Version{changed: {UID: "1", Generation: 3}, created: {}}
		back := judged(watch, func(_ context.Context, s *step) (*core.Version, error) { return new(to[s]), nil })
		u := newTestUndoings(t)
		finished := u.begin([]*step{changed, created}, back, func() {})
		for _, has := range []struct {
			step       *step
			generation int64
		}{{changed, 2}, {created, 1}, {changed, 3}} {
			world.PutClaim(zone.Claim{ID: has.step.id()}, core.Version{UID: "1", Generation: has.generation})
			synctest.Wait()
			if len(finished) > 0 {
				t.Errorf("who comes next finds what is undone: the World has %s %d", has.step.id(), has.generation)
			}
		}
		world.DeleteClaim(created.id())
		if err := <-finished; err != nil {
			t.Error(err)
		}

		began := time.Now()
		to[created] = core.Version{UID: "2", Generation: 1}
		if err := <-u.begin([]*step{created}, back, func() {}); err != nil || time.Since(began) != patience {
			t.Errorf("what the World never hears of is waited for for %s: %v", time.Since(began), err)
		}
	})
}
