package kubizone

import (
	"errors"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
)

// raise stores a ceiling as a leader does that has just begun.
func (l *leader) raise(c *cluster, ceiling uint32) error {
	c.t.Helper()
	return (*store)(l.Controller).Raise(c.ctx, c.id, ceiling)
}

func (c *cluster) wantCeiling(want uint32) {
	c.t.Helper()
	var z v1alpha1.Zone
	if err := c.live.Get(c.ctx, client.ObjectKey{Namespace: c.id.Namespace, Name: c.id.Name}, &z); err != nil {
		c.t.Fatal(err)
	}
	if z.Status.SerialCeiling == nil || uint32(*z.Status.SerialCeiling) != want {
		c.t.Errorf("the stored ceiling is %v, want %d", z.Status.SerialCeiling, want)
	}
}

func TestACeilingTakesThePlaceOfTheKnownOneOnly(t *testing.T) {
	c := newCluster(t)
	old := c.leader()
	for _, ceiling := range []uint32{100, 132} { // the first one, and the next before the cache has it
		if err := old.raise(c, ceiling); err != nil {
			t.Fatal(err)
		}
	}
	c.wantCeiling(132)

	next := c.leader()
	if err := next.catchUp(c.ctx, c); err != nil {
		t.Fatal(err)
	}
	if stored, ok := (*store)(next.Controller).Load(c.id); !ok || stored.Ceiling != 132 {
		t.Fatalf("the next leader begins above %d", stored.Ceiling)
	}
	if err := old.catchUp(c.ctx, c); err != nil {
		t.Fatal(err)
	}
	old.watch.close()
	if err := next.raise(c, 200); err != nil {
		t.Fatal(err)
	}
	if err := old.raise(c, 164); !errors.Is(err, backend.ErrConflict) {
		t.Errorf("a leader whose term is over stores a ceiling: %v", err)
	}
	c.wantCeiling(200)

	old.watch.open()
	if err := old.catchUp(c.ctx, c); err != nil {
		t.Fatal(err)
	}
	var overtaken *engine.Overtaken
	if err := old.raise(c, 164); !errors.As(err, &overtaken) || overtaken.Ceiling != 200 ||
		backend.Class(err) != backend.ErrConflict {
		t.Errorf("once it knows better it says %v", err)
	}
	if err := old.raise(c, 216); err != nil {
		t.Errorf("above what was used it may go on: %v", err)
	}
	c.wantCeiling(216)
}

// TestALeaderThatHasSeenAnothersCeilingDoesNotTakeItForItsOwn has one look at the Zone, as it does for many reasons,
// between what its successor has stored and what it asks for: its feed goes on from what it was told first.
func TestALeaderThatHasSeenAnothersCeilingDoesNotTakeItForItsOwn(t *testing.T) {
	for _, stored := range []bool{false, true} {
		t.Run(fmt.Sprintf("one that has stored one itself: %t", stored), func(t *testing.T) {
			c := newCluster(t)
			first := c.leader()
			if err := first.raise(c, 100); err != nil {
				t.Fatal(err)
			}
			old := c.leader()
			old.load(c)
			known := uint32(100)
			if stored {
				known = 132
				if err := old.raise(c, known); err != nil {
					t.Fatal(err)
				}
			}
			next := c.leader()
			next.load(c)
			if err := next.raise(c, 200); err != nil {
				t.Fatal(err)
			}
			if err := old.catchUp(c.ctx, c); err != nil {
				t.Fatal(err)
			}
			old.load(c)
			var overtaken *engine.Overtaken
			for _, asked := range []uint32{known + 4096, 164} {
				if err := old.raise(c, asked); !errors.As(err, &overtaken) || overtaken.Ceiling != 200 {
					t.Errorf("what it asks for on top of %d is answered with %v", known, err)
				}
			}
			c.wantCeiling(200)
		})
	}
}

// TestACeilingThatIsAskedForIsNotGivenBack has a change need a serial between the look that finds all of them unused
// and the write that gives them back: what is stored is as high as what the change asks for.
func TestACeilingThatIsAskedForIsNotGivenBack(t *testing.T) {
	c := newCluster(t)
	l := c.leader()
	if err := l.raise(c, 132); err != nil {
		t.Fatal(err)
	}
	if err := l.catchUp(c.ctx, c); err != nil {
		t.Fatal(err)
	}
	seen, err := zoneAt(c.ctx, l.Client, c.id)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.raise(c, 120); err != nil {
		t.Fatal(err)
	}
	want := *seen.Status.DeepCopy()
	want.SerialCeiling = number(104)
	if _, err := l.objects.ChangeStatus(c.ctx, seen, seen.Status, want); err == nil {
		t.Error("it is given back")
	}
	c.wantCeiling(133) // and not 132 again, which would have been no other version
}
