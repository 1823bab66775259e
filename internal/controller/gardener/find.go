package gardener

import (
	"context"
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/rr"
)

// find has it found out which place has the set of a record, if that is known to be anywhere. k.mu is held.
func (k *Controller) find(r *record) bool {
	o := r.object
	if r.run != nil || r.holding != nil || r.tried || !o.DeletionTimestamp.IsZero() || created(o) != metav1.ConditionTrue || migrated(o) {
		return false
	}
	r.run = &run{step: search, object: o, begun: k.Clock()}
	k.searches[r] = struct{}{}
	k.writer.Enqueue(r.id)
	return true
}

// sought notes that nobody searches any more for the place of a record. k.mu is held.
func (k *Controller) sought(r *record) {
	delete(k.searches, r)
	if k.synced && len(k.searches) == 0 && k.Placed != nil {
		k.Placed()
		k.Placed = nil
	}
}

// searching reports whether there are other records for the same set of which it is not known yet where that is: when one of several
// goes, the set becomes what the others ask for.
func (k *Controller) searching(r *record) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	waits := false
	for other := range k.sets[r.key] {
		if other != r && (k.find(other) || other.run != nil && other.run.step == search) {
			waits = true
		}
	}
	return waits
}

// locate finds the place of a record for find.
func (k *Controller) locate(ctx context.Context, r *record, run *run) error {
	set, err := Convert(&run.object.Spec)
	if err != nil {
		return err
	}
	account, z, err := k.reach(ctx, r, run)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.run != run {
		return nil
	}
	p := k.at(z)
	k.attach(p, account, z, r).records[r] = struct{}{}
	k.hold(r, &holding{at: p, account: account, key: r.key, set: set})
	p.holders[r.key] = inOrder(p.holders[r.key], r)
	p.wants(r.key)
	keys := []rr.Key{}
	if k.Shared && !k.Engine.HoldsZones() { // a Zone may have overwritten it meanwhile
		keys = append(keys, r.key)
	}
	p.publish(keys)
	return nil
}

// inOrder puts a record among those that have been asked for, by when that was.
func inOrder(all []*record, r *record) []*record {
	all = append(without(all, r), r)
	slices.SortStableFunc(all, func(a, b *record) int { return requested(a).Compare(requested(b)) })
	return all
}

func requested(r *record) time.Time {
	if last := r.object.Status.LastOperation; last != nil {
		return last.LastUpdateTime.Time
	}
	return time.Time{}
}

// found ends the search for a place, if it has ended, and has those go on that have waited.
func (k *Controller) found(r *record, run *run, err error) {
	if errors.Is(err, errWaiting) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.run == run {
		r.run, r.tried = nil, true
		k.sought(r)
	}
	for other := range k.sets[r.key] {
		if other.run.active() && other.run.step == Remove {
			k.writer.Enqueue(other.id)
		}
	}
}
