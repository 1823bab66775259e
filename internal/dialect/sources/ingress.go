package sources

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
)

func (v *Inventory) ingress(in *networkingv1.Ingress, w *Wish) {
	if !v.takesIngressClass(in) {
		return
	}
	var defined, said []string
	if !v.IgnoreRules {
		for _, rule := range in.Spec.Rules {
			defined = append(defined, rule.Host)
		}
	}
	if !v.IgnoreTLS {
		for _, tls := range in.Spec.TLS {
			defined = append(defined, tls.Hosts...)
		}
	}
	if !v.IgnoreHostnames {
		said = wordsOf(in, hostnameKey)
	}
	if only, limited := annotated(in, ingressSourceKey); limited {
		switch strings.ToLower(only) {
		case definedHosts:
			said = nil
		case annotatedHosts:
			defined = nil
		default:
			w.note(InvalidAnnotation, "has the annotation %s with the value %q, so none of its names counts; write %s or %s",
				Prefix+ingressSourceKey, only, definedHosts, annotatedHosts)
			defined, said = nil, nil
		}
	}
	names := append(filled(defined), said...)
	if v.Combine || len(names) == 0 {
		names = append(names, v.Template.names(in, KindOf(in), w)...)
	}
	targets := targetsOf(in)
	if len(targets) == 0 {
		for _, at := range in.Status.LoadBalancer.Ingress {
			targets = append(targets, at.IP, at.Hostname)
		}
	}
	ttl := ttlOf(in, w)
	for _, host := range unique(names) {
		w.ask(origin{host: strings.TrimSuffix(host, ".")}, filled(targets), ttl)
	}
}

// takesIngressClass reports whether the class of an Ingress counts.
func (v *Inventory) takesIngressClass(in *networkingv1.Ingress) bool {
	class := in.Annotations[ingressClassKey]
	if name := in.Spec.IngressClassName; name != nil && *name != "" {
		class = *name
	}
	for _, want := range v.IngressClasses {
		if class == want {
			return true
		}
	}
	return len(v.IngressClasses) == 0
}
