package sources

import (
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// A route is what the kinds of routes have in common.
type route struct {
	metav1.Object
	whole     runtime.Object
	kind      string
	protocol  gatewayv1.ProtocolType
	hostnames []gatewayv1.Hostname
	parents   []gatewayv1.ParentReference
	statuses  []gatewayv1.RouteParentStatus
}

// routeOf returns an object as a route; nil: it is none.
func routeOf(o metav1.Object) *route {
	kind := KindOf(o).Kind
	switch r := o.(type) {
	case *gatewayv1.HTTPRoute:
		return &route{o, r, kind, gatewayv1.HTTPProtocolType, r.Spec.Hostnames, r.Spec.ParentRefs, r.Status.Parents}
	case *gatewayv1.GRPCRoute:
		return &route{o, r, kind, gatewayv1.HTTPSProtocolType, r.Spec.Hostnames, r.Spec.ParentRefs, r.Status.Parents}
	case *gatewayv1.TLSRoute:
		return &route{o, r, kind, gatewayv1.TLSProtocolType, r.Spec.Hostnames, r.Spec.ParentRefs, r.Status.Parents}
	case *gatewayv1.TCPRoute:
		return &route{o, r, kind, gatewayv1.TCPProtocolType, nil, r.Spec.ParentRefs, r.Status.Parents}
	case *gatewayv1.UDPRoute:
		return &route{o, r, kind, gatewayv1.UDPProtocolType, nil, r.Spec.ParentRefs, r.Status.Parents}
	}
	return nil
}

// route has a route ask for the names that it shares with listeners of the Gateways that have accepted it.
func (v *Inventory) route(r *route, w *Wish) {
	names := v.routeNames(r, w)
	own, ttl := targetsOf(r), ttlOf(r, w)
	for _, s := range r.statuses {
		p := v.parent(s.ParentRef, r.GetNamespace())
		if p == nil || !r.refersTo(s.ParentRef) ||
			!meta.IsStatusConditionTrue(s.Conditions, string(gatewayv1.RouteConditionAccepted)) {
			continue
		}
		targets := own
		if len(own) == 0 {
			targets = p.targets
		}
		for host := range v.shared(r, s.ParentRef, p, names, true) {
			w.ask(origin{host, fromOf(s.ParentRef, r.GetNamespace())}, targets, ttl)
		}
	}
	for _, ref := range r.parents { // what it asks for without having been accepted
		from := fromOf(ref, r.GetNamespace())
		p := v.parent(ref, r.GetNamespace())
		if p == nil { // nobody knows its listeners
			for _, name := range names {
				w.asked[origin{name, from}] = false
			}
			continue
		}
		for host := range v.shared(r, ref, p, names, false) {
			w.asked[origin{host, from}] = true
		}
	}
}

// NeedsListenerSets reports whether a route has a ListenerSet as its parent.
func (v *Inventory) NeedsListenerSets() bool {
	for _, o := range v.sources {
		if r := routeOf(o); r != nil && slices.ContainsFunc(r.parents, func(p gatewayv1.ParentReference) bool {
			return value(p.Group, gatewayv1.GroupName) == gatewayv1.GroupName && value(p.Kind, "Gateway") == "ListenerSet"
		}) {
			return true
		}
	}
	return false
}

// refersTo reports whether the spec has a parent that a status is about.
func (r *route) refersTo(ref gatewayv1.ParentReference) bool {
	return slices.ContainsFunc(r.parents, func(p gatewayv1.ParentReference) bool {
		return value(p.Group, gatewayv1.GroupName) == value(ref.Group, gatewayv1.GroupName) &&
			fromOf(p, r.GetNamespace()) == fromOf(ref, r.GetNamespace())
	})
}

// routeNames returns the names that a route says; "" stands for those of the listeners.
func (v *Inventory) routeNames(r *route, w *Wish) []string {
	var names []string
	for _, name := range r.hostnames {
		names = append(names, string(name))
	}
	said := wordsOf(r, hostnameKey)
	if v.IgnoreHostnames {
		said = nil
	}
	switch only, _ := annotated(r, gatewaySourceKey); strings.ToLower(only) {
	case annotatedHosts:
		return said
	case definedHosts:
		if v.Combine || len(names) == 0 {
			names = append(names, v.Template.names(r.whole, KindOf(r.Object), w)...)
		}
		return names
	case "":
	default:
		w.note(InvalidAnnotation, "has the annotation %s with the value %q, which has no meaning; write %s or %s",
			Prefix+gatewaySourceKey, only, definedHosts, annotatedHosts)
	}
	names = append(names, said...)
	if v.Combine || len(names) == 0 {
		names = append(names, v.Template.names(r.whole, KindOf(r.Object), w)...)
	}
	if len(r.hostnames) == 0 {
		names = append(names, "")
	}
	return names
}

// shared returns the names that a route has in common with the listeners that a reference means; accepted: with those
// that their Gateway has accepted.
func (v *Inventory) shared(r *route, ref gatewayv1.ParentReference, p *parent, names []string,
	accepted bool) map[string]bool {
	out := map[string]bool{}
	for i := range p.listeners {
		l := &p.listeners[i]
		section, port := value(ref.SectionName, ""), ref.Port
		if section != "" && section != l.Name || port != nil && *port != l.Port || accepted && !l.accepted ||
			!v.admits(r, &l.Listener, p.namespace) {
			continue
		}
		for _, name := range names {
			if host, ok := overlap(string(value(l.Hostname, "")), name); ok && host != "" {
				out[host] = true
			}
		}
	}
	return out
}

// admits reports whether a listener takes routes of such a kind and namespace.
func (v *Inventory) admits(r *route, l *gatewayv1.Listener, own string) bool {
	if family(l.Protocol, r.protocol) != family(r.protocol, r.protocol) {
		return false
	}
	from, selector := gatewayv1.NamespacesFromSame, (*metav1.LabelSelector)(nil)
	var kinds []gatewayv1.RouteGroupKind
	if allowed := l.AllowedRoutes; allowed != nil {
		kinds = allowed.Kinds
		if allowed.Namespaces != nil {
			from, selector = value(allowed.Namespaces.From, from), allowed.Namespaces.Selector
		}
	}
	return v.from(from, selector, own, r.GetNamespace()) &&
		(len(kinds) == 0 || slices.ContainsFunc(kinds, func(k gatewayv1.RouteGroupKind) bool {
			return value(k.Group, gatewayv1.GroupName) == gatewayv1.GroupName && string(k.Kind) == r.kind
		}))
}

// family returns the protocol that stands for those which a route takes as one: HTTP with and without TLS, and, of a
// TCPRoute, TLS.
func family(p, of gatewayv1.ProtocolType) gatewayv1.ProtocolType {
	switch {
	case p == gatewayv1.HTTPSProtocolType:
		return gatewayv1.HTTPProtocolType
	case p == gatewayv1.TLSProtocolType && of == gatewayv1.TCPProtocolType:
		return gatewayv1.TCPProtocolType
	}
	return p
}

// overlap returns the narrower one of two host names, of which one is in the other: "*.example.org" has all names below
// example.org, and "" has all.
func overlap(a, b string) (string, bool) {
	if !isHost(a) || !isHost(b) {
		return "", false
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	switch {
	case a == "":
		return b, true
	case b == "" || a == b:
		return a, true
	case within(a, b):
		return a, true
	case within(b, a):
		return b, true
	}
	return "", false
}

// within reports whether a host is below a wildcard.
func within(host, wildcard string) bool {
	suffix, is := strings.CutPrefix(wildcard, "*")
	return is && strings.HasPrefix(suffix, ".") && strings.HasSuffix(host, suffix)
}

// isHost reports whether a text may be a host name of a route, or is empty.
func isHost(s string) bool {
	_, err := netip.ParseAddr(s)
	return err != nil || s == ""
}
