package sources

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	dialect "github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/rr"
)

// +kubebuilder:rbac:groups="",resources=services;nodes;namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get;list;watch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=get;list;watch
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=gateways;listenersets;httproutes;grpcroutes;tlsroutes;tcproutes;udproutes,verbs=get;list;watch
// +kubebuilder:rbac:groups=externaldns.k8s.io,resources=dnsendpoints,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=gateways.gateway.networking.k8s.io;listenersets.gateway.networking.k8s.io;httproutes.gateway.networking.k8s.io;grpcroutes.gateway.networking.k8s.io;tlsroutes.gateway.networking.k8s.io;tcproutes.gateway.networking.k8s.io;udproutes.gateway.networking.k8s.io;dnsendpoints.externaldns.k8s.io,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// kinds are what each source needs to be followed, by the names that external-dns gives to sources.
func kinds() map[string][]client.Object {
	routes := func(o client.Object) []client.Object {
		return []client.Object{o, &gatewayv1.Gateway{}, &gatewayv1.ListenerSet{}, &corev1.Namespace{}}
	}
	return map[string][]client.Object{
		"service":           {&corev1.Service{}, &discoveryv1.EndpointSlice{}, &corev1.Node{}},
		"ingress":           {&networkingv1.Ingress{}},
		"node":              {&corev1.Node{}},
		"crd":               {&externaldns.DNSEndpoint{}},
		"gateway":           {&gatewayv1.Gateway{}},
		"gateway-httproute": routes(&gatewayv1.HTTPRoute{}),
		"gateway-grpcroute": routes(&gatewayv1.GRPCRoute{}),
		"gateway-tlsroute":  routes(&gatewayv1.TLSRoute{}),
		"gateway-tcproute":  routes(&gatewayv1.TCPRoute{}),
		"gateway-udproute":  routes(&gatewayv1.UDPRoute{}),
	}
}

// Names are the names of all sources, in order.
func Names() []string {
	var out []string
	for name := range kinds() {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Objects are what some sources read from the cache, each kind once.
func Objects(names []string) []client.Object {
	var out []client.Object
	seen := map[string]bool{}
	for _, name := range names {
		for _, o := range kinds()[name] {
			if kind := fmt.Sprintf("%T", o); !seen[kind] {
				seen[kind] = true
				out = append(out, o)
			}
		}
	}
	return out
}

// sourceOf returns the source of a kind, and whether it is on: of some kinds others need to know, too.
func sourceOf(kind string, on []string) (string, bool) {
	for name, objects := range kinds() {
		if dialect.KindOf(objects[0]).Kind == kind {
			return name, slices.Contains(on, name)
		}
	}
	return "", false
}

// goType is how the kind of objects is called that are read in an earlier version, which a cache calls otherwise.
func goType(description string) string {
	if _, kind, earlier := strings.Cut(description, ", Kind="); earlier {
		return "*v1." + kind
	}
	return description
}

// needing returns those of the sources that are on which need a kind, by its Go type, such as "*v1.Service".
func needing(goType string, on []string) (names []string) {
	for _, name := range on {
		for _, o := range kinds()[name] {
			if fmt.Sprintf("%T", o) == goType && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// earlier are the versions of a kind that an API server may have which lacks the one that is read.
func earlier(o client.Object) (out []client.Object) {
	kind := dialect.KindOf(o)
	for _, version := range dialect.Earlier(resourceOf(o)) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: kind.Group, Version: version, Kind: kind.Kind})
		out = append(out, u)
	}
	return out
}

// resourceOf returns what an API server calls a kind that has a definition.
func resourceOf(o client.Object) string {
	return strings.ToLower(reflect.TypeOf(o).Elem().Name()) + "s"
}

// definitionOf returns the name of the CustomResourceDefinition of a kind, "" of Kubernetes' own.
func definitionOf(o client.Object) string {
	var group string
	switch reflect.TypeOf(o).Elem().PkgPath() {
	case reflect.TypeFor[gatewayv1.Gateway]().PkgPath():
		group = gatewayv1.GroupName
	case reflect.TypeFor[externaldns.DNSEndpoint]().PkgPath():
		group = externaldns.GroupVersion.Group
	default:
		return ""
	}
	return resourceOf(o) + "." + group
}

// mayHave returns the types of records that are published because of some sources, PTR records of their addresses
// among them.
func mayHave(sources []string) func(rr.Type) bool {
	types := []rr.Type{rr.TypeA, rr.TypeAAAA, rr.TypeCNAME, rr.TypePTR}
	if slices.Contains(sources, "service") {
		types = append(types, rr.TypeSRV)
	}
	all := slices.Contains(sources, "crd")
	return func(t rr.Type) bool { return len(sources) > 0 && (all || slices.Contains(types, t)) }
}
