package sources

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	"github.com/zonefold/zonefold/internal/zone"
)

// An Inventory knows the objects that ask for names, and those that say at which addresses. It keeps what it is given
// and changes nothing in it.
type Inventory struct {
	Options
	sources      map[zone.ID]metav1.Object
	slices       map[zone.ID]map[string]*discoveryv1.EndpointSlice // of each Service
	gateways     map[key]*gatewayv1.Gateway
	listenerSets map[key]*gatewayv1.ListenerSet
	nodes        map[string]*corev1.Node
	namespaces   map[string]*corev1.Namespace
}

// A key names an object of a kind.
type key struct{ namespace, name string }

func keyOf(o metav1.Object) key { return key{o.GetNamespace(), o.GetName()} }

// NewInventory returns one that knows nothing.
func NewInventory(o Options) *Inventory {
	return &Inventory{
		Options: o, sources: map[zone.ID]metav1.Object{}, slices: map[zone.ID]map[string]*discoveryv1.EndpointSlice{},
		gateways: map[key]*gatewayv1.Gateway{}, listenerSets: map[key]*gatewayv1.ListenerSet{},
		nodes: map[string]*corev1.Node{}, namespaces: map[string]*corev1.Namespace{},
	}
}

// Put adds an object, or another version of it, and returns the sources whose wish may be another one now.
func (v *Inventory) Put(o metav1.Object) []zone.ID {
	switch o := o.(type) {
	case *discoveryv1.EndpointSlice:
		id := serviceOf(o)
		if v.slices[id] == nil {
			v.slices[id] = map[string]*discoveryv1.EndpointSlice{}
		}
		v.slices[id][o.Name] = o
		return v.known(id)
	case *gatewayv1.ListenerSet:
		v.listenerSets[keyOf(o)] = o
		return v.routes()
	case *corev1.Namespace:
		old := v.namespaces[o.Name]
		if v.namespaces[o.Name] = o; old != nil && reflect.DeepEqual(old.Labels, o.Labels) {
			return nil
		}
		return v.routes()
	case *gatewayv1.Gateway:
		old := v.gateways[keyOf(o)]
		if v.gateways[keyOf(o)] = o; old == nil || !sameGateway(old, o) {
			return append(v.routes(), v.put(o)...)
		}
		return nil
	case *corev1.Node:
		old := v.nodes[o.Name]
		if v.nodes[o.Name] = o; old == nil || !sameNode(old, o) {
			return append(v.onNodes(), v.put(o)...)
		}
		return nil
	}
	return v.put(o)
}

// Delete removes an object, and returns the sources whose wish may be another one now.
func (v *Inventory) Delete(o metav1.Object) []zone.ID {
	switch o := o.(type) {
	case *discoveryv1.EndpointSlice:
		id := serviceOf(o)
		if delete(v.slices[id], o.Name); len(v.slices[id]) == 0 {
			delete(v.slices, id)
		}
		return v.known(id)
	case *gatewayv1.ListenerSet:
		delete(v.listenerSets, keyOf(o))
		return v.routes()
	case *corev1.Namespace:
		delete(v.namespaces, o.Name)
		return v.routes()
	case *gatewayv1.Gateway:
		delete(v.gateways, keyOf(o))
		return append(v.routes(), v.remove(o)...)
	case *corev1.Node:
		delete(v.nodes, o.Name)
		return append(v.onNodes(), v.remove(o)...)
	}
	return v.remove(o)
}

// Wish returns what an object asks for. It is false of one that is not known, does not count, or is being deleted.
func (v *Inventory) Wish(id zone.ID) (*Wish, bool) {
	o, known := v.sources[id]
	if !known || !v.takes(o) || o.GetDeletionTimestamp() != nil {
		return nil, false
	}
	w := &Wish{ID: id, Object: o, asked: map[origin]bool{}}
	unheld(o, w)
	switch o := o.(type) {
	case *corev1.Service:
		v.service(o, w)
	case *networkingv1.Ingress:
		v.ingress(o, w)
	case *gatewayv1.Gateway:
		v.gateway(o, w)
	case *corev1.Node:
		v.node(o, w)
	case *externaldns.DNSEndpoint:
		dnsEndpoint(o, w)
	default:
		v.route(routeOf(o), w)
	}
	w.narrow(v.takesTarget)
	return w, true
}

