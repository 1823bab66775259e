package sources

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// A parent is what routes are attached to: a Gateway, or a ListenerSet of one.
type parent struct {
	gateway   *gatewayv1.Gateway
	namespace string // that "Same" means
	listeners []listener
	targets   []string
}

type listener struct {
	gatewayv1.Listener
	accepted bool
}

// parent returns what a reference of an object means; nil: there is no such Gateway, or it does not count.
func (v *Inventory) parent(ref gatewayv1.ParentReference, namespace string) *parent {
	if value(ref.Group, gatewayv1.GroupName) != gatewayv1.GroupName {
		return nil
	}
	at := key{string(value(ref.Namespace, gatewayv1.Namespace(namespace))), string(ref.Name)}
	switch value(ref.Kind, "Gateway") {
	case "Gateway":
		g := v.gateways[at]
		if g == nil || !v.takesGateway(g) {
			return nil
		}
		p := &parent{gateway: g, namespace: g.Namespace, targets: v.at(g)}
		for _, l := range g.Spec.Listeners {
			p.listeners = append(p.listeners, listener{l, true})
		}
		return p
	case "ListenerSet":
		return v.listenerSet(at)
	}
	return nil
}

// listenerSet returns a ListenerSet as a parent.
func (v *Inventory) listenerSet(at key) *parent {
	set := v.listenerSets[at]
	if set == nil || !selects(v.Annotations, set.Annotations) || others(set) {
		return nil
	}
	g := v.gateways[key{string(value(set.Spec.ParentRef.Namespace, gatewayv1.Namespace(set.Namespace))),
		string(set.Spec.ParentRef.Name)}]
	if g == nil || !v.takesGateway(g) || !v.letsIn(g, set.Namespace) {
		return nil
	}
	p := &parent{gateway: g, namespace: set.Namespace, targets: targetsOf(set)}
	if len(p.targets) == 0 {
		p.targets = v.at(g)
	}
	whole := meta.IsStatusConditionTrue(set.Status.Conditions, string(gatewayv1.ListenerSetConditionAccepted))
	for _, l := range set.Spec.Listeners {
		accepted := whole && slices.ContainsFunc(set.Status.Listeners, func(s gatewayv1.ListenerEntryStatus) bool {
			return s.Name == l.Name &&
				meta.IsStatusConditionTrue(s.Conditions, string(gatewayv1.ListenerEntryConditionAccepted))
		})
		p.listeners = append(p.listeners, listener{gatewayv1.Listener(l), accepted})
	}
	return p
}

// at returns the addresses of a Gateway.
func (v *Inventory) at(g *gatewayv1.Gateway) []string {
	if targets := targetsOf(g); len(targets) > 0 {
		return targets
	}
	out := make([]string, 0, len(g.Status.Addresses))
	for _, a := range g.Status.Addresses {
		out = append(out, a.Value)
	}
	return filled(out)
}

// letsIn reports whether a Gateway takes ListenerSets of a namespace.
func (v *Inventory) letsIn(g *gatewayv1.Gateway, namespace string) bool {
	if g.Spec.AllowedListeners == nil || g.Spec.AllowedListeners.Namespaces == nil {
		return false
	}
	n := g.Spec.AllowedListeners.Namespaces
	return v.from(value(n.From, gatewayv1.NamespacesFromNone), n.Selector, g.Namespace, namespace)
}

// from reports whether a namespace is one that somebody in another lets in.
func (v *Inventory) from(which gatewayv1.FromNamespaces, s *metav1.LabelSelector, own, namespace string) bool {
	switch which {
	case gatewayv1.NamespacesFromAll:
		return true
	case gatewayv1.NamespacesFromSame:
		return own == namespace
	case gatewayv1.NamespacesFromSelector:
		selector, err := metav1.LabelSelectorAsSelector(s)
		of := v.namespaces[namespace]
		return err == nil && of != nil && selector.Matches(labels.Set(of.Labels))
	}
	return false
}

// gateway has a Gateway ask for the names in its annotation.
func (v *Inventory) gateway(g *gatewayv1.Gateway, w *Wish) {
	if v.IgnoreHostnames || !v.takesGateway(g) {
		return
	}
	ttl := ttlOf(g, w)
	for _, host := range wordsOf(g, hostnameKey) {
		w.ask(origin{host: host}, v.at(g), ttl)
	}
}

// value returns what a field says, or what it means when it says nothing.
func value[T ~string](p *T, otherwise T) T {
	if p == nil || *p == "" {
		return otherwise
	}
	return *p
}

// fromOf names a parent in endpoints.
func fromOf(ref gatewayv1.ParentReference, namespace string) string {
	return fmt.Sprintf("%s %s/%s", value(ref.Kind, "Gateway"), value(ref.Namespace, gatewayv1.Namespace(namespace)),
		ref.Name)
}
