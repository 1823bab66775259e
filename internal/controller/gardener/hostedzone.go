package gardener

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"go.opentelemetry.io/otel/trace"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
	"github.com/zonefold/zonefold/internal/rr"
)

// A hostedZone is one zone of a service as one account reaches it. What others ask for there with other credentials is
// sent with those alone, and is a hostedZone of its own.
type hostedZone struct {
	key        backend.TargetKey
	account    backend.Account
	feed       *engine.Feed
	id         string // of the feed, and of its attachment
	number     uint64 // which reports say: those of one that was closed may come later than the next one of this id
	content    rr.Sets
	version    uint64               // of the content
	holders    map[rr.Key][]*record // who has a set there; the last one's is wanted: it was asked for last
	waiting    map[*record]struct{}
	pending    map[*record]uint64 // whose sets it has not confirmed: the sequence numbers of what was sent
	generation int                // of reports; 0: none has come
	report     engine.Report      // the last one
}

// deliver finds the hosted zone of a record and hands the set to the engine. A run whose zone is nil afterwards has
// nothing to do there.
func (k *Controller) deliver(ctx context.Context, r *record, run *run) error {
	if run.step == Remove && r.key == (rr.Key{}) {
		return nil // what has no name was never anywhere
	}
	set, err := dialect.Convert(&run.object.Spec)
	set.Hint = dialect.StackOf(run.object)
	switch {
	case run.step == Put && err != nil:
		return err
	case run.step == Remove && (err != nil || set.Key() != r.key):
		set = rr.Set{} // it is removed by its name
	}
	account, z, err := k.reach(ctx, r, run)
	switch {
	case err != nil && run.step == Remove && backend.Class(err) == backend.ErrNoZone:
		return run.unread // there may be a zone that only the settings tell of
	case err != nil:
		return err
	case run.step == Remove:
		if err := k.await(r); err != nil {
			return err
		}
	}
	s, unlock := k.state.Lock()
	defer unlock()
	if r.run != run {
		return errWaiting // somebody wants something else by now
	}
	s.send(r, run, account, z, set)
	return nil
}

// reach finds the account and the hosted zone of a record.
func (k *Controller) reach(ctx context.Context, r *record, run *run) (backend.Account, backend.HostedZone, error) {
	s, unlock := k.state.Lock()
	run.secret = s.secrets[r.secret]
	before := r.account
	unlock()
	account, err := k.opener.open(ctx, run, before)
	if err != nil {
		return nil, backend.HostedZone{}, err
	}
	z, err := k.hostedZoneOf(r, run, account)
	return account, z, err
}

// send has the engine put a set into its hosted zone, or remove it. What is removed is believed to be the set given.
func (s *state) send(r *record, run *run, account backend.Account, z backend.HostedZone, set rr.Set) {
	p := s.at(r, account, z)
	if h := r.holding; h != nil && (h.at != p || h.key != r.key) {
		if h.at != p && h.at.key == p.key && h.key == r.key && !r.isPending() {
			p.succeed(h) // no Zone gets at it in between
		}
		s.drop(r) // the set stays where it was: Gardener says when something is to be removed
	}
	if run.step == Remove {
		p.leave(r, r.key)
		s.hold(r, nil)
	} else {
		s.hold(r, &holding{at: p, key: r.key, set: set})
		p.enter(r)
	}
	p.waiting[r] = struct{}{}
	run.at, run.zone, run.sent, run.generation = p, z, s.k.Clock(), p.generation
	run.seq = p.publish([]rr.Key{r.key}, set)
	if r.holding != nil {
		p.pending[r] = run.seq
	}
	s.handed(run)
	s.k.Engine.Poke(p.key, p.feed)
}

