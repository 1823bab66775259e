package webhook

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestAChangeIsFollowedToTheServer(t *testing.T) {
	s := newSite(t)
	c := &testoperator.Collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	s.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	s.Setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
	s.class("hook", s.hook("--unsigned").URL, 10, nil)
	s.operate()
	o := s.record("traced", "hook", "A traced 192.0.2.1")
	s.must(s.live.Create(s.ctx, o))
	s.follow(c, "one that comes", "POST /records", "zonefold.deleted=false", "zonefold.verdict=Accepted")
	s.settled()
	s.must(s.live.Delete(s.ctx, o))
	s.follow(c, "one that goes", "DELETE /records", "zonefold.deleted=true")
}

// follow waits for a change, the call that it leads to, and what the server makes of that.
func (s *site) follow(c *testoperator.Collector, sentence, request string, attributes ...string) {
	s.Helper()
	attributes = append(attributes, "k8s.object.kind=DNSRecord", "k8s.namespace.name="+s.ns, "k8s.object.name=traced")
	s.eventually(sentence, func() error {
		changes := c.All(core.SpanChange, attributes...)
		if len(changes) != 1 {
			return fmt.Errorf("there are %d spans of the change", len(changes))
		}
		if n := len(c.Below(changes[0], core.SpanSettle)); n != 1 {
			return fmt.Errorf("there are %d steps of the World below it", n)
		}
		calls := c.Below(changes[0], core.SpanApply)
		if len(calls) != 1 {
			return fmt.Errorf("there are %d calls below it", len(calls))
		}
		if n := len(c.Below(calls[0], request)); n != 1 {
			return fmt.Errorf("there are %d requests %s below its call", n, request)
		}
		return nil
	})
}
