package externaldns

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func (a *author) listener(i, l int) gatewayv1.Listener {
	out := gatewayv1.Listener{Name: gatewayv1.SectionName(fmt.Sprintf("l%d", l)),
		Port:     gatewayv1.PortNumber(80 + a.IntN(2)),
		Protocol: gatewayv1.ProtocolType(a.one("HTTP", "HTTPS", "TLS", "TCP", "UDP"))}
	if a.some(2) {
		out.Protocol = protocols()[a.kind]
	}
	if host := gatewayv1.Hostname(a.one("", fmt.Sprintf("*.w%d.example.org", i), fmt.Sprintf("r0.w%d.example.org", i),
		fmt.Sprintf("*.r0.w%d.example.org", i))); host != "" {
		out.Hostname = &host
	}
	if a.some(2) {
		from := gatewayv1.FromNamespaces(a.one("All", "Same", "Selector"))
		out.AllowedRoutes = &gatewayv1.AllowedRoutes{Namespaces: &gatewayv1.RouteNamespaces{From: &from,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": a.one("a", "b")}}}}
		if a.some(3) {
			kind := gatewayv1.Kind(a.one(a.kind, a.kind, "HTTPRoute", "GRPCRoute"))
			out.AllowedRoutes.Kinds = []gatewayv1.RouteGroupKind{{Kind: kind}}
		}
	}
	return out
}

func condition(kind string, is bool) []metav1.Condition {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	return []metav1.Condition{{Type: kind, Status: status}}
}

// routes writes routes of a kind, with their Gateways.
func routes(kind string) func(*author, int) {
	return func(a *author, i int) {
		a.kind = kind
		a.route(i)
	}
}

func (a *author) route(i int) {
	m := a.meta(i)
	a.add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.Namespace,
		Labels: map[string]string{"team": a.one("a", "b")}}})
	delete(m.Annotations, prefix+"target") // of a route external-dns does not read it
	if hosts := a.hosts(i); hosts != "" && a.some(2) {
		m.Annotations[prefix+"hostname"] = hosts
	}
	if a.some(5) {
		m.Annotations[prefix+"gateway-hostname-source"] = a.one("defined-hosts-only", "annotation-only", "x")
	}
	var hostnames []gatewayv1.Hostname
	for h := range a.IntN(3) {
		hostnames = append(hostnames, gatewayv1.Hostname(fmt.Sprintf("r%d.w%d.example.org", h, i)))
	}
	var spec gatewayv1.CommonRouteSpec
	var status gatewayv1.RouteStatus
	for p := range 1 + a.IntN(2) {
		ref := a.gateway(i, p, m.Namespace)
		spec.ParentRefs = append(spec.ParentRefs, ref)
		if !a.some(6) {
			status.Parents = append(status.Parents, gatewayv1.RouteParentStatus{ParentRef: ref,
				Conditions: condition("Accepted", !a.some(5))})
		}
	}
	r := a.routeOf(m, spec, status, hostnames)
	a.routes = append(a.routes, r)
	a.what = append(a.what, r.(metav1.Object))
}

// routeOf makes a route of the kind.
func (a *author) routeOf(m metav1.ObjectMeta, spec gatewayv1.CommonRouteSpec, status gatewayv1.RouteStatus,
	hostnames []gatewayv1.Hostname) runtime.Object {
	of := metav1.TypeMeta{APIVersion: "gateway.networking.k8s.io/v1", Kind: a.kind}
	switch a.kind {
	case "GRPCRoute":
		return &gatewayv1.GRPCRoute{TypeMeta: of, ObjectMeta: m, Status: gatewayv1.GRPCRouteStatus{RouteStatus: status},
			Spec: gatewayv1.GRPCRouteSpec{CommonRouteSpec: spec, Hostnames: hostnames}}
	case "TLSRoute":
		return &gatewayv1.TLSRoute{TypeMeta: of, ObjectMeta: m, Status: gatewayv1.TLSRouteStatus{RouteStatus: status},
			Spec: gatewayv1.TLSRouteSpec{CommonRouteSpec: spec, Hostnames: hostnames}}
	case "TCPRoute":
		return &gatewayv1.TCPRoute{TypeMeta: of, ObjectMeta: m, Status: gatewayv1.TCPRouteStatus{RouteStatus: status},
			Spec: gatewayv1.TCPRouteSpec{CommonRouteSpec: spec}}
	case "UDPRoute":
		return &gatewayv1.UDPRoute{TypeMeta: of, ObjectMeta: m, Status: gatewayv1.UDPRouteStatus{RouteStatus: status},
			Spec: gatewayv1.UDPRouteSpec{CommonRouteSpec: spec}}
	}
	return &gatewayv1.HTTPRoute{TypeMeta: of, ObjectMeta: m, Status: gatewayv1.HTTPRouteStatus{RouteStatus: status},
		Spec: gatewayv1.HTTPRouteSpec{CommonRouteSpec: spec, Hostnames: hostnames}}
}

