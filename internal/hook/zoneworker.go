package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// order is one set as somebody wants it; the zero Set: gone.
type order struct {
	key  rr.Key
	want rr.Set
	done chan error // gets what came of it

	ended bool
}

// A zoneWorker makes all changes of one zone, one at a time; what comes meanwhile goes out together.
type zoneWorker struct {
	zone    dnsname.Name
	backend backend.Backend
	limits  backend.Limits
	now     func() time.Time
	timeout time.Duration

	mu      sync.Mutex
	waiting []*order
	busy    bool
	well    time.Time // when a service was last seen to be; see health
}

// attempts is how often a change is made anew when somebody else changed the zone meanwhile.
const attempts = 20

// most is how many orders go out together.
const most = dnshook.MaxBatch

// take has orders done. Who gave them may go: what has begun is finished, and comes to the same when it is asked for
// again.
func (d *zoneWorker) take(orders []*order) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, orders...)
	if !d.busy {
		d.busy = true
		go d.work()
	}
}

// work does what is waiting until nothing is.
func (d *zoneWorker) work() {
	for {
		d.mu.Lock()
		n := min(most, len(d.waiting))
		if n == 0 {
			d.busy, d.waiting = false, nil
			d.mu.Unlock()
			return
		}
		some := d.waiting[:n:n]
		d.waiting = d.waiting[n:]
		d.mu.Unlock()
		d.each(some)
	}
}

// each does orders in rows in which no set occurs twice.
func (d *zoneWorker) each(orders []*order) {
	for len(orders) > 0 {
		seen := map[rr.Key]bool{}
		n := 0
		for n < len(orders) && !seen[orders[n].key] {
			seen[orders[n].key] = true
			n++
		}
		ctx, cancel := context.WithTimeout(context.Background(), d.timeout)
		d.do(ctx, orders[:n])
		cancel()
		orders = orders[n:]
	}
}

// do does orders together, and if the server refuses them, in halves, so that the one that is to blame is refused
// alone.
func (d *zoneWorker) do(ctx context.Context, orders []*order) {
	err := d.change(ctx, orders)
	if backend.Class(err) == backend.ErrRejected && len(orders) > 1 {
		half := len(orders) / 2
		d.do(ctx, orders[:half])
		d.do(ctx, orders[half:])
		return
	}
	if err != nil {
		for _, o := range orders {
			o.end(o.answered(err))
		}
	}
}

// end says what came of an order, once.
func (o *order) end(err error) {
	if !o.ended {
		o.ended = true
		o.done <- err
	}
}

// change makes the difference between what the server has and what is wanted: as one change if the server takes so much
// at once and nobody else writes at the same time. An error is one of all orders that have not ended.
func (d *zoneWorker) change(ctx context.Context, orders []*order) error {
	for failed := 0; failed < attempts; {
		orders = slices.DeleteFunc(slices.Clone(orders), func(o *order) bool { return o.ended })
		if len(orders) == 0 {
			return nil
		}
		found, changes, err := d.compare(ctx, orders)
		if err != nil || len(changes) == 0 {
			return err
		}
		part := d.limits.Split(plan.Order(changes))[0]
		err = d.apply(ctx, part, among(orders, part), found)
		if err == nil {
			continue // the rest
		}
		if backend.Class(err) != backend.ErrConflict {
			return err
		}
		if err := pause(ctx, failed); err != nil {
			return err
		}
		failed++
	}
	return fmt.Errorf(
		"changing zone %s: it was changed by others %d times meanwhile: %w", d.zone, attempts, backend.ErrConflict)
}

// among returns the orders that changes are for.
func among(orders []*order, changes []plan.Change) []*order {
	return slices.DeleteFunc(slices.Clone(orders), func(o *order) bool {
		return !slices.ContainsFunc(changes, func(c plan.Change) bool { return c.Key == o.key })
	})
}

// apply has the server make changes, and ends their orders. Name servers of a service may answer with them some time
// later (backend.Result.Pending), for which nobody waits here: others would wait for their turn meanwhile.
func (d *zoneWorker) apply(ctx context.Context, changes []plan.Change, orders []*order, found backend.Observed) error {
	b := backend.Batch{Changes: changes, Last: true}
	if d.limits.SOA == backend.SOAClient {
		if found.SOA == (rr.SOA{}) {
			return fmt.Errorf("changing zone %s: %w", d.zone, backend.ErrNoZone)
		}
		next := found.SOA
		next.Serial = rr.NextSerial(found.SOA.Serial, d.now())
		b.SOA, b.Expect = &next, &found.SOA
	} else {
		b.Assert = true // there is no serial to tell by that somebody else was faster
	}
	result, err := d.backend.Apply(ctx, d.zone, b)
	if err != nil {
		return err
	}
	return d.confirm(ctx, orders, result, found)
}

