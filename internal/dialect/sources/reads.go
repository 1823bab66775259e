package sources

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
)

// Reads are the resources that each source reads, by the names that external-dns gives to sources. Who may not list and
// watch one of them, or has an API server without it, cannot follow the source.
func Reads() map[string][]schema.GroupVersionResource {
	nodes := corev1.SchemeGroupVersion.WithResource("nodes")
	gateway := schema.GroupVersion(gatewayv1.GroupVersion)
	gateways := gateway.WithResource("gateways")
	routes := func(resource string) []schema.GroupVersionResource {
		return []schema.GroupVersionResource{gateway.WithResource(resource), gateways,
			gateway.WithResource("listenersets"), corev1.SchemeGroupVersion.WithResource("namespaces")}
	}
	return map[string][]schema.GroupVersionResource{
		"service": {corev1.SchemeGroupVersion.WithResource("services"),
			discoveryv1.SchemeGroupVersion.WithResource("endpointslices"), nodes},
		"ingress":           {networkingv1.SchemeGroupVersion.WithResource("ingresses")},
		"node":              {nodes},
		"crd":               {externaldns.GroupVersion.WithResource("dnsendpoints")},
		"gateway":           {gateways},
		"gateway-httproute": routes("httproutes"),
		"gateway-grpcroute": routes("grpcroutes"),
		"gateway-tlsroute":  routes("tlsroutes"),
		"gateway-tcproute":  routes("tcproutes"),
		"gateway-udproute":  routes("udproutes"),
	}
}

// Earlier are the versions of a resource that are read where the API server lacks the one in Reads: the fields are the
// same.
func Earlier(resource string) []string {
	switch resource {
	case "tlsroutes", "tcproutes", "udproutes": // the others are older
		return []string{"v1alpha3", "v1alpha2"}
	}
	return nil
}

// Optional reports whether nothing is missing where the API server does not know a resource and no object refers to
// one: the Gateway API had no ListenerSets before its version 1.5.
func Optional(resource string) bool { return resource == "listenersets" }
