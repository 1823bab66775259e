package externaldns

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/zonefold/zonefold/internal/dialect/sources"
)

// Each configuration is asked about so many worlds: an object in a namespace of its own, with names of its own.
const (
	configurations = 20
	worlds         = 500
)

const prefix = sources.Prefix

// An author writes worlds.
type author struct {
	*rand.Rand
	objects []runtime.Object // of the fake cluster
	routes  []runtime.Object // of the fake cluster's Gateway API
	what    []metav1.Object  // objects that are compared
	nodes   []*corev1.Node
	kind    string // of routes
}

func (a *author) one(of ...string) string { return of[a.IntN(len(of))] }
func (a *author) some(n int) bool         { return a.IntN(n) == 0 }

func (a *author) address() string {
	return a.one("192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:db8::2", "lb.example.net",
		"other.example.net")
}

func (a *author) meta(i int) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: fmt.Sprintf("w%d", i), Name: a.one("web", "api"), Annotations: map[string]string{},
		Labels: map[string]string{"app": a.one("a", "b")}}
	if a.some(4) {
		m.Annotations[prefix+"ttl"] = a.one("60", "5m", "1h30m", "1.5m", "none", "0", "-1", "3000000000")
	}
	if a.some(6) {
		m.Annotations[prefix+"target"] = a.one("203.0.113.1", "203.0.113.1, 203.0.113.2", "alias.example.net.",
			"2001:db8::9")
	}
	if a.some(20) {
		m.Annotations[prefix+"controller"] = a.one("dns-controller", "another")
	}
	return m
}

func (a *author) hosts(i int) string {
	return a.one(fmt.Sprintf("h%d.example.org", i), fmt.Sprintf("h%d.example.org., g%d.example.org", i, i),
		fmt.Sprintf("H%d.Example.org", i), fmt.Sprintf("*.h%d.example.org", i),
		fmt.Sprintf(" h%d.example.org ,g%d.example.org", i, i), "")
}

func (a *author) add(o runtime.Object) { a.objects = append(a.objects, o) }

// makeNodes makes the nodes of a cluster.
func (a *author) makeNodes() {
	for i := range 5 {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Annotations: map[string]string{}},
			Spec: corev1.NodeSpec{Unschedulable: a.some(5)}}
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP,
			Address: fmt.Sprintf("10.0.0.%d", i)})
		if a.some(2) {
			n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP,
				Address: fmt.Sprintf("fd00::%d", i)})
		}
		if a.some(2) {
			n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeExternalIP,
				Address: fmt.Sprintf("198.51.100.%d", i)})
		}
		a.nodes = append(a.nodes, n)
		a.add(n)
	}
}

func (a *author) service(i int) {
	s := &corev1.Service{ObjectMeta: a.meta(i)}
	if hosts := a.hosts(i); hosts != "" {
		s.Annotations[prefix+"hostname"] = hosts
	}
	if a.some(4) {
		s.Annotations[prefix+"internal-hostname"] = fmt.Sprintf("in%d.example.org", i)
	}
	if a.some(3) {
		s.Annotations[prefix+"access"] = a.one("public", "private")
	}
	if a.some(3) {
		s.Annotations[prefix+"endpoints-type"] = a.one("NodeExternalIP", "HostIP")
	}
	s.Spec.ClusterIP = fmt.Sprintf("10.1.%d.%d", i/250, i%250)
	s.Spec.Selector = map[string]string{"of": s.Name}
	switch s.Spec.Type = corev1.ServiceType(a.one("LoadBalancer", "LoadBalancer", "NodePort", "ClusterIP", "ClusterIP",
		"ExternalName")); s.Spec.Type {
	case corev1.ServiceTypeClusterIP:
		if a.some(2) {
			s.Spec.ClusterIP = corev1.ClusterIPNone
			s.Spec.PublishNotReadyAddresses = a.some(3)
		}
	case corev1.ServiceTypeExternalName:
		s.Spec.ExternalName, s.Spec.ClusterIP = a.one("ext.example.net", "203.0.113.7"), ""
	case corev1.ServiceTypeNodePort:
		for p := range a.IntN(3) {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint(p), Port: 80, NodePort: int32(30000 + p),
				Protocol: corev1.Protocol(a.one("TCP", "UDP", ""))})
		}
		s.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicy(a.one("Local", "Cluster", ""))
	case corev1.ServiceTypeLoadBalancer:
		for range a.IntN(3) {
			in := corev1.LoadBalancerIngress{IP: a.address()}
			if _, err := netip.ParseAddr(in.IP); err != nil {
				in = corev1.LoadBalancerIngress{Hostname: in.IP}
			}
			s.Status.LoadBalancer.Ingress = append(s.Status.LoadBalancer.Ingress, in)
		}
	}
	if a.some(8) {
		s.Spec.ExternalIPs = []string{"203.0.113.99"}
	}
	a.pods(s)
	a.add(s)
	a.what = append(a.what, s)
}

