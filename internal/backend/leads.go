package backend

import "context"

type leadsKey struct{}

// WithLeads has an Apply ask, right before each message that may change a server, whether nobody else can be doing the
// same by now: it may have waited, for its turn or for the answer to a question, for longer than a leader leads.
func WithLeads(ctx context.Context, leads func() bool) context.Context {
	return context.WithValue(ctx, leadsKey{}, leads)
}

// MaySend returns why nothing may be sent any more, nil if it may: WithLeads says so, or was not called.
func MaySend(ctx context.Context) error {
	if leads, ok := ctx.Value(leadsKey{}).(func() bool); ok && !leads() {
		return &Error{Class: ErrUnavailable, Words: "another operator may have become the leader"}
	}
	return nil
}
