package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"

	"github.com/zonefold/zonefold/internal/tracing"
	"github.com/zonefold/zonefold/internal/version"
)

// traced has each request be a part of the trace that the operator began, if traces are to go anywhere. The function
// sends what is left.
func traced(ctx context.Context, h http.Handler, log *slog.Logger) (http.Handler, func(), error) {
	traces, err := tracing.New(ctx, "zonefold-dnshook", version.Release(), os.Getenv)
	if err != nil || traces == nil {
		return h, func() {}, err
	}
	name := func(_ string, r *http.Request) string {
		path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
		return r.Method + " /" + path[0] // the rest of it names a record
	}
	return otelhttp.NewHandler(h, "", otelhttp.WithTracerProvider(traces),
			otelhttp.WithPropagators(propagation.TraceContext{}), otelhttp.WithSpanNameFormatter(name)),
		func() { tracing.Flush(ctx, traces, log) }, nil
}
