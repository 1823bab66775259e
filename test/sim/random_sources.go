package sim

import (
	"fmt"
	"slices"
	"strconv"
)

// A sourceLife is a zoneLife in which Services, Ingresses, routes and DNSEndpoints ask for names, each for one of its
// own: of two at one name that have lost their addresses, a new operator cannot know who had which
// (docs/decisions/0058). Nor can it where a Zone came or went meanwhile: all have addresses before that happens.
type sourceLife struct {
	*zoneLife
	sources  []*source
	shared   [2]bool // whether the Node, and the Gateway, have no address
	asked    int     // names
	answered int     // addresses that somebody has given
}

// A source is an object that asks for a name.
type source struct {
	role, kind, name string
	host             string
	lost             bool // it has no address of its own
	hidden           bool // it says that it is somebody else's
}

// hasStatus reports whether the object has an address of its own, which it can lose.
func (s *source) hasStatus() bool { return s.role != "port" && s.role != "endpoint" }

// sourceKind are the kinds of objects by what random lives use them for.
var sourceKind = map[string]string{"balancer": "Service", "port": "Service", "headless": "Service",
	"ingress": "Ingress", "route": "HTTPRoute", "endpoint": "DNSEndpoint"}

// sourceRoles are the keys of sourceKind.
var sourceRoles = []string{"balancer", "port", "headless", "ingress", "route", "endpoint"}

// Annotations of sources.
const (
	ttlAnnotation        = "external-dns.alpha.kubernetes.io/ttl"
	controllerAnnotation = "external-dns.alpha.kubernetes.io/controller"
)

// sharedParts are what Services and routes of random lives are reached at.
const sharedParts = `apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: a, name: gw}
spec:
  gatewayClassName: any
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]`

func newSourceLife(a *author) *sourceLife { return &sourceLife{zoneLife: newZoneLife(a)} }

func (a *sourceLife) prepare() {
	a.watched = []string{"services", "ingresses", "endpointslices", "nodes", "gateways", "httproutes", "dnsendpoints"}
	a.zoneLife.prepare()
	a.step("sources service ingress gateway-httproute crd", "")
	a.step("apply", sharedParts)
	a.share(0)
	a.share(1)
	a.newSource()
}

// turn is one thing that happens.
func (a *sourceLife) turn() {
	switch a.IntN(12) {
	case 0, 1:
		a.newSource()
	case 2:
		a.loseShared(a.IntN(2))
	case 3, 4:
		if s := a.one(func(s *source) bool { return !s.lost && !s.hidden && s.hasStatus() }); s != nil {
			a.lose(s)
		}
	case 5, 6:
		if s := a.one(func(*source) bool { return true }); s != nil {
			a.address(s)
		}
	case 7:
		if s := a.one(func(s *source) bool { return !s.hidden }); s != nil {
			a.write(s)
		}
	case 8:
		if s := a.one(func(s *source) bool { return s.role != "endpoint" }); s != nil {
			a.step("annotate "+s.kind+" "+s.name+" "+ttlAnnotation+"="+a.choose([]string{"60", "90"}), "")
		}
	case 9:
		a.hide()
	case 10:
		if s := a.one(func(*source) bool { return true }); s != nil {
			a.dropSource(s)
		}
	default:
		a.found()
		a.zoneLife.turn()
	}
}

// one is one of the sources of which something is so, nil if there is none.
func (a *sourceLife) one(is func(*source) bool) *source {
	all := slices.DeleteFunc(slices.Clone(a.sources), func(s *source) bool { return !is(s) })
	if len(all) == 0 {
		return nil
	}
	return all[a.IntN(len(all))]
}

func (a *sourceLife) newSource() {
	role := a.choose(sourceRoles)
	s := &source{role: role, kind: sourceKind[role], name: a.name()}
	s.lost = s.hasStatus()
	a.sources = append(a.sources, s)
	a.write(s)
	if a.IntN(4) > 0 {
		a.step("wait "+a.choose(pauses), "")
		a.address(s)
	}
}

// write has an object ask for a name that nobody has asked for.
func (a *sourceLife) write(s *source) {
	a.asked++
	s.host = "s" + strconv.Itoa(a.asked) + "." + a.choose(domains)
	host := s.host[:len(s.host)-1]
	service := fmt.Sprintf(`apiVersion: v1
kind: Service
metadata: {namespace: %s, name: %s, annotations: {external-dns.alpha.kubernetes.io/hostname: %s}}
spec: `, s.name[:1], s.name[2:], host)
	var text string
	switch s.role {
	case "balancer":
		text = service + "{type: LoadBalancer}"
	case "port":
		text = service + "{type: NodePort, ports: [{name: http, port: 80, nodePort: 30080}]}"
	case "headless":
		text = service + "{type: ClusterIP, clusterIP: None}"
	case "ingress":
		text = fmt.Sprintf(`apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {namespace: %s, name: %s}
spec: {rules: [{host: %s}]}`, s.name[:1], s.name[2:], host)
	case "route":
		text = fmt.Sprintf(`apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: %s, name: %s}
spec: {hostnames: [%s], parentRefs: [{name: gw, namespace: a}]}`, s.name[:1], s.name[2:], host)
	default:
		text = a.endpoint(s)
	}
	a.step("apply", text)
}

