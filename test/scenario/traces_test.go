package scenario

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestAChangeIsFollowedToItsServers(t *testing.T) {
	s := newStage(t)
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	c := &testoperator.Collector{}
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
	s.start()
	s.apply(www("b"))
	s.ready("zone a/org", "record a/www")
	s.apply(`record a/out: {domainName: www.example.net., type: A, rdata: 192.0.2.1}`)
	s.cond("record a/out", "Accepted", "False NoZone")

	record := []string{"k8s.object.kind=Record", "k8s.namespace.name=" + s.prefix + "a", "k8s.object.name=www"}
	var change *spans.Span
	s.eventually("the record's change", func() string {
		found := c.All(core.SpanChange, append(record, "zonefold.verdict=Accepted")...)
		if len(found) != 1 {
			return fmt.Sprintf("there are %d spans of it", len(found))
		}
		change = found[0]
		return ""
	})
	for _, name := range []string{core.SpanSettle, core.SpanApply} {
		for _, child := range c.Below(change, name) {
			if child.StartTimeUnixNano < change.StartTimeUnixNano || child.EndTimeUnixNano > change.EndTimeUnixNano {
				t.Errorf("%s is not within the change that it is a part of", name)
			}
		}
	}
	if len(c.Below(change, core.SpanSettle)) != 1 {
		t.Error("the change has no step of the World")
	}
	linked := slices.ContainsFunc(c.All(core.SpanApply), func(a *spans.Span) bool {
		return string(a.ParentSpanId) == string(change.SpanId) || slices.ContainsFunc(a.Links, func(l *spans.Span_Link) bool {
			return string(l.SpanId) == string(change.SpanId)
		})
	})
	if !linked {
		t.Errorf("no call of a server belongs to the change: %v", c.All(core.SpanApply))
	}
	s.eventually("the refused record's change", func() string {
		if len(c.All(core.SpanChange, "k8s.object.name=out", "zonefold.verdict=NoZone")) != 1 {
			return "it is not there"
		}
		return ""
	})
	s.eventually("who it is", func() string {
		about, err := c.Wrong()
		if err != nil || !slices.Contains(about, "service.name=zonefold-operator") {
			return fmt.Sprint(about, err)
		}
		return ""
	})
	// What the API server tells again, such as a status that was written, is no change.
	if n := len(c.All(core.SpanChange, record...)); n != 1 {
		t.Errorf("one change of the record makes %d spans", n)
	}
	for _, text := range []string{key.Secret} {
		for _, a := range c.All(core.SpanApply) {
			if strings.Contains(a.String(), text) {
				t.Error("a secret is in a trace")
			}
		}
	}
}
