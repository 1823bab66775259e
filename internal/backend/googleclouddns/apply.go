package googleclouddns

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Apply makes one change of the service. If what was known turns out to be outdated, the zone is read and it is tried
// with what is there.
func (z *Zone) Apply(ctx context.Context, name dnsname.Name, b backend.Batch) (backend.Result, error) {
	if err := z.is(name); err != nil {
		return backend.Result{}, err
	}
	k, unlock, err := z.known.Lock(ctx)
	if err != nil {
		return backend.Result{}, fmt.Errorf("changing zone %s: %w", name, err)
	}
	defer unlock()
	result, err := k.apply(ctx, b.Changes)
	if err != nil {
		return backend.Result{}, fmt.Errorf("changing zone %s: %w", name, err)
	}
	return result, nil
}

func (k *known) apply(ctx context.Context, changes []plan.Change) (backend.Result, error) {
	var unknown []rr.Key
	for _, c := range changes {
		if !k.trusts(c) {
			unknown = append(unknown, c.Key)
		}
	}
	if len(unknown) > 0 {
		if err := k.look(ctx, unknown); err != nil {
			return backend.Result{}, err
		}
	}
	result, err := k.send(ctx, changes)
	if !errors.Is(err, backend.ErrConflict) {
		return result, err
	}
	if err := k.look(ctx, nil); err != nil {
		return backend.Result{}, err
	}
	return k.send(ctx, changes)
}

// trusts reports whether a change may be made by what is known. One that changes nothing is there because somebody does
// not trust what is known.
func (k *known) trusts(c plan.Change) bool {
	return k.book.complete && k.book.set(c.Key).Equal(c.Have) && !c.Have.Equal(c.Want)
}

// send makes one change by what the book says is there.
func (k *known) send(ctx context.Context, changes []plan.Change) (backend.Result, error) {
	var todo dns.Change
	for _, c := range changes {
		there := k.book.sets[c.Key]
		if there != nil && k.book.set(c.Key).Equal(c.Want) {
			continue
		}
		if there != nil {
			todo.Deletions = append(todo.Deletions, there)
		}
		if c.Deletes() {
			continue
		}
		set, err := toSet(c.Want)
		if err != nil {
			return backend.Result{}, &backend.Error{Class: backend.ErrRejected, Err: err}
		}
		todo.Additions = append(todo.Additions, set)
	}
	if len(todo.Additions)+len(todo.Deletions) == 0 {
		return backend.Result{}, nil
	}
	made, err := k.zone.client.api.Changes.Create(k.zone.project, k.zone.id, &todo).Context(ctx).Do()
	if err != nil {
		err = classed(err)
		k.book.complete = k.book.complete && backend.Class(err) == backend.ErrRejected
		return backend.Result{}, err
	}
	return k.note(changes, made)
}

// note takes the answer into the book. A set that the service has stored otherwise than it was sent counts as refused.
func (k *known) note(changes []plan.Change, made *dns.Change) (backend.Result, error) {
	stored := map[rr.Key]*dns.ResourceRecordSet{}
	for _, set := range made.Additions {
		key, err := keyOf(set)
		if err != nil {
			k.book = book{}
			return backend.Result{}, unreadable(err)
		}
		stored[key] = set
	}
	var result backend.Result
	for _, c := range changes {
		if set := stored[c.Key]; set != nil || c.Deletes() {
			k.book.put(c.Key, set)
		}
		if now := k.book.set(c.Key); !now.Equal(c.Want) {
			result.Rejected = append(result.Rejected, backend.Rejection{Key: c.Key,
				Reason: fmt.Sprintf("the service stored %q with a TTL of %d instead of the set", now.Data, now.TTL)})
		}
	}
	if made.Status != statusDone {
		result.Pending = k.zone.pending(made.Id)
	}
	return result, nil
}

// statusDone is the status of a change that all name servers of the service have.
const statusDone = "done"

// pending asks whether a change is published.
func (z *Zone) pending(id string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		now, err := z.client.api.Changes.Get(z.project, z.id, id).Context(ctx).Do()
		if err != nil {
			return false, fmt.Errorf("asking for change %s of zone %s: %w", id, z.name, classed(err))
		}
		return now.Status == statusDone, nil
	}
}