func (a *sourceLife) endpoint(s *source) string {
	return fmt.Sprintf(`apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {namespace: %s, name: %s}
spec: {endpoints: [{dnsName: %s, recordType: A, targets: [%s], recordTTL: %s}]}`, s.name[:1], s.name[2:],
		s.host[:len(s.host)-1], a.fresh(), a.choose([]string{"60", "90"}))
}

// fresh is an address that nothing had.
func (a *sourceLife) fresh() string {
	a.answered++
	return "192.0.2." + strconv.Itoa(100+a.answered)
}

// balanced is what the status of a load balancer says.
func (a *sourceLife) balanced() string {
	one := "{ip: " + a.fresh() + "}"
	switch a.IntN(4) {
	case 0:
		one = "{hostname: lb" + strconv.Itoa(a.answered) + ".example.com}"
	case 1:
		one += `, {ip: "2001:db8::` + strconv.Itoa(a.answered) + `"}`
	}
	return "loadBalancer: {ingress: [" + one + "]}"
}

// address gives an object another address.
func (a *sourceLife) address(s *source) {
	s.lost = false
	switch s.role {
	case "balancer", "ingress":
		a.step("status "+s.kind+" "+s.name, a.balanced())
	case "headless":
		a.step("apply", fmt.Sprintf(`apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: %s, name: %s, labels: {kubernetes.io/service-name: %s}}
addressType: IPv4
endpoints: [{addresses: [%s], hostname: p0, targetRef: {kind: Pod, name: p0}}]`, s.name[:1], s.name[2:], s.name[2:], a.fresh()))
	case "route":
		a.step("status HTTPRoute "+s.name, `parents:
- parentRef: {name: gw, namespace: a}
  controllerName: any.example/gateways
  conditions: [{type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]`)
	case "port":
		a.share(0)
	default:
		if !s.hidden {
			a.step("apply", a.endpoint(s))
		}
	}
}

// calm waits until what objects ask for is published: an address that was there for a moment may be unknown to who
// takes over.
func (a *sourceLife) calm() {
	a.ease()
	a.zoneLife.mend()
	a.step("wait 10m", "")
}

// lose takes the address of an object.
func (a *sourceLife) lose(s *source) {
	a.calm()
	s.lost = true
	switch s.role {
	case "headless":
		a.step("delete EndpointSlice "+s.name, "")
	case "route":
		a.step("status HTTPRoute "+s.name, "parents: []")
	default:
		a.step("status "+s.kind+" "+s.name, "loadBalancer: {}")
	}
}

// sharedStatus are the steps about the Node and the Gateway of sharedParts.
var sharedStatus = [2]string{"status Node n1", "status Gateway a/gw"}

// share gives the Node, or the Gateway, an address.
func (a *sourceLife) share(which int) {
	a.shared[which] = false
	a.step(sharedStatus[which], fmt.Sprintf([]string{
		"addresses: [{type: InternalIP, address: %s}]", "addresses: [{value: %s}]"}[which], a.fresh()))
}

// loseShared takes the address of the Node, or of the Gateway.
func (a *sourceLife) loseShared(which int) {
	a.calm()
	a.shared[which] = true
	a.step(sharedStatus[which], "addresses: []")
}

// found gives everything an address.
func (a *sourceLife) found() {
	for i, lost := range a.shared {
		if lost {
			a.share(i)
		}
	}
	for _, s := range a.sources {
		if s.lost {
			a.address(s)
		}
	}
}

// hide has an object say that it is somebody else's, or is ours again.
func (a *sourceLife) hide() {
	a.found()
	s := a.one(func(*source) bool { return true })
	if s == nil {
		return
	}
	s.hidden = !s.hidden
	says := controllerAnnotation + "-"
	if s.hidden {
		says = controllerAnnotation + "=other"
	}
	a.step("annotate "+s.kind+" "+s.name+" "+says, "")
}

func (a *sourceLife) dropSource(s *source) {
	a.sources = slices.DeleteFunc(a.sources, func(other *source) bool { return other == s })
	a.step("delete "+s.kind+" "+s.name, "")
	if s.role == "headless" && !s.lost {
		a.step("delete EndpointSlice "+s.name, "")
	}
}

// mend has what was lost be there again. In the end, half of the lives do not.
func (a *sourceLife) mend() {
	a.zoneLife.mend()
	if !a.mending || a.IntN(2) == 0 {
		a.found()
	}
}

func (a *sourceLife) deleteAll() {
	a.zoneLife.deleteAll()
	for len(a.sources) > 0 {
		a.dropSource(a.sources[0])
		a.step("wait "+a.choose(pauses), "")
	}
}