// All returns the sources.
func (v *Inventory) All() []zone.ID {
	out := make([]zone.ID, 0, len(v.sources))
	for id := range v.sources {
		out = append(out, id)
	}
	return out
}

// Object returns a source.
func (v *Inventory) Object(id zone.ID) metav1.Object { return v.sources[id] }

func (v *Inventory) put(o metav1.Object) []zone.ID {
	id, is := v.IDOf(o)
	if !is {
		return nil
	}
	v.sources[id] = o
	return []zone.ID{id}
}

func (v *Inventory) remove(o metav1.Object) []zone.ID {
	id, is := v.IDOf(o)
	if !is {
		return nil
	}
	delete(v.sources, id)
	return []zone.ID{id}
}

// IDOf names an object in the core. It is false of what asks for no names.
func (v *Inventory) IDOf(o metav1.Object) (zone.ID, bool) {
	kind := KindOf(o).Kind
	id := zone.ID{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	if kind == "Node" {
		id.Namespace = v.NodeNamespace
	}
	return id, kind != ""
}

// KindOf returns the kind of an object that asks for names, which what comes from a cache does not say.
func KindOf(o metav1.Object) schema.GroupVersionKind {
	of := schema.GroupVersion{Group: gatewayv1.GroupName, Version: "v1"}.WithKind
	switch o.(type) {
	case *corev1.Service:
		return corev1.SchemeGroupVersion.WithKind("Service")
	case *corev1.Node:
		return corev1.SchemeGroupVersion.WithKind("Node")
	case *networkingv1.Ingress:
		return networkingv1.SchemeGroupVersion.WithKind("Ingress")
	case *externaldns.DNSEndpoint:
		return externaldns.GroupVersion.WithKind("DNSEndpoint")
	case *gatewayv1.Gateway:
		return of("Gateway")
	case *gatewayv1.HTTPRoute:
		return of("HTTPRoute")
	case *gatewayv1.GRPCRoute:
		return of("GRPCRoute")
	case *gatewayv1.TLSRoute:
		return of("TLSRoute")
	case *gatewayv1.TCPRoute:
		return of("TCPRoute")
	case *gatewayv1.UDPRoute:
		return of("UDPRoute")
	}
	return schema.GroupVersionKind{}
}

// known returns the ID if there is such a source.
func (v *Inventory) known(id zone.ID) []zone.ID {
	if v.sources[id] == nil {
		return nil
	}
	return []zone.ID{id}
}

// routes returns the sources that may be attached to Gateways.
func (v *Inventory) routes() (out []zone.ID) {
	for id, o := range v.sources {
		if routeOf(o) != nil {
			out = append(out, id)
		}
	}
	return out
}

// onNodes returns the Services that are reached at addresses of nodes.
func (v *Inventory) onNodes() (out []zone.ID) {
	for id, o := range v.sources {
		s, is := o.(*corev1.Service)
		if is && (s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.ClusterIP == corev1.ClusterIPNone) {
			out = append(out, id)
		}
	}
	return out
}

// sameGateway and sameNode report whether nothing has changed that decides about names: controllers write their
// statuses all the time.
func sameGateway(a, b *gatewayv1.Gateway) bool {
	return sameMeta(a, b) && reflect.DeepEqual(a.Spec, b.Spec) && reflect.DeepEqual(a.Status.Addresses, b.Status.Addresses)
}

func sameNode(a, b *corev1.Node) bool {
	return sameMeta(a, b) && a.Spec.Unschedulable == b.Spec.Unschedulable &&
		reflect.DeepEqual(a.Status.Addresses, b.Status.Addresses)
}

func sameMeta(a, b metav1.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		reflect.DeepEqual(a.GetLabels(), b.GetLabels()) && reflect.DeepEqual(a.GetAnnotations(), b.GetAnnotations())
}
