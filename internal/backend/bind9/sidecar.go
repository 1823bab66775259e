package bind9

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// call calls the sidecar, once the pod has shown that it is one of those that know the key: what else may answer at the
// address does not get the token.
func (p *pod) call(ctx context.Context, f func(*bindcar.Client) error) error {
	err := p.dns.Prove(ctx)
	if err == nil {
		err = backend.MaySend(ctx)
	}
	if err == nil {
		err = classified(f(p.sidecar))
	}
	return p.stillThere(ctx, err)
}

// stillThere makes of wrong credentials an address that somebody else has, where it is so.
func (p *pod) stillThere(ctx context.Context, err error) error {
	if !errors.Is(err, backend.ErrNotAuthorised) {
		return err
	}
	if gone := p.access.Holds(ctx, p.endpoint); gone != nil {
		return &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf("%s is no longer at %s: %w", p.title(),
			p.endpoint.DNS, gone)}
	}
	return err
}

// classified gives an error of the sidecar's client a class.
func classified(err error) error {
	answer, ok := errors.AsType[*bindcar.Error](err)
	if !ok {
		return err // none, or the context's
	}
	e := &backend.Error{Class: backend.ErrUnavailable, Err: err}
	switch {
	case errors.Is(err, bindcar.ErrNotFound):
		e.Class = backend.ErrNoZone
	case errors.Is(err, bindcar.ErrConflict):
		e.Class = backend.ErrConflict
	case errors.Is(err, bindcar.ErrUnauthorized):
		e.Class = backend.ErrNotAuthorised
	case errors.Is(err, bindcar.ErrThrottled):
		e.Class, e.After = backend.ErrThrottled, answer.RetryAfter
	case errors.Is(err, bindcar.ErrInvalid):
		e.Class = backend.ErrRejected
	}
	return e
}

// command has BIND do something about a zone, by the word that rndc has for it.
func (p *pod) command(ctx context.Context, zone dnsname.Name, word string) error {
	if err := p.call(ctx, func(s *bindcar.Client) error { return s.Command(ctx, word, text(zone)) }); err != nil {
		return fmt.Errorf("having %s %s zone %s: %w", p.title(), word, zone, err)
	}
	return nil
}

func (p *pod) settings(ctx context.Context, zone dnsname.Name) (s bindcar.ZoneSettings, err error) {
	err = p.call(ctx, func(sidecar *bindcar.Client) (err error) {
		s, err = sidecar.Settings(ctx, text(zone))
		return err
	})
	return s, err
}

// text is a zone's name as the sidecar has it.
func text(zone dnsname.Name) string { return strings.TrimSuffix(zone.String(), ".") }
