package testoperator

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A Collector takes traces, in a test, as OTLP over HTTP brings them.
type Collector struct {
	mu    sync.Mutex
	spans []*spans.Span
	about []*common.KeyValue
	wrong error
}

// ServeHTTP takes an export request.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong = err; err != nil || r.URL.Path != "/v1/traces" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, resource := range request.ResourceSpans {
		c.about = resource.Resource.Attributes
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Wrong returns why the last request could not be read, or who sent it.
func (c *Collector) Wrong() (about []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.about {
		about = append(about, Attribute(a))
	}
	return about, c.wrong
}

// All returns the spans of a name that have all of some attributes, written as "key=value".
func (c *Collector) All(name string, attributes ...string) (found []*spans.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		has := func(want string) bool {
			return slices.ContainsFunc(s.Attributes, func(a *common.KeyValue) bool { return Attribute(a) == want })
		}
		if s.Name == name && !slices.ContainsFunc(attributes, func(want string) bool { return !has(want) }) {
			found = append(found, s)
		}
	}
	return found
}

// Attribute writes one as All takes it.
func Attribute(a *common.KeyValue) string {
	switch v := a.Value.Value.(type) {
	case *common.AnyValue_StringValue:
		return a.Key + "=" + v.StringValue
	case *common.AnyValue_BoolValue:
		return fmt.Sprintf("%s=%t", a.Key, v.BoolValue)
	case *common.AnyValue_IntValue:
		return fmt.Sprintf("%s=%d", a.Key, v.IntValue)
	}
	return a.Key
}

// Below returns the spans of a name that are directly below another.
func (c *Collector) Below(parent *spans.Span, name string) []*spans.Span {
	return slices.DeleteFunc(c.All(name), func(s *spans.Span) bool {
		return string(s.TraceId) != string(parent.TraceId) || string(s.ParentSpanId) != string(parent.SpanId)
	})
}
