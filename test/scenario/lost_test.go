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
	s.lacks = `services`
	s.gatewayAPI()
	s.sourceRights()
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	start := func() { s.start("--source=service,gateway-httproute") }
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
	calm := s.steady(stays)

	s.step("the right to read Services is gone, and the API server starts again", func() {
		s.kubectl("patch", "clusterrole/zonefold-sources", "--type=json", "-p",
			`[{"op":"replace","path":"/rules/0/resources","value":["namespaces","nodes"]}]`)
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
	calm()
	delete(stays, "old.example.org. A")
	calm = s.steady(stays)
	s.step("what went meanwhile goes when Services can be read", func() {
		s.sourceRights()
		s.answers("old.example.org. A")
	})
	s.step("the definition of Gateways is gone, and all of them with it", func() {
		s.kubectl("delete", "crd", "gateways.gateway.networking.k8s.io")
		s.warned("a", "HTTPRoute", "api", "AddressLost")
		s.unread("Gateway")
	})
	s.step("an operator that starts says so, and ends", func() {
		s.op.Kill()
		start()
		<-s.op.Done()
		const want = "The objects of the kind Gateway cannot be read, which the sources that are on need (gateway-httproute)"
		if text := s.log.String(); !strings.Contains(text, want) {
			s.t.Errorf("it does not say %q", want)
		}
	})
	calm()
	s.step("a Gateway that comes back has another address", func() {
		s.gatewayAPI()
		start()
		s.gatewayAt("192.0.2.8")
		s.answers("api.example.org. A", "192.0.2.8")
		s.answers("web.example.org. A", "192.0.2.1")
	})
}

// TestANodeThatDies has a Pod on a node whose kubelet says nothing any more. The real controllers do what follows: the
// Pod is not ready, its endpoint goes, and at last the Pod does.
func TestANodeThatDies(t *testing.T) {
	s := newStage(t)
	s.sourceRights()
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	s.start("--source=service")
	s.apply(`zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: [{records: [{pattern: "*"}]}]}`)
	node := s.prefix + "node"
	condition := func(ready string) {
		s.kubectl("patch", "node/"+node, "--subresource=status", "--type=merge", "-p", `{"status":{"conditions":[{"type":"Ready",`+
			`"status":"`+ready+`","reason":"R","message":"","lastHeartbeatTime":"2026-01-01T00:00:00Z",`+
			`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	}
	pod := func(name, address string) {
		s.manifest(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: ~a, labels: {of: db}}
spec: {nodeName: ~node, terminationGracePeriodSeconds: 0, containers: [{name: c, image: none}]}
`, name))
		s.status("pod/"+name, "a", `{"phase":"Running","podIP":"`+address+`","podIPs":[{"ip":"`+address+`"}],"conditions":[`+
			`{"type":"Ready","status":"True"}]}`)
	}
	s.manifest(`
apiVersion: v1
kind: Node
metadata: {name: ~node}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: ~a, annotations: {external-dns.kubernetes.io/hostname: db.example.org}}
spec: {clusterIP: None, selector: {of: db}, ports: [{port: 80}]}
`)
	t.Cleanup(func() { s.kubectlQuiet("delete", "node/"+node) })
	condition("True")
	pod("one", "10.9.0.1")
	s.answers("db.example.org. A", "10.9.0.1")
	calm := s.steady(map[string]string{"db.example.org. A": "10.9.0.1"})

	s.step("its kubelet says nothing", func() {
		condition("Unknown")
		s.warned("a", "Service", "db", "AddressLost")
	})
	s.step("and the Pod is removed", func() {
		s.kubectl("delete", "pod/one", "-n", s.prefix+"a", "--force")
		s.eventually("no endpoints", func() string {
			return s.kubectl("get", "endpointslices", "-n", s.prefix+"a", "-l", "kubernetes.io/service-name=db", "-o",
				"jsonpath={.items[*].endpoints[*].addresses}")
		})
	})
	calm()
	s.step("until there is another one", func() {
		condition("True")
		pod("two", "10.9.0.2")
		s.answers("db.example.org. A", "10.9.0.2")
	})
}
