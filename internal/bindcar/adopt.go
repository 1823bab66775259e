package bindcar

import (
	"context"
	"errors"
	"time"

	"github.com/zonefold/zonefold/internal/bind9"
)

// adopt asks BIND, when it answers, about the zones in the zone directory that are not noted, and about those that are noted: zones
// may have come and gone while nobody looked.
func (s *Server) adopt(ctx context.Context) {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		if _, err := s.control.server(ctx, "status"); err == nil {
			break
		}
		if !wait(ctx, pause) {
			return
		}
	}
	ask := s.orphans
	for _, name := range s.store.zones() {
		if zone, err := parseZone(name); err == nil && s.see(ctx, zone) == unclear {
			ask = append(ask, zone)
		}
	}
	for _, zone := range ask {
		if ctx.Err() != nil {
			return
		}
		if err := s.reconsider(ctx, zone); err != nil {
			s.log.Warn("cannot find out about a zone", "zone", zone.text(), "err", err)
		}
	}
}

// reconsider notes a zone that BIND has and forgets one that it does not have.
func (s *Server) reconsider(ctx context.Context, zone zoneName) error {
	unlock, err := s.locks.lock(ctx, zone.text())
	if err != nil {
		return err
	}
	defer unlock()
	found, err := s.control.show(ctx, zone)
	switch {
	case errors.Is(err, bind9.ErrNotFound):
		return s.store.drop(zone)
	case err != nil:
		return err
	}
	return s.store.put(zone, string(found.Type))
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
