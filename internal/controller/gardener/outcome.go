package gardener

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
	"github.com/zonefold/zonefold/internal/rr"
)

// hear takes over what the engine says about a hosted zone.
func (k *Controller) hear(report engine.Report) {
	s, unlock := k.state.Lock()
	defer unlock()
	p := s.hostedZones[report.Feed]
	if p == nil || p.number != report.Version {
		return
	}
	p.generation++
	p.report = report
	p.confirm()
	for r := range p.waiting {
		if report.Err != nil || report.Seq >= r.run.seq {
			k.writer.Enqueue(r.id)
		}
	}
}

// confirm notes which sets the last report says that the hosted zone has, or may have.
func (p *hostedZone) confirm() {
	report := &p.report
	for r, seq := range p.pending {
		_, refused := report.Refused[r.holding.key]
		confirmed := report.Seq >= seq && !refused
		r.made = r.made || confirmed || report.Taken || unanswered(report.Err)
		if confirmed {
			r.account = p.account
			delete(p.pending, r)
		}
	}
}

// unanswered reports whether an error leaves open what a service has done. Where nobody was reached, nothing was.
func unanswered(err error) bool {
	if err == nil || backend.Class(err) != backend.ErrUnavailable {
		return false
	}
	op, ok := errors.AsType[*net.OpError](err)
	return !ok || op.Op != "dial"
}

// outcome says what has come of what was sent. nil: the service has done it; errWaiting: nobody knows yet.
func (k *Controller) outcome(r *record, run *run) error {
	s, unlock := k.state.Lock()
	defer unlock()
	if r.run != run || run.at == nil {
		return errWaiting // somebody wants something else by now
	}
	p := run.at
	passed := k.Clock().Sub(run.sent)
	if p.generation > 0 && p.report.Seq >= run.seq {
		if why, refused := p.report.Refused[r.key]; refused {
			return run.rejected(r.key, why)
		}
		s.unwait(r)
		return nil
	}
	err := p.report.Err
	switch {
	case err != nil && run.step == Remove && backend.Class(err) == backend.ErrNoZone:
		s.unwait(r)
		return nil
	case err != nil && (p.generation > run.generation || passed >= patience):
		return s.lost(r, run, err)
	case err != nil:
		return &controller.Later{After: patience - passed}
	case run.force:
		return s.patient(r)
	}
	return errWaiting
}

// rejected is what a service has refused. It may not say itself what most often makes it refuse.
func (r *run) rejected(key rr.Key, why engine.Refusal) error {
	words := why.Reason
	if r.step == Put && !why.Temporary && (why.Cause == "" || why.Cause == backend.CauseInvalid) {
		hint := "A CNAME may be at %s, where nothing else can be beside it; remove it, or delete this DNSRecord."
		if key.Type == rr.TypeCNAME {
			hint = "Other records may be at %s, where a CNAME has to be alone; remove them, or delete this DNSRecord."
		}
		words = strings.TrimSuffix(words, ".") + ". " + fmt.Sprintf(hint, key.Name)
	}
	return &dialect.Problem{Detail: backend.Error{Class: backend.ErrRejected, Words: words, Cause: why.Cause,
		Temporary: why.Temporary}}
}

// lost has the zone be found anew if it was only remembered, and is gone.
func (s *state) lost(r *record, run *run, err error) error {
	spec := &run.object.Spec
	if backend.Class(err) != backend.ErrNoZone {
		return err
	}
	d := s.queueOf(run.at.account)
	for id, z := range d.known {
		if z.Target == run.at.key {
			delete(d.known, id)
		}
	}
	if spec.Zone != nil {
		return err
	}
	sought := run.relist
	s.unwait(r)
	run.at, run.relist = nil, true
	s.drop(r)
	if sought { // what the account had heard was older: the next attempt has it ask
		run.begun = s.k.Clock()
		return err
	}
	s.ask(d, r, findAnew)
	return errWaiting
}