// at returns what is known of a hosted zone that an account reaches for a record.
func (s *state) at(r *record, account backend.Account, z backend.HostedZone) *hostedZone {
	id := fmt.Sprintf("gardener %d %s %s %s", s.queueOf(account).number, z.Target.Server, z.Target.Zone, z.Target.View)
	p := s.hostedZones[id]
	if p == nil {
		s.numbered++
		p = &hostedZone{
			key: z.Target, account: account, id: id, number: s.numbered, holders: map[rr.Key][]*record{},
			waiting: map[*record]struct{}{}, pending: map[*record]uint64{},
		}
		p.feed = s.k.Engine.NewOverlay(engine.FeedConfig{ID: id, Zone: z.Target.Zone, Created: s.k.Clock()}, delivery.Overlay{
			Hear: s.k.hear, Clock: s.k.Clock,
			Causes: func(seq uint64) []trace.Span {
				_, unlock := s.k.state.Lock()
				defer unlock()
				return p.causes(seq)
			},
		})
		s.k.Engine.Attach(p.key, engine.Attachment{
			Name: id, Version: p.number, Feed: p.feed, Backend: account.Backend(z), Kind: r.object.Spec.Type,
			Since: s.k.Clock(), Keep: true, Audit: -1,
		})
		s.hostedZones[id] = p
	}
	return p
}

// hold records what a record has at a hosted zone.
func (s *state) hold(r *record, h *holding) {
	if old := r.holding; old != nil {
		s.queueOf(old.at.account).holding--
		delete(old.at.pending, r)
	}
	if h != nil {
		s.queueOf(h.at.account).holding++
		if r.account == nil {
			r.account = h.at.account
		}
	}
	r.holding = h
}

// enter has the set of a record be the one that is wanted.
func (p *hostedZone) enter(r *record) {
	key := r.holding.key
	p.holders[key] = append(without(p.holders[key], r), r)
	p.wants(key)
}

// leave has the set of whoever asked for it before be wanted again, or none.
func (p *hostedZone) leave(r *record, key rr.Key) {
	if p.holders[key] = without(p.holders[key], r); len(p.holders[key]) == 0 {
		delete(p.holders, key)
	}
	p.wants(key)
}

// wants brings the content up to date.
func (p *hostedZone) wants(key rr.Key) {
	txn := p.content.Txn()
	if all := p.holders[key]; len(all) > 0 {
		txn.Put(all[len(all)-1].holding.set)
	} else {
		txn.Delete(key)
	}
	p.content = txn.Sets()
	p.version++
}

// succeed takes over a set that is there with the credentials of before.
func (p *hostedZone) succeed(h *holding) {
	txn := p.content.Txn()
	txn.Put(h.set)
	p.content = txn.Sets()
	p.version++
	p.publish([]rr.Key{}, rr.Set{})
}

// publish has the engine see to it that the sets of some keys are as they should be, whatever is there. If one is not
// wanted any more, it is believed to be the one given, unless that is zero.
func (p *hostedZone) publish(keys []rr.Key, believed rr.Set) uint64 {
	content := engine.Content{Sets: p.content, Hash: strconv.FormatUint(p.version, 10)}
	if len(believed.Data) > 0 {
		left := rr.Sets{}.Txn()
		left.Put(believed)
		content.Left = left.Sets()
	}
	return p.feed.Publish(content, keys)
}

// drop forgets what a record has at a hosted zone, and leaves it there.
func (s *state) drop(r *record) {
	if h := r.holding; h != nil {
		h.at.leave(r, h.key)
		h.at.publish([]rr.Key{}, rr.Set{})
		s.hold(r, nil)
		s.tidy(h.at)
	}
}

// unwait has a record not wait for a hosted zone any more.
func (s *state) unwait(r *record) {
	if r.run != nil && r.run.at != nil {
		delete(r.run.at.waiting, r)
		s.tidy(r.run.at)
	}
}

// tidy drops a hosted zone that nobody needs.
func (s *state) tidy(p *hostedZone) {
	if len(p.holders) == 0 && len(p.waiting) == 0 && s.hostedZones[p.id] == p {
		s.close(p)
	}
}

// close has the engine forget a hosted zone, and leaves there what is there.
func (s *state) close(p *hostedZone) {
	s.k.Engine.Detach(p.key, p.id)
	s.k.Engine.DropOverlay(p.id)
	delete(s.hostedZones, p.id)
}

// without returns a list without one of its elements.
func without[T comparable](list []T, one T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(t T) bool { return t == one })
}
