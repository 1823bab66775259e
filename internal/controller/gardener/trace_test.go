package gardener_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/zonefold/zonefold/internal/controller/core"
)

// traced has a world follow operations.
func (w *world) traced() *tracetest.SpanRecorder {
	spans := tracetest.NewSpanRecorder()
	w.stop()
	w.tracer = sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)).Tracer("test")
	w.start()
	return spans
}

// described are the spans of the operations on one object that have ended, with what is below each: "Create Unset:
// settle apply".
func described(ended []sdk.ReadOnlySpan, object string) (out []string) {
	for _, change := range ended {
		about := map[string]string{}
		for _, a := range change.Attributes() {
			about[string(a.Key)] = a.Value.String()
		}
		if change.Name() != core.SpanChange || about["k8s.object.name"] != object ||
			about["k8s.object.kind"] != "DNSRecord.extensions.gardener.cloud" {
			continue
		}
		line := fmt.Sprintf("%s %s:", about["zonefold.operation"], change.Status().Code)
		for _, name := range []string{core.SpanSettle, core.SpanApply} {
			if slices.ContainsFunc(ended, func(s sdk.ReadOnlySpan) bool {
				return s.Name() == name && s.Parent().SpanID() == change.SpanContext().SpanID() &&
					!s.EndTime().After(change.EndTime())
			}) {
				line += " " + name
			}
		}
		out = append(out, line)
	}
	return out
}

func TestOperationsAreFollowed(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	spans := w.traced()
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	w.ask("api", "reconcile")
	w.until("api", "Reconcile Succeeded")
	w.delete("api")
	w.until("api", "gone")
	w.record("lost", "powerdns nowhere A lost.example.org 192.0.2.1")
	w.until("lost", "Create Error [ERR_CONFIGURATION_PROBLEM]")
	for object, want := range map[string]string{
		"api":  "Create Unset: settle apply, Reconcile Unset: settle apply, Delete Unset: settle apply",
		"lost": fmt.Sprintf("Create %s:", codes.Error), // once, however often it is tried again
	} {
		w.eventually(object, func() string {
			if got := strings.Join(described(spans.Ended(), object), ", "); got != want {
				return fmt.Sprintf("its spans are %q, want %q", got, want)
			}
			return ""
		})
	}
}
