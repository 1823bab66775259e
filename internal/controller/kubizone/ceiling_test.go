package kubizone

import (
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
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
	var overtaken *backend.Overtaken
	if err := old.raise(c, 164); !errors.As(err, &overtaken) || overtaken.Ceiling != 200 || backend.Class(err) != backend.ErrConflict {
		t.Errorf("once it knows better it says %v", err)
	}
	if err := old.raise(c, 216); err != nil {
		t.Errorf("above what was used it may go on: %v", err)
	}
	c.wantCeiling(216)
}
