package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
		return unless(strings.Contains(out, "zonefold-operator Objects of kind "+kind+", which") &&
			strings.Contains(out, "cannot be read"),
			"there are: "+out)
	})
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

// route makes an HTTPRoute for a name, which nobody has accepted.
func (s *scene) route(name string) {
	s.t.Helper()
	s.manifest(`
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: ` + name + `, namespace: ~a}
spec: {parentRefs: [{name: gate}], hostnames: [` + name + `.example.org]}
`)
}

// accepted has the Gateway accept a route.
func (s *scene) accepted(name string) {
	s.t.Helper()
	s.status("httproute/"+name, "a", acceptedBy)
}

// acceptedBy is the status of a route that the Gateway has accepted.
const acceptedBy = `{"parents":[{"parentRef":{"name":"gate"},"controllerName":"example.org/c","conditions":[{"type":"Accepted",` +
	`"status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}]}`

// TestSourcesThatCannotBeRead takes from an operator, while it runs and while it starts, what it reads sources from. A
// resolver hears nothing of it. What goes with a definition that comes back without it is lived in virtual time
// (short/sources-without-a-definition.txtar).
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
	s.route("api")
	s.accepted("api")
	stays := map[string]string{"web.example.org. A": "192.0.2.1", "old.example.org. A": "192.0.2.1",
		"api.example.org. A": "192.0.2.7"}
	for question, data := range stays {
		s.answers(question, data)
	}
	s.ready("zone a/org")
	calm := s.steady(stays)

	s.step("the definition of Gateways is gone, and all Gateways with it, and comes back", func() {
		s.kubectl("delete", "crd/gateways.gateway.networking.k8s.io")
		s.unread("Gateway")
		s.counts("unread_kinds", 1)
		s.gatewayAPI()
		s.gatewayAt("192.0.2.7")
		s.counts("unread_kinds", 0)
	})
	s.step("the right to read Services is gone, and the API server starts again", func() {
		s.sourceRights("services")
		if err := s.cluster.RestartAPIServer(s.ctx); err != nil {
			s.t.Fatal(err)
		}
		s.unread("Service")
		s.kubectl("delete", "service/old", "-n", s.prefix+"a")
	})
	s.step("an operator that starts begins without them, and takes them up", func() {
		s.op.Kill()
		s.kubectl("delete", "events", "--all", "-n", testoperator.Namespace)
		start()
		s.unread("Service")
		s.apply(`record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.9}`)
		s.answers("new.example.org. A", "192.0.2.9")
		s.answers("old.example.org. A", "192.0.2.1")
		calm()
		s.sourceRights()
		s.answers("old.example.org. A")
		s.status("service/web", "a", `{"loadBalancer":{"ingress":[{"ip":"192.0.2.2"}]}}`)
		s.answers("web.example.org. A", "192.0.2.2")
	})
}

// TestAnOlderGatewayAPI has an API server that knows no ListenerSets, and TLSRoutes of an earlier version alone.
func TestAnOlderGatewayAPI(t *testing.T) {
	s := newStage(t)
	older := t.TempDir()
	if err := os.CopyFS(older, os.DirFS(s.gatewayDefinitions())); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(older, "gateway.networking.k8s.io_listenersets.yaml")); err != nil {
		t.Fatal(err)
	}
	routes := filepath.Join(older, "gateway.networking.k8s.io_tlsroutes.yaml")
	text, err := os.ReadFile(routes)
	if err != nil {
		t.Fatal(err)
	}
	versions := strings.NewReplacer("served: true", "served: false", "served: false", "served: true")
	if err := os.WriteFile(routes, []byte(versions.Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl("delete", "crd/listenersets.gateway.networking.k8s.io", "--ignore-not-found") // of another test
	if err := s.cluster.InstallCRDs(s.ctx, older); err != nil {
		t.Fatal(err)
	}
	s.sourceRights()
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	start := func() { s.start("--source=gateway-httproute,gateway-tlsroute") }
	start()
	s.apply(`zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: [{records: [{pattern: "*"}]}]}`)
	s.gatewayAt("192.0.2.7")
	for _, name := range []string{"api", "old"} {
		s.route(name)
		s.accepted(name)
		s.answers(name+".example.org. A", "192.0.2.7")
	}
	s.manifest(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: tls, namespace: ~a}
spec: {gatewayClassName: any, listeners: [{name: tls, port: 443, protocol: TLS, tls: {mode: Passthrough}}]}
---
apiVersion: gateway.networking.k8s.io/v1alpha3
kind: TLSRoute
metadata: {name: secure, namespace: ~a}
spec: {parentRefs: [{name: tls}], hostnames: [secure.example.org], rules: [{backendRefs: [{name: x, port: 443}]}]}
`)
	s.status("gateway/tls", "a", `{"addresses":[{"type":"IPAddress","value":"192.0.2.8"}]}`)
	s.status("tlsroute/secure", "a", strings.ReplaceAll(acceptedBy, "gate", "tls"))
	s.answers("secure.example.org. A", "192.0.2.8")
	s.ready("zone a/org")
	s.step("what is deleted while nobody runs goes when the next one starts", func() {
		s.op.Kill()
		s.kubectl("delete", "httproute/old", "-n", s.prefix+"a")
		start()
		s.answers("old.example.org. A")
		s.answers("api.example.org. A", "192.0.2.7")
		s.answers("secure.example.org. A", "192.0.2.8")
		s.kubectl("delete", "tlsroute/secure", "-n", s.prefix+"a")
		s.answers("secure.example.org. A")
	})
	s.step("a route that has a ListenerSet as its parent waits for these", func() {
		s.op.Kill()
		s.manifest(`
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: more, namespace: ~a}
spec: {parentRefs: [{kind: ListenerSet, name: more}], hostnames: [more.example.org]}
`)
		start()
		s.unread("ListenerSet")
	})
}
