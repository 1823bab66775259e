package sources

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// serviceOf names the Service that an EndpointSlice belongs to.
func serviceOf(s *discoveryv1.EndpointSlice) zone.ID {
	return zone.ID{Kind: "Service", Namespace: s.Namespace, Name: s.Labels[discoveryv1.LabelServiceName]}
}

func (v *Inventory) service(s *corev1.Service, w *Wish) {
	if !v.takesType(s.Spec.Type) {
		return
	}
	ttl := ttlOf(s, w)
	var names, internal []string
	if !v.IgnoreHostnames {
		names, internal = wordsOf(s, hostnameKey), wordsOf(s, internalHostnameKey)
	}
	if v.Combine || len(names)+len(internal) == 0 {
		names = append(names, v.Template.names(s, KindOf(s), w)...)
	}
	for _, host := range unique(names) {
		v.serve(s, w, host, false, ttl)
	}
	for _, host := range unique(internal) {
		v.serve(s, w, host, true, ttl)
	}
}

// serve has a Service ask for a name; cluster: at its cluster IP.
func (v *Inventory) serve(s *corev1.Service, w *Wish, host string, cluster bool, ttl *uint32) {
	at := origin{host: host}
	if targets := targetsOf(s); len(targets) > 0 {
		w.ask(at, targets, ttl)
		return
	}
	headless := s.Spec.ClusterIP == corev1.ClusterIPNone
	switch s.Spec.Type {
	case corev1.ServiceTypeLoadBalancer:
		if cluster {
			w.ask(at, clusterIP(s), ttl)
		} else {
			w.ask(at, balanced(s), ttl)
		}
	case corev1.ServiceTypeNodePort:
		w.ask(at, v.nodeTargets(s), ttl)
		for _, port := range s.Spec.Ports {
			if port.NodePort > 0 { // RFC 2782
				protocol := strings.ToLower(cmp.Or(string(port.Protocol), "tcp"))
				w.add(Endpoint{Host: fmt.Sprintf("_%s._%s.%s", s.Name, protocol, host), Type: rr.TypeSRV, TTL: ttl,
					Targets: []string{fmt.Sprintf("0 50 %d %s.", port.NodePort, host)}})
			}
		}
	case corev1.ServiceTypeExternalName:
		if w.ask(at, s.Spec.ExternalIPs, ttl); len(s.Spec.ExternalIPs) == 0 {
			w.ask(at, filled([]string{s.Spec.ExternalName}), ttl)
		}
	default:
		if headless {
			v.headless(s, w, host, ttl)
		} else if cluster || v.PublishInternal {
			w.ask(at, clusterIP(s), ttl)
		}
	}
}

func clusterIP(s *corev1.Service) []string {
	if s.Spec.ClusterIP == "" || s.Spec.ClusterIP == corev1.ClusterIPNone {
		return nil
	}
	return []string{s.Spec.ClusterIP}
}

// balanced returns where the load balancer of a Service is.
func balanced(s *corev1.Service) []string {
	if len(s.Spec.ExternalIPs) > 0 {
		return s.Spec.ExternalIPs
	}
	var out []string
	for _, in := range s.Status.LoadBalancer.Ingress {
		out = append(out, in.IP, in.Hostname)
	}
	return filled(out)
}

// filled returns the texts that are not empty.
func filled(list []string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// nodeTargets returns the addresses of the nodes at whose ports a Service is reached.
func (v *Inventory) nodeTargets(s *corev1.Service) []string {
	names := slices.Sorted(maps.Keys(v.nodes))
	if s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
		names = v.nodesWith(s)
	}
	var external, internal, six []string
	for _, name := range names {
		if n := v.nodes[name]; n != nil && (v.Unschedulable || !n.Spec.Unschedulable) {
			e, i, s := addresses(n)
			external, internal, six = append(external, e...), append(internal, i...), append(six, s...)
		}
	}
	switch access, _ := annotated(s, accessKey); {
	case access == "private", access != "public" && len(external) == 0:
		return internal
	case v.InternalIPv6:
		return append(external, six...)
	}
	return external
}

// addresses returns those of a node: external ones, internal ones, and of these the ones of IPv6.
func addresses(n *corev1.Node) (external, internal, six []string) {
	for _, a := range n.Status.Addresses {
		switch a.Type {
		case corev1.NodeExternalIP:
			external = append(external, a.Address)
		case corev1.NodeInternalIP:
			if internal = append(internal, a.Address); typeOf(a.Address) == rr.TypeAAAA {
				six = append(six, a.Address)
			}
		}
	}
	return external, internal, six
}

// nodesWith returns the nodes that have the best endpoints of a Service: ready ones, else those that still serve, else
// any.
func (v *Inventory) nodesWith(s *corev1.Service) []string {
	rank := map[string]int{}
	best := 0
	v.eachEndpoint(s, func(_ *discoveryv1.EndpointSlice, e *discoveryv1.Endpoint) {
		if e.NodeName == nil {
			return
		}
		at := 1
		switch {
		case isTrue(e.Conditions.Ready):
			at = 3
		case e.Conditions.Serving != nil && *e.Conditions.Serving:
			at = 2
		}
		rank[*e.NodeName], best = max(rank[*e.NodeName], at), max(best, at)
	})
	var out []string
	for name, at := range rank {
		if at == best {
			out = append(out, name)
		}
	}
	return unique(out)
}

// isTrue reads a condition of an endpoint, which is true where it is not known.
func isTrue(b *bool) bool { return b == nil || *b }

// eachEndpoint visits the pods behind a Service.
func (v *Inventory) eachEndpoint(s *corev1.Service, visit func(*discoveryv1.EndpointSlice, *discoveryv1.Endpoint)) {
	all := v.slices[zone.ID{Kind: "Service", Namespace: s.Namespace, Name: s.Name}]
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for i := range all[name].Endpoints {
			if e := &all[name].Endpoints[i]; e.TargetRef != nil && e.TargetRef.Kind == "Pod" {
				visit(all[name], e)
			}
		}
	}
}

// headless has a Service ask for a name at its pods, and for one of each pod that has a host name.
func (v *Inventory) headless(s *corev1.Service, w *Wish, host string, ttl *uint32) {
	w.ask(origin{host: host}, nil, ttl)
	v.eachEndpoint(s, func(in *discoveryv1.EndpointSlice, e *discoveryv1.Endpoint) {
		if in.AddressType == discoveryv1.AddressTypeFQDN {
			return
		}
		var targets []string
		if isTrue(e.Conditions.Ready) || v.PublishNotReady || s.Spec.PublishNotReadyAddresses {
			targets = v.podTargets(s, e)
		}
		w.ask(origin{host: host}, targets, ttl)
		if e.Hostname != nil && *e.Hostname != "" {
			w.ask(origin{host: *e.Hostname + "." + host}, targets, ttl)
		}
	})
}

func (v *Inventory) podTargets(s *corev1.Service, e *discoveryv1.Endpoint) []string {
	how, _ := annotated(s, endpointsTypeKey)
	if how != nodeExternalIP && how != hostIP && !v.PublishHostIP {
		return e.Addresses[:min(len(e.Addresses), 1)]
	}
	if e.NodeName == nil || v.nodes[*e.NodeName] == nil {
		return nil
	}
	external, internal, six := addresses(v.nodes[*e.NodeName])
	switch {
	case how != nodeExternalIP:
		return internal[:min(len(internal), 1)]
	case v.InternalIPv6:
		return append(external, six...)
	}
	return external
}
