package cloudflare

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cloudflare/cloudflare-go/v7/dns"
	"github.com/cloudflare/cloudflare-go/v7/option"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// done is the service's answer to a batch.
type done struct {
	Patches []record `json:"patches"`
	Posts   []record `json:"posts"`
}

// send makes one batch by what the book says is there.
func (k *known) send(ctx context.Context, changes []plan.Change) (backend.Result, error) {
	var o operations
	for _, c := range changes {
		if err := k.change(&o, c.Want, c.Key); err != nil {
			return backend.Result{}, fmt.Errorf("%s: %w", c.Key, err)
		}
	}
	switch n := o.count(); {
	case n == 0:
		return backend.Result{}, nil
	case n > maxRecords:
		// There was more than anybody knew: in smaller pieces it goes.
		return backend.Result{}, &backend.Error{Class: backend.ErrRejected, Err: fmt.Errorf(
			"%d records would change, but the service accepts %d at once", n, maxRecords)}
	}
	body, err := json.Marshal(o)
	if err != nil {
		return backend.Result{}, &backend.Error{Class: backend.ErrRejected, Err: err}
	}
	got, err := call[done](ctx, func(ctx context.Context, into option.RequestOption) error {
		var p dns.RecordBatchParams
		p.ZoneID.Value, p.ZoneID.Present = k.zone.id, true
		_, err := k.zone.client.records.Batch(ctx, p, into, option.WithRequestBody("application/json", body))
		return err
	})
	if err != nil {
		k.book.complete = k.book.complete && backend.Class(err) == backend.ErrRejected
		return backend.Result{}, err
	}
	return k.note(changes, o, got.Result)
}

// note takes the answer into the book. A set that the service has stored otherwise than it was sent counts as refused.
func (k *known) note(changes []plan.Change, o operations, got done) (backend.Result, error) {
	if len(got.Patches) != len(o.Patches) || len(got.Posts) != len(o.Posts) {
		k.book = book{}
		return backend.Result{}, unreadable(fmt.Errorf("%d and %d records were sent, but %d and %d exist", len(o.Patches),
			len(o.Posts), len(got.Patches), len(got.Posts)))
	}
	gone := map[string]bool{}
	for _, r := range append(o.Deletes, o.Patches...) {
		gone[r.ID] = true
	}
	for _, c := range changes {
		k.book.drop(c.Key, gone)
	}
	if err := k.book.add(append(got.Patches, got.Posts...)); err != nil {
		k.book = book{}
		return backend.Result{}, err
	}
	var result backend.Result
	for _, c := range changes {
		if now := k.set(c.Key); !now.Equal(c.Want) {
			result.Rejected = append(result.Rejected, backend.Rejection{Key: c.Key, Reason: stored(now)})
		}
	}
	return result, nil
}

func stored(now rr.Set) string {
	return fmt.Sprintf("the service stored %q with a TTL of %d instead of the set", now.Data, now.TTL)
}

// drop forgets records.
func (b *book) drop(key rr.Key, gone map[string]bool) {
	var left []entry
	for _, e := range b.entries[key] {
		if !gone[e.id] {
			left = append(left, e)
		}
	}
	if len(left) == 0 {
		delete(b.entries, key)
		return
	}
	b.entries[key] = left
}
