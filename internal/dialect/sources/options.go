package sources

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// NodeNamespace is as which Nodes ask for names unless an installation says otherwise.
const NodeNamespace = "kube-system"

// Options are the choices of an installation, by the names and meanings of external-dns' flags.
type Options struct {
	Namespace   string          // whose objects count; "": all
	Labels      labels.Selector // of objects that count; nil: all
	Annotations labels.Selector // likewise, of their annotations
	Template    *Template       // of names; nil: none
	Combine     bool            // the names of the template count beside those of the object

	IgnoreHostnames bool // nobody is given names by annotations
	IgnoreTLS       bool // names in spec.tls of Ingresses do not count
	IgnoreRules     bool // names in spec.rules of Ingresses do not count
	IngressClasses  []string
	ServiceTypes    []corev1.ServiceType // none: all

	PublishInternal bool // Services with nothing but a cluster IP are published under it
	PublishHostIP   bool // headless Services are published under the addresses of nodes
	PublishNotReady bool // headless Services are published with endpoints that are not ready
	InternalIPv6    bool // internal IPv6 addresses of nodes count as external ones
	Unschedulable   bool // nodes that are cordoned count too

	GatewayName      string          // of Gateways that count; "": all
	GatewayNamespace string          // likewise
	GatewayLabels    labels.Selector // likewise; nil: all
	NodeNamespace    string          // as which Nodes ask for names; they are in none

	Networks    []netip.Prefix // of targets that count, all of which are addresses then; none: all targets
	NotNetworks []netip.Prefix // of addresses that do not count
}

// takes reports whether an object counts.
func (o *Options) takes(m metav1.Object) bool {
	return !others(m) && (o.Namespace == "" || m.GetNamespace() == "" || o.Namespace == m.GetNamespace()) &&
		selects(o.Labels, m.GetLabels()) && selects(o.Annotations, m.GetAnnotations())
}

// takesGateway reports whether routes of a Gateway count.
func (o *Options) takesGateway(m metav1.Object) bool {
	return !others(m) && (o.GatewayName == "" || o.GatewayName == m.GetName()) &&
		(o.GatewayNamespace == "" || o.GatewayNamespace == m.GetNamespace()) && selects(o.GatewayLabels, m.GetLabels())
}

func (o *Options) takesType(t corev1.ServiceType) bool {
	return len(o.ServiceTypes) == 0 || slices.Contains(o.ServiceTypes, t)
}

// takesTarget reports whether a target counts.
func (o *Options) takesTarget(target string) bool {
	at, err := netip.ParseAddr(target)
	has := func(p netip.Prefix) bool { return err == nil && p.Contains(at) }
	return (len(o.Networks) == 0 || slices.ContainsFunc(o.Networks, has)) && !slices.ContainsFunc(o.NotNetworks, has)
}

func selects(s labels.Selector, of map[string]string) bool {
	return s == nil || s.Matches(labels.Set(of))
}
