package extdns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/endpoint"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Apply has the server adjust what is wanted, and sends what is different from what it has.
func (z *Zone) Apply(ctx context.Context, name dnsname.Name, b backend.Batch) (backend.Result, error) {
	if err := z.begin(ctx, name); err != nil {
		return backend.Result{}, fmt.Errorf("changing zone %s at %s: %w", name, z.client.Server(), err)
	}
	defer z.client.unlock()
	w := &writing{Zone: z, wanted: map[place]rr.Set{}}
	if err := w.apply(ctx, b); err != nil {
		return backend.Result{}, fmt.Errorf("changing zone %s at %s: %w", name, z.client.Server(), err)
	}
	return backend.Result{Rejected: w.rejected}, nil
}

// writing is one Apply.
type writing struct {
	*Zone
	wanted   map[place]rr.Set
	adjusted map[place][]endpoint.Endpoint // what is to be there
	rejected []backend.Rejection
	changes  endpoint.Changes
}

func (w *writing) reject(key rr.Key, why string) {
	delete(w.wanted, key)
	w.rejected = append(w.rejected, backend.Rejection{Key: key, Reason: why})
}

func (w *writing) apply(ctx context.Context, b backend.Batch) error {
	c, todo := w.client, b.Changes
	age := old
	if b.Assert {
		c.list = list{}
	}
	for _, change := range todo {
		if there := c.list.sets[change.Key]; len(there) > 0 || len(change.Have.Data) > 0 || change.Deletes() {
			age = young
		}
	}
	if err := c.look(ctx, age, age == old); err != nil {
		return err
	}
	if err := w.adjust(ctx, todo); err != nil {
		return err
	}
	for _, change := range todo {
		w.change(change)
	}
	if w.changes.None() {
		return nil
	}
	if err := c.call(ctx, http.MethodPost, "records", w.changes, nil); err != nil {
		c.list = list{}
		return w.blame(ctx, err)
	}
	c.list.wrote = true
	for key, set := range w.wanted {
		c.list.sets[key] = w.adjusted[key]
		if len(set.Data) == 0 {
			delete(c.list.sets, key)
		}
	}
	return nil
}

// blame decides what a failure of the server means: external-dns' own servers answer 500 whatever is wrong. If the
// server is well otherwise, it may be one of the sets.
func (w *writing) blame(ctx context.Context, err error) error {
	var s status
	if !errors.As(err, &s) {
		return err
	}
	if sick := w.client.look(ctx, young, false); sick != nil {
		return err
	}
	e, _ := errors.AsType[*backend.Error](err)
	return &backend.Error{Class: backend.ErrRejected, Words: e.Words, Temporary: true}
}

// adjust asks the server in which form it has what is wanted.
func (w *writing) adjust(ctx context.Context, todo []plan.Change) error {
	var ask []endpoint.Endpoint
	for _, change := range todo {
		w.wanted[change.Key] = change.Want
		if change.Deletes() {
			continue
		}
		e, err := endpoint.Of(change.Want)
		switch {
		case err != nil:
			w.reject(change.Key, err.Error())
		case !w.mine(change.Key.Name):
			w.reject(change.Key, "the server's filter excludes the name, or the name is in another of its zones")
		default:
			ask = append(ask, e)
		}
	}
	w.adjusted = map[place][]endpoint.Endpoint{}
	if len(ask) == 0 {
		return nil
	}
	var got []endpoint.Endpoint
	if err := w.client.call(ctx, http.MethodPost, "adjustendpoints", ask, &got); err != nil {
		return w.blame(ctx, err)
	}
	for _, e := range got {
		key, err := e.Key()
		if err != nil {
			return broken("%w", err)
		}
		w.adjusted[key] = append(w.adjusted[key], e)
	}
	for key, set := range w.wanted {
		if len(set.Data) > 0 && len(w.adjusted[key]) != 1 {
			w.reject(key, fmt.Sprintf("the server turns it into %d other sets", len(w.adjusted[key])))
		}
	}
	return nil
}

// change adds what one set needs.
func (w *writing) change(todo plan.Change) {
	key := todo.Key
	set, ok := w.wanted[key]
	if !ok {
		return
	}
	c, there := w.client, w.client.list.sets[key]
	if len(set.Data) == 0 {
		delete(c.known, key)
		if w.mine(key.Name) {
			w.changes.Delete = append(w.changes.Delete, there...)
		}
		return
	}
	goal := w.adjusted[key][0]
	c.known[key] = remembered{set, setOf(key, []endpoint.Endpoint{goal})}
	switch {
	case len(there) == 0:
		w.changes.Create = append(w.changes.Create, goal)
	case c.set(key).Equal(set) && plain(there):
	case len(there) == 1 && there[0].SetIdentifier == goal.SetIdentifier:
		w.changes.UpdateOld = append(w.changes.UpdateOld, there[0])
		w.changes.UpdateNew = append(w.changes.UpdateNew, goal)
	default:
		w.changes.Delete = append(w.changes.Delete, there...)
		w.changes.Create = append(w.changes.Create, goal)
	}
}

// plain reports whether none of some endpoints is one of several that take turns.
func plain(all []endpoint.Endpoint) bool {
	return !slices.ContainsFunc(all, func(e endpoint.Endpoint) bool { return e.SetIdentifier != "" })
}