// pause waits before another attempt, for longer each time and not as long as others do.
func pause(ctx context.Context, attempt int) error {
	// nobody guesses it
	wait := time.NewTimer(time.Duration(rand.Int64N(int64(min(5*time.Millisecond<<attempt, 400*time.Millisecond)))))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return errors.Join(backend.ErrConflict, ctx.Err())
	}
}

// compare reads what is there, and ends the orders that there is nothing to do for.
func (d *zoneWorker) compare(ctx context.Context, orders []*order) (backend.Observed, []plan.Change, error) {
	keys := make([]rr.Key, len(orders))
	for i, o := range orders {
		keys[i] = o.key
	}
	found, err := d.backend.Read(ctx, d.zone, backend.Ask{Keys: keys})
	if err != nil {
		return found, nil, err
	}
	txn := rr.Sets{}.Txn()
	wanted := map[rr.Key]rr.Set{}
	for _, o := range orders {
		have, there := found.Sets.Get(o.key)
		switch {
		case !there && len(o.want.Data) == 0:
			o.end(dnshook.ErrNotFound)
		case there && have.Equal(o.want):
			o.end(nil)
		default:
			wanted[o.key] = o.want
			txn.Put(rr.Set{Name: o.key.Name, Type: o.key.Type, Data: []string{""}})
		}
	}
	var changes []plan.Change
	for marked := range txn.Sets().All() { // in canonical order
		have, _ := found.Sets.Get(marked.Key())
		changes = append(changes, plan.Change{Key: marked.Key(), Have: have, Want: wanted[marked.Key()]})
	}
	return found, changes, nil
}

// unfit says why the server can never have a set as it is wanted, nil if it may. A TTL is not moved into bounds:
// whoever asks for the record again would find it changed.
func (d *zoneWorker) unfit(key rr.Key, want rr.Set) error {
	why := ""
	low, high := d.limits.MinTTL, cmp.Or(d.limits.MaxTTL, math.MaxInt32)
	switch {
	case d.limits.ApexNS == backend.ApexNSServer && key == rr.Key{Name: d.zone, Type: rr.TypeNS}:
		why = "the name servers of a zone are the service's own"
	case len(want.Data) == 0:
	case want.TTL < low || want.TTL > high:
		why = fmt.Sprintf("the server accepts TTLs from %d to %d seconds, but this one is %d", low, high, want.TTL)
	default:
		why = d.limits.Unfit(plan.Change{Key: key, Want: want})
	}
	if why == "" {
		return nil
	}
	return &dnshook.Error{Code: dnshook.CodeInvalidRecord, Message: fmt.Sprintf("%s is not possible: %s.", key, why)}
}

// few is how many sets are better read one by one than as the difference to what was there.
const few = 8

// confirm ends the orders by what the server has in the end: some answer yes to what they ignore. Where somebody else
// has changed the zone once more by then, and a set with it, that is a conflict.
func (d *zoneWorker) confirm(ctx context.Context, orders []*order, result backend.Result,
	before backend.Observed) error {
	refused := map[rr.Key]error{}
	for _, r := range result.Rejected {
		refused[r.Key] = answered(&backend.Error{Class: backend.ErrRejected, Words: r.Reason, Cause: r.Cause,
			Temporary: r.Temporary})
	}
	var found backend.Observed
	if !d.limits.Confirms {
		keys := make([]rr.Key, len(orders))
		for i, o := range orders {
			keys[i] = o.key
		}
		ask := backend.Ask{Keys: keys}
		if len(keys) > few {
			ask.Known = &backend.Known{SOA: before.SOA, Sets: before.Sets}
		}
		var err error
		if found, err = d.backend.Read(ctx, d.zone, ask); err != nil {
			return fmt.Errorf("reading back what was changed in zone %s: %w", d.zone, err)
		}
	}
	var conflict error
	for _, o := range orders {
		err := refused[o.key]
		if have, _ := found.Sets.Get(o.key); err == nil && !d.limits.Confirms && !have.Equal(o.want) {
			if d.limits.SOA == backend.SOAClient && found.SOA != result.SOA {
				conflict = fmt.Errorf("%s is not as it was made, and the zone has changed since: %w", o.key, backend.ErrConflict)
				continue
			}
			err = ignored(o.key)
		}
		o.end(err)
	}
	return conflict
}

func ignored(key rr.Key) error {
	return &dnshook.Error{Status: http.StatusBadRequest, Code: dnshook.CodeInvalidRecord,
		Message: fmt.Sprintf("The DNS server accepted the change of %s but returns something else: perhaps it does not "+
			"support the type, or an alias (CNAME) coexists with other records.", key)}
}
