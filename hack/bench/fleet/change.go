package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
)

// between is the pause before each change: the statuses of the one before are written by then.
const between = 200 * time.Millisecond

// changeTimes say how long changes took, from the beginning of a write to the API server.
type changeTimes struct {
	first, primaries, all figures.Times // until the first server has it, until all primaries do, until every server does
}

// A change is a record and its new address.
type change struct {
	which    int
	name, to string
}

// change is the i-th of all changes; they are spread over the zones.
func (l load) change(i int) change {
	which := i * 7919 % (l.zones * l.records)
	return change{which, l.fqdn(which), figures.NewAddress(i)}
}

func (b *bench) patch(ctx context.Context, l load, c change) error {
	body := fmt.Appendf(nil, `{"spec":{"ipv4":%q}}`, c.to)
	return b.Kube.Patch(ctx, l.record(c.which), client.RawPatch("application/merge-patch+json", body))
}

// watchers ask every server at the same time.
type watchers []*asker

func (b *bench) watchers() (w watchers, err error) {
	for _, s := range b.servers {
		a, err := s.asker()
		if err != nil {
			return w, err
		}
		w = append(w, a)
	}
	return w, nil
}

func (w watchers) close() {
	for _, a := range w {
		a.Close()
	}
}

// await notes how long it takes until servers have a change.
func (w watchers) await(ctx context.Context, c change, began time.Time, into *changeTimes) error {
	at, errs := make([]time.Duration, len(w)), make([]error, len(w))
	var all sync.WaitGroup
	for i, a := range w {
		all.Go(func() {
			errs[i] = a.Await(ctx, c.name, c.to)
			at[i] = time.Since(began)
		})
	}
	all.Wait()
	first, primaries, last := at[0], time.Duration(0), time.Duration(0)
	for i, a := range w {
		first, last = min(first, at[i]), max(last, at[i])
		if a.at.primary {
			primaries = max(primaries, at[i])
		}
	}
	into.first, into.primaries, into.all = append(into.first, first), append(into.primaries, primaries),
		append(into.all, last)
	return errors.Join(errs...)
}

// singleChanges measures until all servers answer with what was written.
func (b *bench) singleChanges(ctx context.Context, l load) (out changeTimes, err error) {
	w, err := b.watchers()
	defer w.close()
	for i := 0; i < b.o.changes && err == nil; i++ {
		if err = figures.Pause(ctx, between); err != nil {
			break
		}
		c, began := l.change(i), time.Now()
		if err = b.patch(ctx, l, c); err == nil {
			err = w.await(ctx, c, began, &out)
		}
	}
	return out, errors.Join(err, b.quiet(ctx))
}

// floor measures the least that any controller has to do: the write, the event of it, one signed UPDATE for each
// primary over kept connections, which then tells the secondaries, and the query. The operator is stopped.
func (b *bench) floor(ctx context.Context, l load) (out changeTimes, err error) {
	w, err := b.watchers()
	defer w.close()
	if err != nil {
		return out, err
	}
	u, err := b.updaters()
	defer u.close()
	if err != nil {
		return out, err
	}
	events, err := b.Watch(ctx, &v1beta1.ARecordList{}, namespace)
	if err != nil {
		return out, err
	}
	defer events.Stop()
	for i := range b.o.changes {
		if err := figures.Pause(ctx, between); err != nil {
			return out, err
		}
		c := l.change(i)
		c.to = figures.NewAddress(b.o.changes + i)
		write := func(ctx context.Context) error { return b.patch(ctx, l, c) }
		began := time.Now()
		done, err := rig.Notice(ctx, events, write, func(o *v1beta1.ARecord) bool { return o.Spec.IPv4 == c.to })
		if err != nil {
			return out, err
		}
		if err := u.change(l.zoneName(c.which/l.records)+".", c); err != nil {
			return out, err
		}
		if err := errors.Join(w.await(ctx, c, began, &out), <-done); err != nil {
			return out, err
		}
	}
	return out, nil
}

// updaters change every primary at the same time.
type updaters []*rig.Updater

func (b *bench) updaters() (all updaters, err error) {
	for _, s := range b.servers {
		if !s.primary {
			continue
		}
		k := b.keys.update[s.instance]
		u, err := rig.NewUpdater(s.dns(), rig.Key{Name: k.Name + ".", Algorithm: string(k.Algorithm), Secret: k.Secret})
		if err != nil {
			return all, err
		}
		all = append(all, u)
	}
	return all, nil
}

func (all updaters) close() {
	for _, u := range all {
		u.Close()
	}
}

func (all updaters) change(zone string, c change) error {
	errs := make([]error, len(all))
	var asking sync.WaitGroup
	for i, u := range all {
		asking.Go(func() { errs[i] = u.Change(zone, c.name, c.to) })
	}
	asking.Wait()
	return errors.Join(errs...)
}