// pods makes pods of a Service, and what the control plane makes of them.
func (a *author) pods(s *corev1.Service) {
	family, address := discoveryv1.AddressTypeIPv4, "10.2.0.%d"
	if a.some(3) {
		family, address = discoveryv1.AddressTypeIPv6, "2001:db8:2::%d"
	}
	slice := &discoveryv1.EndpointSlice{AddressType: family, ObjectMeta: metav1.ObjectMeta{
		Namespace: s.Namespace, Name: s.Name + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: s.Name}}}
	for i := range a.IntN(4) {
		node := a.nodes[a.IntN(len(a.nodes))]
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: fmt.Sprintf("p%d", i),
			Labels: s.Spec.Selector}, Spec: corev1.PodSpec{NodeName: node.Name}}
		p.Status.Phase, p.Status.HostIP = corev1.PodRunning, node.Status.Addresses[0].Address
		ready := !a.some(3)
		status := corev1.ConditionFalse
		if ready {
			status = corev1.ConditionTrue
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
		e := discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf(address, i+1)}, NodeName: &node.Name,
			Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &ready},
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: s.Namespace, Name: p.Name}}
		if a.some(2) {
			p.Spec.Hostname, p.Spec.Subdomain = p.Name, s.Name
			e.Hostname = &p.Spec.Hostname
		}
		if ready && s.Spec.ExternalTrafficPolicy == "Local" && a.some(5) { // it ends
			ending := true
			p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"example.org/f"}
			e.Conditions.Ready, e.Conditions.Terminating = new(bool), &ending
		}
		slice.Endpoints = append(slice.Endpoints, e)
		a.add(p)
	}
	a.add(slice)
}

func (a *author) ingress(i int) {
	in := &networkingv1.Ingress{ObjectMeta: a.meta(i)}
	if hosts := a.hosts(i); hosts != "" && a.some(2) {
		in.Annotations[prefix+"hostname"] = hosts
	}
	if a.some(5) {
		in.Annotations[prefix+"ingress-hostname-source"] = a.one("defined-hosts-only", "annotation-only",
			"Annotation-Only", "x")
	}
	switch a.IntN(3) {
	case 0:
		class := a.one("nginx", "haproxy")
		in.Spec.IngressClassName = &class
	case 1:
		in.Annotations["kubernetes.io/ingress.class"] = a.one("nginx", "haproxy")
	}
	for r := range a.IntN(3) {
		host := a.one("", fmt.Sprintf("r%d.w%d.example.org", r, i), fmt.Sprintf("h%d.example.org", i))
		in.Spec.Rules = append(in.Spec.Rules, networkingv1.IngressRule{Host: host})
	}
	for range a.IntN(2) {
		in.Spec.TLS = append(in.Spec.TLS, networkingv1.IngressTLS{Hosts: []string{fmt.Sprintf("t.w%d.example.org", i),
			fmt.Sprintf("h%d.example.org", i)}})
	}
	for range a.IntN(3) {
		at := networkingv1.IngressLoadBalancerIngress{IP: a.address()}
		if _, err := netip.ParseAddr(at.IP); err != nil {
			at = networkingv1.IngressLoadBalancerIngress{Hostname: at.IP}
		}
		in.Status.LoadBalancer.Ingress = append(in.Status.LoadBalancer.Ingress, at)
	}
	a.add(in)
	a.what = append(a.what, in)
}

func (a *author) node(i int) {
	n := &corev1.Node{ObjectMeta: a.meta(i), Spec: corev1.NodeSpec{Unschedulable: a.some(4)}}
	n.Namespace, n.Name = "", fmt.Sprintf("node%d.example.org", i)
	for range 1 + a.IntN(3) {
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{
			Type:    corev1.NodeAddressType(a.one("InternalIP", "ExternalIP", "InternalIP", "Hostname")),
			Address: a.one("198.51.100.1", "198.51.100.2", "10.0.0.1", "fd00::1", "2001:db8::5")})
	}
	if !slices.ContainsFunc(n.Status.Addresses, func(at corev1.NodeAddress) bool { return at.Type != "Hostname" }) {
		return // external-dns fails of it as a whole
	}
	a.add(n)
	a.what = append(a.what, n)
}
