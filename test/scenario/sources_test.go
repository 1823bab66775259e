package scenario

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// sourceRights are those that the chart gives to an operator with sources, without some resources.
func (s *scene) sourceRights(without ...string) {
	s.t.Helper()
	text, err := os.ReadFile("../../config/rbac/sources.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	rules := strings.Replace(string(text), "name: zonefold-operator", "name: zonefold-sources", 1)
	for _, resource := range without {
		rules = strings.Replace(rules, "  - "+resource+"\n", "", 1)
	}
	s.manifest(rules + fmt.Sprintf(`
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: zonefold-sources}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: zonefold-sources}
subjects: [{kind: ServiceAccount, name: %s, namespace: %s}]
`, testoperator.ServiceAccount, testoperator.Namespace))
}

// gatewayAPI has the definitions of the Gateway API's own module.
func (s *scene) gatewayAPI() {
	s.t.Helper()
	if err := s.cluster.InstallCRDs(s.ctx, s.gatewayDefinitions()); err != nil {
		s.t.Fatal(err)
	}
}

// gatewayDefinitions returns where these are.
func (s *scene) gatewayDefinitions() string {
	s.t.Helper()
	out, err := exec.CommandContext(s.ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "config/crd/standard")
}

// manifest applies YAML in which "example" and "~" stand for words of the scene.
func (s *scene) manifest(text string) {
	s.t.Helper()
	for _, ns := range []string{"a", "b"} {
		s.ensureNamespace(s.prefix + ns)
	}
	if out, err := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(s.text(text)), "apply", "--server-side", "-f",
		"-"); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

// status replaces the status of an object.
func (s *scene) status(what, namespace, status string) {
	s.t.Helper()
	s.kubectl("patch", what, "-n", s.prefix+namespace, "--subresource=status", "--type=merge", "-p",
		s.text(`{"status":`+status+`}`))
}

// warned waits for an event about an object.
func (s *scene) warned(namespace, kind, name, reason string) {
	s.t.Helper()
	s.eventually("an event about "+name, func() string {
		out := s.kubectl("get", "events", "-n", s.prefix+namespace, "-o",
			`jsonpath={range .items[*]}{.involvedObject.kind} {.involvedObject.name} {.reason}{"\n"}{end}`)
		if !strings.Contains(out, kind+" "+name+" "+reason) {
			return "there are only:\n" + out
		}
		return ""
	})
}

const balancer = `
apiVersion: v1
kind: Service
metadata: {name: %[2]s, namespace: ~%[1]s, annotations: {external-dns.alpha.kubernetes.io/hostname: %[3]s}}
spec: {type: LoadBalancer, ports: [{port: 80}], allocateLoadBalancerNodePorts: false}
---
`

func TestServicesIngressesAndRoutesHaveNames(t *testing.T) {
	s := newStage(t)
	s.gatewayAPI()
	s.sourceRights()
	s.bind = s.ownServer("--source=service,ingress,gateway-httproute,crd,node")
	zone := `zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: ` +
		`[{namespace: ~a, records: [{pattern: "*"}]}]}`

	s.run("at the addresses of their statuses, by the rules of Zones", func(s *scene) {
		s.apply("backend b: {embedded: {}}\n" + zone)
		s.manifest(fmt.Sprintf(balancer, "a", "web", "web.example.org") +
			fmt.Sprintf(balancer, "b", "theft", "web.example.org"))
		s.status("service/web", "a", `{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"},{"ip":"2001:db8::1"}]}}`)
		s.status("service/theft", "b", `{"loadBalancer":{"ingress":[{"ip":"192.0.2.66"}]}}`)
		s.answers("web.example.org. A", "192.0.2.1")
		s.answers("web.example.org. AAAA", "2001:db8::1")
		s.warned("b", "Service", "theft", "NotDelegated")

		s.manifest(`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: ~a}
spec: {rules: [{host: shop.example.org}, {host: nowhere.invalid}]}
---
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {name: mail, namespace: ~a}
spec: {endpoints: [{dnsName: mail.example.org, recordType: MX, targets: [10 mx.example.org]}]}
`)
		s.status("ingress/shop", "a", `{"loadBalancer":{"ingress":[{"hostname":"lb.example.net"}]}}`)
		s.answers("shop.example.org. CNAME", "lb.example.net.")
		s.answers("mail.example.org. MX", "10 mx.example.org.")
		s.warned("a", "Ingress", "shop", "NoZone")
		s.kubectl("delete", "ingress/shop", "-n", s.prefix+"a")
		s.answers("shop.example.org. CNAME")
	})

	s.run("by the Gateways that have accepted routes", func(s *scene) {
		s.apply("backend b: {embedded: {}}\n" + zone)
		s.manifest(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gate, namespace: ~a}
spec: {gatewayClassName: any, listeners: [{name: http, port: 80, protocol: HTTP, hostname: "*.example.org"}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: api, namespace: ~a}
spec: {parentRefs: [{name: gate}], hostnames: [api.example.org]}
`)
		s.status("gateway/gate", "a", `{"addresses":[{"type":"IPAddress","value":"192.0.2.7"}]}`)
		accepted := `{"parents":[{"parentRef":{"name":"gate"},"controllerName":"example.org/c","conditions":[{"type":"Accepted","status":"%s",` +
			`"reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}]}`
		s.status("httproute/api", "a", fmt.Sprintf(accepted, "True"))
		s.answers("api.example.org. A", "192.0.2.7")
		s.status("httproute/api", "a", fmt.Sprintf(accepted, "False"))
		s.warned("a", "HTTPRoute", "api", "AddressLost")
		s.status("gateway/gate", "a", `{"addresses":[]}`)
		s.answers("api.example.org. A", "192.0.2.7")
		s.status("gateway/gate", "a", `{"addresses":[{"type":"IPAddress","value":"192.0.2.8"}]}`)
		s.status("httproute/api", "a", fmt.Sprintf(accepted, "True"))
		s.answers("api.example.org. A", "192.0.2.8")
	})

	s.run("which are not lost with the address", func(s *scene) {
		s.apply("backend b: {embedded: {}}\n" + zone)
		s.manifest(fmt.Sprintf(balancer, "a", "web", "web.example.org"))
		s.status("service/web", "a", `{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}`)
		s.answers("web.example.org. A", "192.0.2.1")
		s.status("service/web", "a", `{"loadBalancer":null}`)
		s.warned("a", "Service", "web", "AddressLost")
		s.answers("web.example.org. A", "192.0.2.1")
		s.ready("zone a/org") // with all that it has in its status
		s.eventually("the status has it", func() string {
			entries := s.kubectl("get", "zones.kubi.zone", "org", "-n", s.prefix+"a", "-o", "jsonpath={.status.entries}")
			if !strings.Contains(entries, "192.0.2.1") {
				return entries
			}
			return ""
		})

		s.op.Kill()
		s.bind = s.ownServer("--source=service,ingress,gateway-httproute,crd,node")
		s.answers("web.example.org. A", "192.0.2.1")
		s.status("service/web", "a", `{"loadBalancer":{"ingress":[{"ip":"192.0.2.2"}]}}`)
		s.answers("web.example.org. A", "192.0.2.2")
		s.kubectl("delete", "service/web", "-n", s.prefix+"a")
		s.answers("web.example.org. A")
	})
}
