package backend

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
)

// Inject has whoever gets a request go on with the trace that ctx is a part of (W3C Trace Context).
func Inject(ctx context.Context, h http.Header) {
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(h))
}
