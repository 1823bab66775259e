package objects

import (
	"context"
	"net/http"
)

// fence is the key by which the context of a write has whether its operator leads.
type fence struct{}

// fenced returns the context of a write, at whose requests Fenced looks, or ErrNotLeading.
func (w *Writer) fenced(ctx context.Context) (context.Context, error) {
	if w.Leads == nil {
		return ctx, nil
	}
	if !w.Leads() {
		return nil, ErrNotLeading
	}
	return context.WithValue(ctx, fence{}, w.Leads), nil
}

// Fenced has a write of a Writer not sent, and not sent again, once another operator may lead. When the API server asks
// to come back later, client-go sends a request again, up to ten times, and would do so after the end of the Lease.
func Fenced(to http.RoundTripper) http.RoundTripper { return fences{to} }

type fences struct{ to http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (f fences) RoundTrip(r *http.Request) (*http.Response, error) {
	if leads, ok := r.Context().Value(fence{}).(func() bool); ok && !leads() {
		if r.Body != nil {
			_ = r.Body.Close() // nothing was read from it
		}
		return nil, ErrNotLeading
	}
	return f.to.RoundTrip(r)
}

// WrappedRoundTripper lets client-go find the transport below.
func (f fences) WrappedRoundTripper() http.RoundTripper { return f.to }
