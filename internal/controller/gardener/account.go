package gardener

import (
	"context"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// An accountQueue asks one account about its zones, one question at a time, so that an account that is slow keeps
// nobody else waiting.
type accountQueue struct {
	account backend.Account
	number  int                           // in the order in which accounts came into use
	known   map[string]backend.HostedZone // by the ID that was asked for
	waiting []zone.ID                     // of records whose runs have a question
	busy    bool
	holding int       // how many records have something through it
	last    time.Time // when it was used last

	refreshed time.Time // when it was told to forget what it has heard
}

// An answer is what an account says.
type answer struct {
	zone backend.HostedZone
	err  error
}

// Questions that are not for an ID: in which zone the name of a record is, and the same without relying on what was
// heard before.
const find, findAnew = "\x00", "\x00anew"

// unused is how long an account is remembered that nothing goes through.
const unused = 10 * time.Minute

// hostedZoneOf returns the hosted zone that a record belongs into; errWaiting: the account is being asked.
func (k *Controller) hostedZoneOf(r *record, run *run, account backend.Account) (backend.HostedZone, error) {
	s, unlock := k.state.Lock()
	defer unlock()
	if r.run != run {
		return backend.HostedZone{}, errWaiting // somebody wants something else by now
	}
	id := dialect.ZoneOf(run.object, run.relist)
	d := s.queueOf(account)
	if z, ok := d.known[id]; ok && id != "" && r.key.Name.Under(z.Name) {
		return z, nil
	}
	question := id
	switch {
	case run.relist:
		question = findAnew
	case id == "":
		question = find
	}
	if run.answer == nil || run.question != question {
		s.ask(d, r, question)
		return backend.HostedZone{}, errWaiting
	}
	said := run.answer
	run.question, run.answer = "", nil
	return s.judge(r, d, question, said)
}

// judge takes the zone out of what an account has said. One that was remembered, and that is gone, is found anew, and
// so is one that is not among those that are remembered: it may be new.
func (s *state) judge(r *record, d *accountQueue, question string, said *answer) (backend.HostedZone, error) {
	run, spec, err := r.run, &r.run.object.Spec, said.err
	finds := question == find || question == findAnew
	switch {
	case backend.Class(err) == backend.ErrNoZone && question == find:
		run.relist = true
		s.ask(d, r, findAnew)
		return said.zone, errWaiting
	case err != nil && finds:
		run.begun = s.k.Clock() // the next attempt wants to hear of what is new since
		return said.zone, fmt.Errorf("finding the hosted zone of %s: %w", spec.Name, err)
	case err != nil:
		err = fmt.Errorf("looking up the hosted zone %s: %w", question, err)
	case !r.key.Name.Under(said.zone.Name):
		err = dialect.Zoneless("%s is not in the hosted zone %s; correct spec.zone.", spec.Name, question)
	default:
		return said.zone, nil
	}
	if backend.Class(err) == backend.ErrNoZone && spec.Zone == nil && run.step == Put {
		run.relist = true
		s.ask(d, r, findAnew)
		return said.zone, errWaiting
	}
	return said.zone, err
}

// queueOf returns the queue of an account.
func (s *state) queueOf(account backend.Account) *accountQueue {
	d := s.accounts[account]
	if d == nil {
		for other, old := range s.accounts {
			if old.holding == 0 && !old.busy && s.k.Clock().Sub(old.last) > unused {
				delete(s.accounts, other)
			}
		}
		s.opened++
		d = &accountQueue{account: account, number: s.opened, known: map[string]backend.HostedZone{}}
		s.accounts[account] = d
	}
	d.last = s.k.Clock()
	return d
}

// ask puts a question into a queue.
func (s *state) ask(d *accountQueue, r *record, question string) {
	run := r.run
	if run.question == question && run.answer == nil {
		return // it was asked
	}
	run.question, run.answer = question, nil
	d.waiting = append(d.waiting, r.id)
	if !d.busy && s.k.ctx.Err() == nil {
		d.busy = true
		s.k.asking.Go(func() { s.k.serve(d) })
	}
}

// serve answers the questions of a queue until it is empty.
func (k *Controller) serve(d *accountQueue) {
	for {
		_, unlock := k.state.Lock()
		all := d.waiting
		d.waiting, d.last = nil, k.Clock()
		if d.busy = len(all) > 0 && k.ctx.Err() == nil; !d.busy {
			unlock()
			return
		}
		unlock()
		for _, id := range all {
			k.reply(d, id)
		}
	}
}

// reply answers the question of one record, if it still has one. The account itself remembers what it has heard.
func (k *Controller) reply(d *accountQueue, id zone.ID) {
	s, unlock := k.state.Lock()
	r := s.records[id]
	if r == nil || r.run == nil || r.run.question == "" || r.run.answer != nil {
		unlock()
		return
	}
	run, question, name, begun := r.run, r.run.question, r.key.Name, r.run.begun
	z, known := d.known[question]
	if question == findAnew && d.refreshed.Before(begun) { // once for all that are there by now
		d.refreshed = k.Clock()
		if a, ok := d.account.(backend.Refresher); ok {
			a.Refresh()
		}
	}
	unlock()
	said := &answer{zone: z}
	if !known {
		said = d.lookUp(k.ctx, question, name)
	}
	_, unlock = k.state.Lock()
	defer unlock()
	if said.err == nil && question != find && question != findAnew {
		d.known[question] = said.zone
	}
	if r.run == run && run.question == question {
		run.answer = said
		k.writer.Enqueue(id)
	}
}

// askingTime is how long an account may take: its limiter may have others go first.
const askingTime = time.Minute

// lookUp asks the account.
func (d *accountQueue) lookUp(ctx context.Context, question string, name dnsname.Name) *answer {
	ctx, cancel := context.WithTimeout(ctx, askingTime)
	defer cancel()
	var said answer
	if question == find || question == findAnew {
		said.zone, said.err = backend.FindZone(ctx, d.account, name)
	} else {
		said.zone, said.err = d.account.HostedZone(ctx, question)
	}
	return &said
}
