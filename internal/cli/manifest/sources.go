package manifest

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	kjson "sigs.k8s.io/json"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
)

// sourceKinds are the kinds of objects that ask for names by what they are there for, and those that say at which
// addresses. All but DNSEndpoint are others' to judge.
func sourceKinds() []kind {
	of := func(apiVersion, name string, cluster bool, empty func() kubernetesObject) kind {
		k := newKind(apiVersion, name, cluster, func(text []byte, o *Object) (metav1.Object, []error, error) {
			v := empty()
			err := kjson.UnmarshalCaseSensitivePreserveInts(text, v)
			if err == nil {
				o.Source = v
			}
			return v, nil, err
		})
		k.foreign = true
		return k
	}
	out := []kind{
		of("v1", "Service", false, func() kubernetesObject { return &corev1.Service{} }),
		of("v1", "Node", true, func() kubernetesObject { return &corev1.Node{} }),
		of("discovery.k8s.io/v1", "EndpointSlice", false, func() kubernetesObject { return &discoveryv1.EndpointSlice{} }),
		of("networking.k8s.io/v1", "Ingress", false, func() kubernetesObject { return &networkingv1.Ingress{} }),
		of(externaldns.GroupVersion.String(), "DNSEndpoint", false,
			func() kubernetesObject { return &externaldns.DNSEndpoint{} }),
	}
	for name, empty := range map[string]func() kubernetesObject{
		"Gateway":     func() kubernetesObject { return &gatewayv1.Gateway{} },
		"ListenerSet": func() kubernetesObject { return &gatewayv1.ListenerSet{} },
		"HTTPRoute":   func() kubernetesObject { return &gatewayv1.HTTPRoute{} },
		"GRPCRoute":   func() kubernetesObject { return &gatewayv1.GRPCRoute{} },
		"TLSRoute":    func() kubernetesObject { return &gatewayv1.TLSRoute{} },
		"TCPRoute":    func() kubernetesObject { return &gatewayv1.TCPRoute{} },
		"UDPRoute":    func() kubernetesObject { return &gatewayv1.UDPRoute{} },
	} {
		for _, version := range []string{"v1", "v1beta1", "v1alpha3", "v1alpha2"} { // with the same fields
			out = append(out, of(gatewayv1.GroupName+"/"+version, name, false, empty))
		}
	}
	return out
}
