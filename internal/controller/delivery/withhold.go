package delivery

import (
	"context"
	"errors"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// Stopped reports whether what a Place was reached with is not there any more: its credentials, in whose place may be
// others that are refused, or a spec that can be read. What is only not known yet, or cannot be listed now, stops
// nothing. Nor does a key of those who copy zones from this process.
func (p *Place) Stopped() bool {
	if p.Problem == nil || len(p.Servers) > 0 || p.Kind == KindEmbedded {
		return false
	}
	switch p.Problem.Reason {
	case controller.ReasonSecretNotFound, controller.ReasonSecretForbidden, controller.ReasonInvalidSpec,
		controller.ReasonNotAuthorised:
		return true
	}
	return false
}

// updateClient gives an attachment the client that its server has now. Without credentials the attachment stays and
// sends nothing: who takes them away means that. What is served there stays served.
func (st *state) updateClient(l *zoneFeed, key attachmentKey, a *attached, p *Place) {
	if p.Stopped() {
		if !controller.SameOutcome(a.without, p.Problem) {
			a.client, a.without = &withheld{a.client.Limits(), p.Problem.Message}, p.Problem
			st.attachAs(l, key, a)
		}
		return
	}
	for _, s := range p.at(l.name) {
		if s.Name == key.target.Server && s.View == key.target.View && (s.Backend != a.client || l.otherwiseHeld(a, p)) {
			a.client, a.without = s.Backend, nil
			a.protection, a.approved = p.Protection, l.approved
			st.attachAs(l, key, a)
		}
	}
}

// withheld is a client whose credentials are gone: it sends nothing.
type withheld struct {
	limits backend.Limits
	reason string
}

// Limits implements backend.Backend.
func (w *withheld) Limits() backend.Limits { return w.limits }

// Zones implements backend.Backend.
func (w *withheld) Zones(context.Context) ([]dnsname.Name, error) { return nil, w.refuse() }

// Read implements backend.Backend.
func (w *withheld) Read(context.Context, dnsname.Name, backend.Ask) (backend.Observed, error) {
	return backend.Observed{}, w.refuse()
}

// Apply implements backend.Backend.
func (w *withheld) Apply(context.Context, dnsname.Name, backend.Batch) (backend.Result, error) {
	return backend.Result{}, w.refuse()
}

func (w *withheld) refuse() error {
	return &backend.Error{Class: backend.ErrNotAuthorised, Err: errors.New(w.reason)}
}
