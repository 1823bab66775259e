package dnshook

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// failures is how many operations the server may fail at, one after the other, before it is left alone.
const failures = 8

// Apply makes the changes in their order. What the server refuses is refused by itself.
func (c *Client) Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	w := &writing{Client: c, failed: map[rr.Key]error{}}
	for _, change := range b.Changes {
		if o, err := operation(zone, change); err != nil {
			w.rejected = append(w.rejected, backend.Rejection{Key: change.Key, Reason: err.Error()})
		} else if o != nil {
			w.keys, w.operations = append(w.keys, change.Key), append(w.operations, *o)
		}
	}
	if err := w.send(ctx); err != nil {
		return backend.Result{}, fmt.Errorf("changing zone %s at %s: %w", zone, c.server, err)
	}
	return backend.Result{Rejected: w.rejected}, nil
}

// operation is what a change comes to; nil: nothing, for what the protocol has no name for cannot be there.
func operation(zone dnsname.Name, change plan.Change) (*dnshook.Operation, error) {
	if !change.Deletes() {
		r, err := RecordOf(zone, change.Want)
		return &dnshook.Operation{Action: dnshook.ActionUpsert, Record: r}, err
	}
	id, err := IDOf(zone, change.Key)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // see above
	}
	return &dnshook.Operation{Action: dnshook.ActionDelete, Record: dnshook.Record{Type: id.Type, Domain: id.Domain,
		Subdomain: id.Subdomain}}, nil
}

// writing is one Apply.
type writing struct {
	*Client
	keys       []rr.Key
	operations []dnshook.Operation
	rejected   []backend.Rejection
	elsewhere  []backend.Rejection // the server is not for their names
	failed     map[rr.Key]error    // the server failed at them
	row        int                 // of those, at the end
}

// send has all operations done, and says for each what came of it.
func (w *writing) send(ctx context.Context) error {
	if len(w.operations) > 1 && w.batches(ctx) {
		if err := backend.MaySend(ctx); err != nil {
			return err
		}
		errs, err := w.hook.Batch(ctx, w.operations)
		if errors.Is(err, dnshook.ErrNoBatch) {
			w.batch.Store(batchUnknown)
		}
		if err != nil {
			return classed(err)
		}
		for i, err := range errs {
			if err := w.note(w.keys[i], err); err != nil {
				return err
			}
		}
		return w.judge(ctx)
	}
	for i, o := range w.operations {
		if err := backend.MaySend(ctx); err != nil {
			return err
		}
		var err error
		if o.Action == dnshook.ActionDelete {
			err = w.hook.Delete(ctx, o.Record.ID())
		} else {
			_, err = w.hook.Upsert(ctx, o.Record)
		}
		if err := w.note(w.keys[i], err); err != nil {
			return err
		}
		if w.row == failures {
			return classed(err)
		}
	}
	return w.judge(ctx)
}

// batches reports whether the server takes them. It is asked once, and again when it does not answer.
func (w *writing) batches(ctx context.Context) bool {
	if known := w.batch.Load(); known != batchUnknown {
		return known == batchYes
	}
	features, err := w.hook.Features(ctx)
	switch {
	case slices.Contains(features, dnshook.FeatureBatch):
		w.batch.Store(batchYes)
	case err == nil:
		w.batch.Store(batchNo)
	}
	return w.batch.Load() == batchYes
}

// note takes down what came of one operation. An error ends all.
func (w *writing) note(key rr.Key, err error) error {
	if err == nil {
		w.row = 0
		return nil
	}
	e := classed(err)
	detail, _ := errors.AsType[*backend.Error](e)
	said, answered := errors.AsType[*dnshook.Error](err)
	switch class := backend.Class(e); {
	case class == backend.ErrRejected:
		w.rejected = append(w.rejected, backend.Rejection{Key: key, Reason: said.Message, Temporary: detail.Temporary})
	case class == backend.ErrNoZone:
		w.elsewhere = append(w.elsewhere, backend.Rejection{Key: key, Reason: said.Message})
	case class == backend.ErrUnavailable && answered && said.Status == 500:
		w.failed[key] = e
		w.row++
		return nil
	default:
		return e
	}
	w.row = 0
	return nil
}

// judge decides what failures mean: of a server that is well otherwise, or takes other sets, the sets that it fails at
// are to blame.
func (w *writing) judge(ctx context.Context) error {
	if len(w.elsewhere) > 0 && len(w.elsewhere) == len(w.operations) {
		return &backend.Error{Class: backend.ErrNoZone, Words: w.elsewhere[0].Reason}
	}
	w.rejected = append(w.rejected, w.elsewhere...)
	if len(w.failed) == 0 {
		return nil
	}
	_, sick := w.hook.Health(ctx)
	for _, key := range w.keys {
		err, failed := w.failed[key]
		switch {
		case !failed:
		case sick != nil:
			return err
		default:
			w.rejected = append(w.rejected, backend.Rejection{Key: key, Reason: err.Error(), Temporary: true})
		}
	}
	return nil
}
