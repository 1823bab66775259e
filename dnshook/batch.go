package dnshook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// FeatureBatch is what a server that takes batches says among its features.
const FeatureBatch = "batch"

// MaxBatch is how many operations a batch may have.
const MaxBatch = 500

// operation is one of a request.
type operation struct {
	Action Action `json:"operation"`
	Record Record `json:"record"`
}

// canonical returns the operation as a Provider gets it.
func (o operation) canonical() (Operation, error) {
	switch o.Action {
	case ActionUpsert:
		r, err := o.Record.Canonical()
		return Operation{o.Action, r}, err
	case ActionDelete:
		id, err := o.Record.ID().Canonical()
		return Operation{o.Action, Record{Type: id.Type, Domain: id.Domain, Subdomain: id.Subdomain}}, Absent(err)
	case "":
		return Operation{}, failed(CodeInvalidRecord, "The member operation is missing; it is %s.", ActionUpsert)
	}
	return Operation{}, failed(CodeInvalidRecord, "There is no operation %q.", clip(string(o.Action)))
}

// batch answers with one result an operation. What is not valid is refused by itself.
func (x *exchange) batch(ctx context.Context) response {
	var asked struct {
		Operations []operation `json:"operations"`
	}
	if err := decode(x.body, &asked); err != nil {
		return x.refuse(err)
	}
	x.Size = len(asked.Operations)
	switch {
	case x.Size == 0:
		return x.refuse(failed(CodeInvalidRecord, "The batch has no operations."))
	case x.Size > MaxBatch:
		return x.refuse(&Error{Status: http.StatusRequestEntityTooLarge, Code: CodeInvalidRecord,
			Message: fmt.Sprintf("The batch has %d operations, more than %d.", x.Size, MaxBatch)})
	}
	results := make([]answer, x.Size)
	var valid []Operation
	var place []int
	for i, o := range asked.Operations {
		c, err := o.canonical()
		if err != nil {
			results[i] = refusalOf(public(err))
			if CodeOf(err) == CodeRecordNotFound { // a deletion: see Absent
				results[i] = answerOf(nil, ErrNotFound.Message)
			}
			continue
		}
		valid, place = append(valid, c), append(place, i)
	}
	if len(valid) > 0 {
		errs := batch(ctx, x.cfg.Provider, valid)
		if len(errs) != len(valid) {
			return x.refuse(fmt.Errorf("the provider returned %d errors for a batch of %d operations", len(errs), len(valid)))
		}
		for i, err := range errs {
			results[place[i]] = x.result(valid[i], err)
		}
	}
	all := true
	for _, r := range results {
		all = all && *r.Success
	}
	return response{status: http.StatusOK, body: answer{Success: &all, Results: results}}
}

// result is what came of one operation.
func (x *exchange) result(o Operation, err error) answer {
	switch {
	case err == nil && o.Action == ActionDelete:
		return answerOf(nil, "Record deleted successfully")
	case err == nil:
		return answerOf(&o.Record, "Record created successfully")
	case o.Action == ActionDelete && CodeOf(err) == CodeRecordNotFound:
		return answerOf(nil, ErrNotFound.Message)
	}
	x.note(fmt.Errorf("%s: %w", o.Record.ID(), err))
	return refusalOf(public(err))
}

// Features asks what a server can do beyond what all servers can, such as FeatureBatch.
func (c *Client) Features(ctx context.Context) ([]string, error) {
	h, err := c.Health(ctx)
	return h.Features, err
}

// Batch has operations done, at most MaxBatch, in one request. It returns an error for each, nil for those that went
// well, or one for the request; that is ErrNoBatch where the server takes none. It is not atomic: any part may have
// been done.
func (c *Client) Batch(ctx context.Context, operations []Operation) ([]error, error) {
	body, err := c.encodeBatch(operations)
	if err != nil {
		return nil, fmt.Errorf("encoding a batch: %w", err)
	}
	a, err := c.ask(ctx, http.MethodPost, "/records/batch", body)
	var out []error
	if err == nil {
		out, err = a.results(operations)
	}
	if err != nil {
		return nil, fmt.Errorf("sending %d operations to %s: %w", len(operations), c.base, err)
	}
	return out, nil
}

func (c *Client) encodeBatch(operations []Operation) ([]byte, error) {
	type one struct {
		Action Action `json:"operation"`
		Record any    `json:"record"`
	}
	var out struct {
		Operations []one `json:"operations"`
	}
	for _, o := range operations {
		if o.Action == ActionDelete {
			out.Operations = append(out.Operations, one{o.Action, o.Record.ID()})
		} else {
			out.Operations = append(out.Operations, one{o.Action, c.told(o.Record)})
		}
	}
	return json.Marshal(out)
}

// results reads the answer to a batch.
func (a *reply) results(operations []Operation) ([]error, error) {
	if !a.parsed || len(a.answer.Results) == 0 {
		switch a.status {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			return nil, ErrNoBatch
		}
		if err := a.failure(); err != nil {
			return nil, err
		}
	}
	if a.status/100 != 2 {
		return nil, a.failure()
	}
	if got, want := len(a.answer.Results), len(operations); got != want {
		return nil, &Error{Status: a.status, Code: CodeServerError, Message: fmt.Sprintf(
			"it answers %d operations with %d results", want, got)}
	}
	errs := make([]error, len(operations))
	for i, one := range a.answer.Results {
		result := reply{status: http.StatusOK, parsed: true, answer: one}
		err := result.failure()
		if operations[i].Action == ActionDelete && CodeOf(err) == CodeRecordNotFound {
			continue
		}
		if e, ok := errors.AsType[*Error](err); ok {
			e.Status = e.Code.Status()
		}
		errs[i] = err
	}
	return errs, nil
}
