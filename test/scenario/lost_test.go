package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// steady asks a server all the time, until the function that it returns is called, and complains of every answer that
// is not the wanted one. The answers are by question, such as "www.example.org. A".
func (s *scene) steady(want map[string]string) (calm func()) {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.ctx)
	t, server, wanted := s.t, s.bind, map[rr.Key]string{} // a step has another t, which ends before
	for question, data := range want {
		wanted[s.question(question)] = data
	}
	var asking sync.WaitGroup
	asking.Go(func() {
		for ; ctx.Err() == nil; pause(ctx, 20*time.Millisecond) {
			for key, data := range wanted {
				got, err := s.ask(server, key)
				if ctx.Err() == nil && (err != nil || !slices.Equal(got, []string{data})) {
					t.Errorf("%s %s: the server says %q, not %s: %v", key.Name, key.Type, got, data, err)
					return
				}
			}
		}
	})
	calm = func() { stop(); asking.Wait() }
	t.Cleanup(calm)
	return calm
}

// unread waits for an event about objects of a kind that the operator cannot read.
func (s *scene) unread(kind string) {
	s.t.Helper()
	s.eventually("an event about "+kind, func() string {
		out := s.kubectl("get", "events", "-n", testoperator.Namespace, "-o",
			`jsonpath={range .items[?(@.reason=="SourceUnreadable")]}{.involvedObject.name} {.message}{"\n"}{end}`)
		return unless(strings.Contains(out, "zonefold-operator The objects of the kind "+kind+" cannot be read"), out)
	})
}

// endsBlind has one more operator end, and say why, that starts without the definition of a kind.
func (s *scene) endsBlind(kind string, args ...string) {
	s.t.Helper()
	before := len(s.log.String())
	second, err := s.launch(testoperator.Options{Args: args})
	if err != nil {
		s.t.Fatal(err)
	}
	defer second.Kill()
	select {
	case <-second.Done():
	case <-time.After(patience):
		s.t.Fatal("an operator goes on without the definition")
	}
	if said := s.log.String()[before:]; !strings.Contains(said, "The objects of the kind "+kind+" cannot be read") {
		s.t.Errorf("an operator without the definition says %s", said)
	}
}

const oneGateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gate, namespace: ~a}
spec: {gatewayClassName: any, listeners: [{name: http, port: 80, protocol: HTTP, hostname: "*.example.org"}]}
`

// gatewayAt makes a Gateway that is reached at an address.
func (s *scene) gatewayAt(address string) {
	s.t.Helper()
	s.manifest(oneGateway)
	s.status("gateway/gate", "a", `{"addresses":[{"type":"IPAddress","value":"`+address+`"}]}`)
}

// TestSourcesThatCannotBeRead takes from an operator, while it runs and while it starts, what it reads sources from. A
// resolver hears nothing of it.
func TestSourcesThatCannotBeRead(t *testing.T) {
	s := newStage(t)
	s.lacks = "is forbidden" // an API server that starts forbids everything before it has read the roles
	s.gatewayAPI()
	s.sourceRights()
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	program := []string{"--source=service,gateway-httproute"}
	start := func() { s.start(program...) }
	start()
	s.apply(`zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: [{records: [{pattern: "*"}]}]}`)
	s.manifest(fmt.Sprintf(balancer, "a", "web", "web.example.org") + fmt.Sprintf(balancer, "a", "old", "old.example.org"))
	for _, name := range []string{"web", "old"} {
		s.status("service/"+name, "a", `{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}`)
	}
	s.gatewayAt("192.0.2.7")
	s.manifest(`
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: api, namespace: ~a}
spec: {parentRefs: [{name: gate}], hostnames: [api.example.org]}
`)
	s.status("httproute/api", "a", `{"parents":[{"parentRef":{"name":"gate"},"controllerName":"example.org/c","conditions":[`+
		`{"type":"Accepted","status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}]}`)
	stays := map[string]string{"web.example.org. A": "192.0.2.1", "old.example.org. A": "192.0.2.1",
		"api.example.org. A": "192.0.2.7"}
	for question, data := range stays {
		s.answers(question, data)
	}
	s.ready("zone a/org")
	s.steady(stays)

	s.step("the definition of Gateways is gone, and all Gateways with it, and comes back", func() {
		s.kubectl("delete", "crd/gateways.gateway.networking.k8s.io")
		s.unread("Gateway")
		s.endsBlind("Gateway", program...)
		s.gatewayAPI()
		s.gatewayAt("192.0.2.7")
	})
	s.step("the right to read Services is gone, and the API server starts again", func() {
		s.sourceRights("services")
		if err := s.cluster.RestartAPIServer(s.ctx); err != nil {
			s.t.Fatal(err)
		}
		s.unread("Service")
		s.kubectl("delete", "service/old", "-n", s.prefix+"a")
	})
	s.step("an operator that starts waits", func() {
		s.op.Kill()
		s.kubectl("delete", "events", "--all", "-n", testoperator.Namespace)
		start()
		s.unread("Service")
		if s.op.Ready() {
			s.t.Error("it is ready")
		}
	})
}
