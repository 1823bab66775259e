package follow

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
)

// listingPatience is how long a listing may take: some heartbeats, after which a leader that says nothing counts as
// gone.
const listingPatience = 10 * time.Second

// A session follows one leader until it fails.
type session struct {
	*Follower
	client *rfc2136.Client
	queue  *queue

	soa     rr.SOA // of the listing; zero: none yet
	listing rr.Sets

	state guarded.Value[followed]
}

// followed is how far a session has come.
type followed struct {
	entries map[embedded.Member]embedded.Entry
	missing map[embedded.Member]struct{} // until these are as listed first, the server does not have everything
}

func newSession(f *Follower, client *rfc2136.Client) *session {
	s := &session{Follower: f, client: client, queue: newQueue()}
	now, unlock := s.state.Lock()
	defer unlock()
	now.entries = map[embedded.Member]embedded.Entry{}
	return s
}

// run keeps the server as the leader lists it, and reports whether there was a listing.
func (s *session) run(ctx context.Context) (listed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer func() {
		cancel()
		s.queue.close()
		workers.Wait()
	}()
	for range s.opts.Concurrency {
		workers.Go(func() { s.work(ctx) })
	}
	for {
		if err := s.follow(ctx); err != nil {
			return listed, err
		}
		if !listed {
			listed, s.last = true, ""
			s.opts.Log.Info("The server follows the leader.", slog.String("leader", s.client.Server()),
				slog.Int("zones", s.zones()))
		}
	}
}

// follow waits for the next listing and hands out what has changed with it.
func (s *session) follow(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, listingPatience)
	defer cancel()
	var known *rr.SOA
	if s.soa != (rr.SOA{}) {
		known = &s.soa
	}
	got, err := s.client.Pull(ctx, embedded.Listing(), known)
	if err == nil && got.Sets.Len() == 0 && got.SOA.MName != s.soa.MName && known != nil {
		// Another server is in the leader's place: its serials and ours mean different things.
		got, err = s.client.Pull(ctx, embedded.Listing(), nil)
	}
	switch {
	case err != nil:
		return err
	case got.Same:
		return nil
	case got.Steps != nil:
		return s.step(got)
	}
	return s.replace(got)
}

// step takes what has changed in the listing.
func (s *session) step(got rfc2136.Pulled) error {
	next, touched := s.listing, map[dnsname.Name]struct{}{}
	for _, step := range got.Steps {
		var fits bool
		if next, fits = step.Over(next); !fits {
			return fmt.Errorf("the listing of the leader does not follow from that of serial %d", s.soa.Serial)
		}
		for _, set := range slices.Concat(step.Gone, step.Come) {
			touched[set.Name] = struct{}{}
		}
	}
	var gone, come []embedded.Entry
	for name := range touched {
		before, was, err := embedded.ReadEntry(s.listing, name)
		if err != nil {
			return err
		}
		after, is, err := embedded.ReadEntry(next, name)
		if err != nil {
			return err
		}
		if was && (!is || before.Member != after.Member) {
			gone = append(gone, before)
		}
		if is {
			come = append(come, after)
		}
	}
	s.soa, s.listing = got.SOA, next
	s.change(gone, come)
	return nil
}

// change takes entries out and puts others in.
func (s *session) change(gone, come []embedded.Entry) {
	now, unlock := s.state.Lock()
	defer unlock()
	for _, e := range gone {
		if now.entries[e.Member].ID == e.ID {
			delete(now.entries, e.Member)
			s.queue.add(e.Member)
		}
	}
	for _, e := range come {
		now.entries[e.Member] = e
		s.queue.add(e.Member)
	}
}

// replace takes a whole listing.
func (s *session) replace(got rfc2136.Pulled) error {
	entries := map[embedded.Member]embedded.Entry{}
	for set := range got.Sets.All() {
		e, found, err := embedded.ReadEntry(got.Sets, set.Name)
		other, twice := entries[e.Member]
		switch {
		case err != nil:
			return err
		case twice && other.ID != e.ID:
			return fmt.Errorf("the listing of the leader has zone %s of %s as %s and as %s", e.Zone, e.Group, other.ID, e.ID)
		case found:
			entries[e.Member] = e
		}
	}
	s.soa, s.listing = got.SOA, got.Sets
	now, unlock := s.state.Lock()
	former := now.entries
	now.entries = entries
	first := now.missing == nil
	if first {
		now.missing = map[embedded.Member]struct{}{}
	}
	await := func(m embedded.Member) {
		if first {
			now.missing[m] = struct{}{}
		}
		s.queue.add(m)
	}
	for m, c := range s.opts.Server.Copies() {
		switch e, there := entries[m]; {
		case !there:
			await(m)
		case first && e.ID == c.ID && rr.SerialLess(e.Serial, c.SOA.Serial):
			s.opts.Log.Error("The leader has an older version of a zone, which the server does not accept.",
				slog.String("zone", m.Zone.String()),
				slog.Uint64("serial", uint64(e.Serial)), slog.Uint64("ours", uint64(c.SOA.Serial)))
		}
	}
	for m := range entries {
		await(m)
	}
	for m := range former { // one that is not listed any more may be taken at this moment, and not be a copy yet
		if _, there := entries[m]; !there {
			await(m)
		}
	}
	unlock()
	s.complete()
	return nil
}

// zones is how many zones are listed.
func (s *session) zones() int {
	now, unlock := s.state.Lock()
	defer unlock()
	return len(now.entries)
}

// complete tells the server when it has everything.
func (s *session) complete() {
	now, unlock := s.state.Lock()
	done := now.missing != nil && len(now.missing) == 0
	unlock()
	if done {
		s.opts.Server.Ready()
	}
}

// work brings members up to date, one after the other.
func (s *session) work(ctx context.Context) {
	for {
		m, ok := s.queue.next()
		if !ok {
			return
		}
		err := s.update(ctx, m)
		switch failures := s.queue.done(m, err != nil); {
		case err == nil:
			now, unlock := s.state.Lock()
			delete(now.missing, m)
			unlock()
			s.complete()
		case ctx.Err() == nil:
			s.opts.Log.Warn("A zone could not be copied from the leader. The server tries again.",
				slog.String("zone", m.Zone.String()), slog.String("backend", m.Group), slog.String("error", err.Error()))
			// What comes too late finds the queue closed.
			s.opts.Clock.AfterFunc(s.pause(failures-1, longestZonePause), func() { s.queue.add(m) })
		}
	}
}
