package tracing_test

import (
	"testing"

	"github.com/zonefold/zonefold/internal/tracing"
)

func TestTracesAreOffUntilThereIsACollector(t *testing.T) {
	const somewhere = "http://127.0.0.1:4318"
	for _, c := range []struct {
		sentence string
		env      map[string]string
		on       bool
	}{
		{"nothing is said", nil, false},
		{"only how many are taken", map[string]string{"OTEL_TRACES_SAMPLER": "always_on"}, false},
		{"a collector", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": somewhere}, true},
		{"a collector of traces", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": somewhere + "/v1/traces"}, true},
		{"a collector, and no", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": somewhere, "OTEL_SDK_DISABLED": "true"},
			false},
		{"a collector, and no in other letters", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": somewhere,
			"OTEL_SDK_DISABLED": "True"}, false},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			traces, err := tracing.New(t.Context(), "test", "1", func(name string) string { return c.env[name] })
			if err != nil {
				t.Fatal(err)
			}
			if (traces != nil) != c.on {
				t.Errorf("traces go somewhere: %t", traces != nil)
			}
			if traces != nil {
				if err := traces.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
