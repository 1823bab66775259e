package controller

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Ceilings stores how far serials may have gone, as status.serialCeiling of a dialect's zones. A ceiling takes the
// place of the one that this operator knows, and of no other: one that was paused until its term was over stores none
// over that of its successor, and so never uses a serial that somebody else may have used. What it knows is what Begin
// returned first and Raise stored since, whatever its cache has learned meanwhile: the feed that asks has not.
type Ceilings struct {
	Objects *objects.Writer
	Live    client.Reader // asks the API server

	New    func() client.Object       // an empty zone of the dialect
	Stored func(client.Object) uint32 // what its status has; 0: none

	known guarded.Value[ceilings]
}

// ceilings are those that are known.
type ceilings struct {
	zones map[zone.ID]ceiling
	turns map[zone.ID]*guarded.Turn // of who raises a ceiling
}

// A ceiling is what is known of one zone's.
type ceiling struct {
	known  uint32 // that was begun with or stored; 0: none
	others uint32 // the last one that somebody else has stored since; 0: nobody has
}

// Begin returns the ceiling above which serials begin, of a zone whose object has the stored one.
func (c *Ceilings) Begin(id zone.ID, stored uint32) uint32 {
	known, unlock := c.known.Lock()
	defer unlock()
	was, ok := known.zones[id]
	if !ok {
		known.put(id, ceiling{known: stored})
	}
	return rr.LaterSerial(was.known, stored)
}

// Known returns the ceiling that is known, 0 if none is.
func (c *Ceilings) Known(id zone.ID) uint32 {
	known, unlock := c.known.Lock()
	defer unlock()
	return known.zones[id].known
}

// Put notes a ceiling that was stored in another way.
func (c *Ceilings) Put(id zone.ID, stored uint32) {
	known, unlock := c.known.Lock()
	defer unlock()
	known.put(id, ceiling{stored, known.zones[id].others})
}

func (c *ceilings) put(id zone.ID, now ceiling) {
	if c.zones == nil {
		c.zones = map[zone.ID]ceiling{}
	}
	c.zones[id] = now
}

// Forget forgets a zone whose object is gone.
func (c *Ceilings) Forget(id zone.ID) {
	known, unlock := c.known.Lock()
	defer unlock()
	delete(known.zones, id)
	delete(known.turns, id)
}

// raises is how often a ceiling is stored again at once that met with another version of the object: who asked for it
// tries again soon.
const raises = 4

// Raise stores a ceiling in the object of a zone. That another operator has stored a later one is the error Overtaken.
// A zone that was renamed has two feeds: each waits for the other's answer, or would take what that one has stored for
// somebody else's.
func (c *Ceilings) Raise(ctx context.Context, id zone.ID, asked uint32) error {
	turn := c.turn(id)
	if err := turn.LockBefore(ctx); err != nil {
		return fmt.Errorf("waiting to store the ceiling of %s: %w", id, err)
	}
	defer turn.Unlock()
	key, o := client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, c.New()
	if err := c.Objects.Client.Get(ctx, key, o); err != nil {
		return fmt.Errorf("reading %s: %w", id, err)
	}
	if err := c.overtaken(id, asked); err != nil {
		return err
	}
	uid, store := o.GetUID(), c.inPlaceOf(o, c.Known(id))
	for n := 0; ; n++ {
		err := c.store(ctx, id, store, c.above(id, asked))
		if n == raises || !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) {
			return err
		}
		o = c.New()
		if err := c.Live.Get(ctx, key, o); err != nil {
			return fmt.Errorf("reading %s: %w", id, err)
		}
		if o.GetUID() != uid {
			return err // the object that is meant is gone
		}
		stored := c.Stored(o)
		if err := c.learn(id, stored); err != nil {
			return err
		}
		if store = c.inPlaceOf(o, stored); stored == 0 { // it may have no status, of whose members no test can be
			store = c.inVersion(o)
		}
	}
}

// above returns the ceiling to store where one is asked for. It is never the known one, also where that is enough:
// whoever has found that no serial below that was used, and gives them back, is to meet another version of the object.
func (c *Ceilings) above(id zone.ID, asked uint32) uint32 {
	known := c.Known(id)
	if known == 0 || rr.SerialLess(known, asked) {
		return asked
	}
	return max(known+1, 1)
}

// turn returns the turn of those who raise the ceiling of a zone.
func (c *Ceilings) turn(id zone.ID) *guarded.Turn {
	known, unlock := c.known.Lock()
	defer unlock()
	if known.turns == nil {
		known.turns = map[zone.ID]*guarded.Turn{}
	}
	if known.turns[id] == nil {
		known.turns[id] = &guarded.Turn{}
	}
	return known.turns[id]
}

// learn tells of a ceiling in the place of the known one that is later: somebody else has stored it.
func (c *Ceilings) learn(id zone.ID, stored uint32) error {
	known, unlock := c.known.Lock()
	defer unlock()
	if was := known.zones[id].known; stored == 0 || was != 0 && !rr.SerialLess(was, stored) {
		return nil
	}
	known.put(id, ceiling{stored, stored})
	return &engine.Overtaken{Ceiling: stored}
}

// overtaken tells of a ceiling of somebody else that is not asked to be exceeded.
func (c *Ceilings) overtaken(id zone.ID, asked uint32) error {
	known, unlock := c.known.Lock()
	defer unlock()
	if others := known.zones[id].others; others != 0 && !rr.SerialLess(others, asked) {
		return &engine.Overtaken{Ceiling: others}
	}
	return nil
}

// A storing writes a ceiling into an object, as far as it finds there what it expects.
type storing func(context.Context, uint32) error

func (c *Ceilings) store(ctx context.Context, id zone.ID, into storing, value uint32) error {
	err := into(ctx, value)
	switch {
	case errors.Is(err, objects.ErrNotLeading) || apierrors.IsInvalid(err) || apierrors.IsConflict(err):
		return fmt.Errorf("storing the ceiling of %s in place of the known one: %w: %w", id, backend.ErrConflict, err)
	case err != nil:
		return err
	}
	c.Put(id, value)
	return nil
}

// inPlaceOf stores a ceiling where the object has the known one, and where it has none if that is 0.
func (c *Ceilings) inPlaceOf(o client.Object, known uint32) storing {
	expected := any(known)
	if known == 0 {
		expected = nil
	}
	return func(ctx context.Context, value uint32) error {
		return c.Objects.Swap(ctx, o, "/status/serialCeiling", expected, value)
	}
}

// inVersion stores a ceiling in this version of the object.
func (c *Ceilings) inVersion(o client.Object) storing {
	return func(ctx context.Context, value uint32) error {
		_, err := c.Objects.Change(ctx, o, "status", map[string]any{"serialCeiling": value})
		return err
	}
}
