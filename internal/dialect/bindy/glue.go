package bindy

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// ReachedAt are the addresses of a server: those of its Service, and those of the nodes of its ready pods. While no pod
// is ready, the nodes are those of before: name servers would have no address otherwise.
func ReachedAt(service *corev1.Service, pods []corev1.Pod, before []v1beta1.ServerAddress) []v1beta1.ServerAddress {
	found := map[v1beta1.AddressType][]string{v1beta1.AddressClusterIP: service.Spec.ClusterIPs}
	if service.Spec.Type == corev1.ServiceTypeLoadBalancer {
		for _, at := range service.Status.LoadBalancer.Ingress {
			found[v1beta1.AddressLoadBalancer] = append(found[v1beta1.AddressLoadBalancer], at.IP)
		}
	}
	for i := range pods {
		if p := &pods[i]; WasReady(p) && p.DeletionTimestamp.IsZero() {
			for _, at := range p.Status.HostIPs {
				found[v1beta1.AddressNode] = append(found[v1beta1.AddressNode], at.IP)
			}
		}
	}
	if len(found[v1beta1.AddressNode]) == 0 {
		for _, a := range before {
			if a.Type == v1beta1.AddressNode {
				found[v1beta1.AddressNode] = append(found[v1beta1.AddressNode], a.Address)
			}
		}
	}
	var out []v1beta1.ServerAddress
	for _, t := range []v1beta1.AddressType{v1beta1.AddressClusterIP, v1beta1.AddressLoadBalancer, v1beta1.AddressNode} {
		for _, ip := range parsed(found[t]) {
			out = append(out, v1beta1.ServerAddress{Type: t, Address: ip.String()})
		}
	}
	return out
}

// parsed are those texts that are addresses, in order and each once: a Service without one has None.
func parsed(texts []string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		if ip, err := netip.ParseAddr(text); err == nil {
			out = append(out, ip)
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}

// GlueFrom are the addresses of an instance that are of one of some types, of ClusterIP without any.
func GlueFrom(i *v1beta1.Bind9Instance, types []v1beta1.AddressType) []netip.Addr {
	if len(types) == 0 {
		types = []v1beta1.AddressType{v1beta1.AddressClusterIP}
	}
	var texts []string
	if slices.Contains(types, v1beta1.AddressClusterIP) {
		texts = append(texts, i.Status.ServiceAddress)
	}
	for _, a := range i.Status.Addresses {
		if slices.Contains(types, a.Type) {
			texts = append(texts, a.Address)
		}
	}
	return parsed(texts)
}

// Addresses are what name servers of a zone get that have none, by what the statuses of its instances say: addresses of
// the types that it wants, of instances that are not scaled to nothing.
func (f Fleet) Addresses(types []v1beta1.AddressType) []netip.Addr {
	var out []netip.Addr
	for _, i := range f.Instances {
		if i.Spec.ReplicasOrDefault() != 0 && f.May(i, v1beta1.UsageAddresses) {
			out = append(out, GlueFrom(i, types)...)
		}
	}
	return out
}
