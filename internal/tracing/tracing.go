// Package tracing says where OpenTelemetry's traces of a program go.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
)

// New returns where traces go: to the collector that OpenTelemetry's own variables name, which also say how many are
// taken (OTEL_TRACES_SAMPLER) and with which headers they are sent. Without one, nil: nothing is traced, and nothing is
// paid for it.
func New(ctx context.Context, service, version string, env func(string) string) (*trace.TracerProvider, error) {
	if env("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" ||
		strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("sending traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service), attribute.String(
		"service.version", version)),
		resource.WithFromEnv()) // which may say otherwise
	if err != nil {
		return nil, fmt.Errorf("describing the program in traces: %w", err)
	}
	return trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about)), nil
}

// Flush sends what is left when a program ends, although ctx has.
func Flush(ctx context.Context, traces *trace.TracerProvider, log *slog.Logger) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := traces.Shutdown(last); err != nil {
		log.Warn("The last traces were not sent.", "error", err)
	}
}

// patience is how long a program that ends waits for its collector.
const patience = 3 * time.Second
