package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/rr"
)

const (
	mostTable = 256 << 20 // octets of keys and owners of one table
	itemCost  = 800       // octets that an item becomes in memory, with its note, beside its texts
	batchSize = 25        // statements of one call, by the service

	// freshFor is how old what is known of a table may be when a zone is changed.
	freshFor = time.Minute
)

// Table is the registry of external-dns in a table. It is safe for concurrent use.
type Table struct {
	client *client
	reads  *budget.Pool
	most   int64
	turn   chan struct{} // holds one: whoever scans

	mu     sync.Mutex
	begun  uint64 // scans
	ended  uint64 // the last of them that has an outcome, which is index or err
	index  *index
	err    error
	readAt time.Time // when the scan began that index is of, zero: never
}

// New makes a Table; nothing is sent yet.
func New(cfg Config, now func() time.Time) (*Table, error) {
	c, err := newClient(cfg, now)
	if err != nil {
		return nil, err
	}
	return &Table{client: c, reads: cfg.Reads, most: mostTable, turn: make(chan struct{}, 1)}, nil
}

// Notes reads the table, and returns its items as [Table.Beside] shows them.
func (t *Table) Notes(ctx context.Context) (rr.Sets, error) {
	if err := t.read(ctx); err != nil {
		return rr.Sets{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.index.notes, nil
}

// read has the table scanned, in a scan that begins after read is called: who asks while one is under way shares the
// next one.
func (t *Table) read(ctx context.Context) error {
	t.mu.Lock()
	need := t.begun + 1
	t.mu.Unlock()
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return t.failed(&backend.Error{Class: backend.ErrUnavailable, Err: context.Cause(ctx)})
	}
	t.mu.Lock()
	if t.ended >= need {
		defer t.mu.Unlock()
		return t.err
	}
	t.begun++
	number := t.begun
	t.mu.Unlock()
	at := t.client.now()
	items, err := t.scan(ctx)
	if err != nil && ctx.Err() != nil {
		return t.failed(err) // others may have more time
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended, t.err = number, nil; err != nil {
		t.err = t.failed(err)
		return t.err
	}
	t.index, t.readAt = newIndex(t.client.table, items), at
	return nil
}

func (t *Table) failed(err error) error {
	return within(err, fmt.Sprintf(
		"reading the registry of external-dns in the table %s of DynamoDB, which is needed to write", t.client.table))
}

// within has an error say what was being done, also to those who show of it what the service said.
func within(err error, doing string) error {
	e := *withClass(err)
	if e.Err == nil {
		e.Err = errors.New(doing)
	} else {
		e.Err = fmt.Errorf("%s: %w", doing, e.Err)
	}
	return &e
}

// fresh has the table scanned if what is known of it is old.
func (t *Table) fresh(ctx context.Context) error {
	t.mu.Lock()
	known := !t.readAt.IsZero() && t.client.now().Sub(t.readAt) < freshFor
	t.mu.Unlock()
	if known {
		return nil
	}
	return t.read(ctx)
}

type text struct {
	S *string `json:"S,omitempty"`
}

type scanned struct {
	Items []struct {
		K text `json:"k"`
		O text `json:"o"`
	} `json:"Items"`
	LastEvaluatedKey map[string]text `json:"LastEvaluatedKey"`
}

// scan reads all items.
func (t *Table) scan(ctx context.Context) ([]item, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	meter := t.reads.Begin(t.most, cancel)
	defer meter.End()
	var items []item
	var last map[string]text
	for {
		ask := map[string]any{"TableName": t.client.table, "ProjectionExpression": "k,o", "ConsistentRead": true}
		if last != nil {
			ask["ExclusiveStartKey"] = last
		}
		var page scanned
		if err := t.client.call(ctx, "Scan", ask, &page); err != nil {
			if ended := backend.Exceeded(meter.Ended()); ended != nil {
				return nil, ended
			}
			return nil, err
		}
		for _, i := range page.Items {
			if i.K.S == nil {
				return nil, &backend.Error{Class: backend.ErrRejected, Cause: backend.CauseInvalid, Err: errors.New(
					`an item has no string "k": the table is not one of external-dns; name the right one in ` +
						"spec.registries[].dynamoDB of the Backend")}
			}
			one := item{key: *i.K.S}
			if i.O.S != nil {
				one.owner = *i.O.S
			}
			octets := int64(len(one.key) + len(one.owner))
			if exceeded := backend.Exceeded(meter.Take(octets, octets+itemCost)); exceeded != nil {
				return nil, exceeded
			}
			items = append(items, one)
		}
		next := page.LastEvaluatedKey
		switch {
		case len(next) == 0:
			return items, nil
		case next["k"].S == nil || last["k"].S != nil && *last["k"].S == *next["k"].S:
			return nil, broken("a page of the table announces more pages, but not where they start")
		}
		last = next
	}
}

// A statement of PartiQL, which is what external-dns' policies allow, changes one item.
type statement struct {
	Statement  string `json:"Statement"`
	Parameters []any  `json:"Parameters"`

	note rr.Key
	item item
}

func (t *Table) insertion(note rr.Key, i item) statement {
	labels := map[string]any{"M": map[string]any{}}
	return statement{fmt.Sprintf(`INSERT INTO %q VALUE {'k':?, 'o':?, 'l':?}`, t.client.table),
		[]any{text{&i.key}, text{&i.owner}, labels}, note, i}
}

func (t *Table) deletion(note rr.Key, i item) statement {
	return statement{fmt.Sprintf(`DELETE FROM %q WHERE "k"=? AND "o"=?`, t.client.table),
		[]any{text{&i.key}, text{&i.owner}}, note, i}
}

// execute changes items, and has the index know of each that was changed.
func (t *Table) execute(ctx context.Context, statements []statement, become func([]item, item) []item) error {
	for some := range slices.Chunk(statements, batchSize) {
		var answer struct {
			Responses []struct {
				Error *struct{ Code, Message string }
			}
		}
		ask := map[string]any{"Statements": some}
		if err := t.client.call(ctx, "BatchExecuteStatement", ask, &answer); err != nil {
			return err
		}
		if len(answer.Responses) != len(some) {
			return broken("%d of %d statements are answered", len(answer.Responses), len(some))
		}
		var wrong error
		t.mu.Lock()
		for n, s := range some {
			e := answer.Responses[n].Error
			switch {
			case e == nil:
				t.index.change(s.note, func(has []item) []item { return become(has, s.item) })
				continue
			case e.Code == "DuplicateItem" || e.Code == "ConditionalCheckFailed":
				wrong = &backend.Error{Class: backend.ErrConflict, Err: fmt.Errorf("another client has changed the item %q",
					s.item.key)}
			default:
				wrong = fmt.Errorf("changing the item %q: %w", s.item.key, t.client.classed(e.Code, e.Message))
			}
			t.readAt = time.Time{}
		}
		t.mu.Unlock()
		if wrong != nil {
			return wrong
		}
	}
	return nil
}
