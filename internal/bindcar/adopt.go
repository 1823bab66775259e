package bindcar

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/bind9"
)

// How soon BIND is asked again when it does not answer; twice that each time, up to a bound.
const (
	firstAsk = 100 * time.Millisecond
	lastAsk  = 5 * time.Second
)

// adopt asks BIND, when it answers, about the zones of the zone directory: some may have come and gone while nobody
// looked. Those that it did not answer about are asked about again: nobody else finds them.
func (b *bind) adopt(ctx context.Context) {
	answers := func() bool {
		_, err := b.control.server(ctx, "status")
		return err == nil
	}
	if !repeat(ctx, answers) {
		return
	}
	var ask []zoneName
	for _, name := range b.store.zones() {
		if zone, err := parseZone(name); err == nil && (!b.store.has(zone) || b.see(ctx, zone) == unclear) {
			ask = append(ask, zone)
		}
	}
	told := b.log.Warn // once of each zone
	repeat(ctx, func() bool {
		ask = slices.DeleteFunc(ask, func(zone zoneName) bool {
			if ctx.Err() != nil {
				return false
			}
			err := b.reconsider(ctx, zone)
			if err != nil {
				told("cannot find out about a zone", "zone", zone.text(), "err", err)
			}
			return err == nil || errors.Is(err, errOther) // which stays so
		})
		told = b.log.Debug
		return len(ask) == 0
	})
}

// repeat calls ask, with pauses, until it is done, and reports whether it is before ctx ends.
func repeat(ctx context.Context, ask func() (done bool)) bool {
	for pause := firstAsk; !ask(); pause = min(2*pause, lastAsk) {
		if !wait(ctx, pause) {
			return false
		}
	}
	return true
}

// reconsider notes a zone that BIND has, and forgets one that it does not have or that is of no type that we know.
func (b *bind) reconsider(ctx context.Context, zone zoneName) error {
	unlock, err := b.locks.lock(ctx, zone.text())
	if err != nil {
		return err
	}
	defer unlock()
	found, err := b.control.show(ctx, zone)
	switch {
	case errors.Is(err, bind9.ErrNotFound), errors.Is(err, errOther) && !b.store.has(zone):
		return b.store.drop(zone)
	case err != nil:
		return err
	}
	return b.store.put(zone, string(found.Type))
}

// wait waits, and reports whether it was not interrupted.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
