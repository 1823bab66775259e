package objects

import (
	"errors"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestWhoeverUndoesTheOtherTakesItsTime(t *testing.T) {
	t.Parallel()
	type write struct {
		after      time.Duration // since the one before
		version    uint64        // that was read; ours is 10
		generation int64
		wait       time.Duration // 0: it is made
	}
	const ms = time.Millisecond
	for name, writes := range map[string][]write{
		"what nobody else writes goes on": {{0, 10, 1, 0}, {0, 10, 1, 0}, {0, 10, 1, 0}, {0, 10, 1, 0}, {0, 10, 1, 0}},
		"the fourth waits, and each after it": {
			{0, 11, 1, 0}, {0, 12, 1, 0}, {0, 13, 1, 0}, {0, 14, 1, 500 * ms}, {400 * ms, 14, 1, 100 * ms},
			{100 * ms, 14, 1, 0}, {0, 15, 1, 500 * ms}, {500 * ms, 15, 1, 0},
		},
		"a new spec is a new reason": {
			{0, 11, 1, 0}, {0, 12, 1, 0}, {0, 13, 1, 0}, {0, 14, 2, 0}, {0, 15, 2, 0}, {0, 16, 2, 0}, {0, 17, 2, 500 * ms},
		},
		"what has been calm is new": {
			{0, 11, 1, 0}, {0, 12, 1, 0}, {0, 13, 1, 0}, {5 * time.Second, 14, 1, 0}, {0, 15, 1, 0}, {0, 16, 1, 0},
			{0, 17, 1, 500 * ms},
		},
		"a write that is not contested changes nothing of that": {
			{0, 11, 1, 0}, {0, 12, 1, 0}, {0, 13, 1, 0}, {0, 10, 1, 0}, {0, 14, 1, 500 * ms},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(0, 0)
			w := &Writer{Now: func() time.Time { return now }}
			w.writes.begin("one")
			w.writes.wrote("one", version("one", 10, 1))
			for n, next := range writes {
				now = now.Add(next.after)
				err := w.contested(version("one", next.version, next.generation))
				var contested *Contested
				if errors.As(err, &contested) != (next.wait > 0) || contested != nil && contested.After != next.wait {
					t.Fatalf("write %d: got %v, want a wait of %s", n, err, next.wait)
				}
			}
		})
	}
}

func TestThatNobodyElseHasWrittenBeforeUsIsNoContest(t *testing.T) {
	t.Parallel()
	w := &Writer{Now: func() time.Time { return time.Unix(0, 0) }}
	for range 10 {
		if err := w.contested(version("one", 11, 1)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhoeverRestoresWhatAnotherOneChangesTakesItsTime(t *testing.T) {
	t.Parallel()
	w := &Writer{Now: func() time.Time { return time.Unix(0, 0) }}
	owner := version("one", 10, 1)
	for n := range contestBurst {
		if err := w.Restores(owner, "pages"); err != nil {
			t.Fatalf("restoring the pages for the %d. time: %v", n+1, err)
		}
	}
	var contested *Contested
	if err := w.Restores(owner, "pages"); !errors.As(err, &contested) || contested.After != contestRest {
		t.Errorf("restoring the pages again: got %v, want a wait of %s", err, contestRest)
	}
	if err := w.Restores(owner, "slices"); err != nil {
		t.Errorf("restoring the slices, which nobody has changed yet: %v", err)
	}
	if err := w.Restores(version("two", 10, 1), "pages"); err != nil {
		t.Errorf("restoring the pages of another one: %v", err)
	}
}

func TestContestsThatAreOverAreForgotten(t *testing.T) {
	t.Parallel()
	var c contests
	now := time.Unix(0, 0)
	for n := range uint64(100 * leastSwept) {
		now = now.Add(contestCalm / 10)
		if err := c.admit(version(types.UID(strconv.FormatUint(n, 10)), n, 1), "status", now); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.of) > leastSwept {
		t.Errorf("%d contests are kept, of which 10 are not over", len(c.of))
	}
}

func version(uid types.UID, version uint64, generation int64) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		UID: uid, ResourceVersion: strconv.FormatUint(version, 10), Generation: generation,
	}}
}