// protocols are those of listeners that take each kind of routes.
func protocols() map[string]gatewayv1.ProtocolType {
	return map[string]gatewayv1.ProtocolType{"HTTPRoute": "HTTP", "GRPCRoute": "HTTPS", "TLSRoute": "TLS",
		"TCPRoute": "TCP", "UDPRoute": "UDP"}
}

// gateway writes a Gateway, or one with a ListenerSet, and returns what a route of a namespace refers to.
func (a *author) gateway(i, p int, namespace string) gatewayv1.ParentReference {
	g := &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("gate%d", p),
		Annotations: map[string]string{}, Labels: map[string]string{"gate": a.one("in", "out")}}}
	if a.some(3) { // it is elsewhere
		g.Namespace += "-gates"
	}
	if a.some(5) {
		g.Annotations[prefix+"target"] = "203.0.113.44"
	}
	for l := range 1 + a.IntN(3) {
		g.Spec.Listeners = append(g.Spec.Listeners, a.listener(i, l))
	}
	for range a.IntN(3) {
		g.Status.Addresses = append(g.Status.Addresses, gatewayv1.GatewayStatusAddress{Value: a.address()})
	}
	ref := gatewayv1.ParentReference{Name: gatewayv1.ObjectName(g.Name)}
	if at := gatewayv1.Namespace(g.Namespace); g.Namespace != namespace {
		ref.Namespace = &at
	}
	if a.some(3) {
		section := gatewayv1.SectionName(a.one("l0", "l1"))
		ref.SectionName = &section
	}
	if a.some(5) {
		port := gatewayv1.PortNumber(80)
		ref.Port = &port
	}
	a.routes = append(a.routes, g)
	if a.some(4) {
		return a.listenerSet(i, g, namespace)
	}
	return ref
}

func (a *author) listenerSet(i int, g *gatewayv1.Gateway, namespace string) gatewayv1.ParentReference {
	kind, at := gatewayv1.Kind("ListenerSet"), gatewayv1.Namespace(g.Namespace)
	set := &gatewayv1.ListenerSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: g.Name + "-set"}}
	set.Spec.ParentRef = gatewayv1.ParentGatewayReference{Name: gatewayv1.ObjectName(g.Name), Namespace: &at}
	set.Spec.Listeners = []gatewayv1.ListenerEntry{gatewayv1.ListenerEntry(a.listener(i, 0))}
	set.Status.Conditions = condition("Accepted", !a.some(4))
	if !a.some(5) {
		set.Status.Listeners = []gatewayv1.ListenerEntryStatus{{Name: "l0", Conditions: condition("Accepted", !a.some(4))}}
	}
	if from := gatewayv1.FromNamespaces(a.one("All", "Same", "Selector", "None", "")); from != "" {
		g.Spec.AllowedListeners = &gatewayv1.AllowedListeners{Namespaces: &gatewayv1.ListenerNamespaces{From: &from,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}}}
	}
	if a.some(4) {
		set.Annotations = map[string]string{prefix + "target": "203.0.113.55"}
	}
	a.routes = append(a.routes, set)
	return gatewayv1.ParentReference{Name: gatewayv1.ObjectName(set.Name), Kind: &kind}
}
