package dnshook

import (
	"context"
	"errors"
)

// A Provider has records served. It is all that who writes a server has to write: NewHandler makes an HTTP server of
// it.
//
// Records and IDs that a Provider is given are valid and canonical (see Record.Canonical), and requests are verified.
// Its methods are called at the same time, for one record too, and return when the work is done. A request whose answer
// got lost is sent again, so all methods come to the same when they are called twice.
//
// An *Error is answered as it is; of any other error only the log gets the words, and the answer is SERVER_ERROR.
type Provider interface {
	// Upsert makes the record, or changes it to what it is here: all values that the type has at the name.
	Upsert(ctx context.Context, r Record) error
	// Delete removes the record. That there is none is ErrNotFound, which the other end takes for success; so it is where
	// there can be none, as in a zone of somebody else (see Absent).
	Delete(ctx context.Context, id ID) error
	// Get returns the record as it is now, or ErrNotFound; a Provider that cannot tell always returns ErrNoGet.
	Get(ctx context.Context, id ID) (Record, error)
	// Health says what is wrong, nil if all is well. Requests are sent to a server that is not well too.
	Health(ctx context.Context) error
}

// A Batcher is a Provider that does several operations faster together than one after the other.
type Batcher interface {
	// Batch does the operations, of which one that is later in the list wins, and returns an error for each, nil where all
	// is well.
	Batch(ctx context.Context, operations []Operation) []error
}

// An Action is what is to be done with a record.
type Action string

// The actions.
const (
	ActionUpsert Action = "upsert"
	ActionDelete Action = "delete" // in batches only
)

// An Operation is one part of a batch. Of a record that is to be deleted only the ID counts.
type Operation struct {
	Action Action
	Record Record
}

// ErrNoGet says that a server does not tell what it has, which it need not.
var ErrNoGet = errors.New("the server has no GET for records")

// ErrNoBatch says that a server takes no batches, which it need not.
var ErrNoBatch = errors.New("the server does not support batches")

// batch does operations together where the provider can, else one after the other.
func batch(ctx context.Context, p Provider, operations []Operation) []error {
	if b, ok := p.(Batcher); ok {
		return b.Batch(ctx, operations)
	}
	errs := make([]error, len(operations))
	for i, o := range operations {
		switch {
		case ctx.Err() != nil:
			errs[i] = &Error{Code: CodeServerError, Message: "There was no time left for this one.", Err: ctx.Err()}
		case o.Action == ActionDelete:
			errs[i] = p.Delete(ctx, o.Record.ID())
		default:
			errs[i] = p.Upsert(ctx, o.Record)
		}
	}
	return errs
}
