package bindy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

func TestWhereAServerIsReached(t *testing.T) {
	const ready, other = `{status: {conditions: [{type: Ready, status: "True"}], hostIPs: [{ip: 192.0.2.7}, {ip: "2001:db8::7"}]}}`,
		`{status: {conditions: [{type: Ready, status: "False"}], hostIPs: [{ip: 192.0.2.8}]}}`
	before := []v1beta1.ServerAddress{{Type: v1beta1.AddressClusterIP, Address: "10.0.0.9"}, {Type: v1beta1.AddressNode, Address: "192.0.2.9"}}
	for _, c := range []struct {
		name, service string
		pods          []string
		want          string
	}{
		{"nothing is there yet", `{}`, nil, "Node 192.0.2.9"},
		{"both families of a Service", `{spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, "fd00::1"]}}`, []string{ready}, "ClusterIP 10.0.0.1, ClusterIP fd00::1, Node 192.0.2.7, Node 2001:db8::7"},
		{"a Service without an address", `{spec: {clusterIP: None, clusterIPs: [None]}}`, []string{ready}, "Node 192.0.2.7, Node 2001:db8::7"},
		{"a load balancer, by address and by name", `{spec: {type: LoadBalancer, clusterIPs: [10.0.0.1]}, status: {loadBalancer: {ingress: [{ip: "2001:db8::2"}, {ip: 192.0.2.2}, {hostname: lb.example}]}}}`, []string{ready},
			"ClusterIP 10.0.0.1, LoadBalancer 192.0.2.2, LoadBalancer 2001:db8::2, Node 192.0.2.7, Node 2001:db8::7"},
		{"what a Service of another type has left", `{spec: {type: NodePort}, status: {loadBalancer: {ingress: [{ip: 192.0.2.2}]}}}`, []string{ready}, "Node 192.0.2.7, Node 2001:db8::7"},
		{"two pods of one node", `{}`, []string{ready, ready, other}, "Node 192.0.2.7, Node 2001:db8::7"},
		{"no pod is ready any more", `{}`, []string{other}, "Node 192.0.2.9"},
	} {
		var service corev1.Service
		pods := make([]corev1.Pod, len(c.pods))
		if err := yaml.Unmarshal([]byte(c.service), &service); err != nil {
			t.Fatal(err)
		}
		for i := range pods {
			if err := yaml.Unmarshal([]byte(c.pods[i]), &pods[i]); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, a := range reachedAt(&service, pods, before) {
			got = append(got, string(a.Type)+" "+a.Address)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: it is reached at %s, want %s", c.name, text, c.want)
		}
	}
}

func TestNameServersGetAddressesOfTheTypesThatAZoneChooses(t *testing.T) {
	server := aServer("dns/main-primary-0", "main", "", "")
	server.Spec.Role, server.Status.ServiceAddress = v1beta1.RolePrimary, "10.0.0.1"
	server.Status.Addresses = []v1beta1.ServerAddress{
		{Type: "ClusterIP", Address: "10.0.0.1"}, {Type: "ClusterIP", Address: "fd00::1"}, {Type: "LoadBalancer", Address: "192.0.2.2"}, {Type: "Node", Address: "2001:db8::7"},
	}
	bare := aServer("dns/main-primary-0", "main", "", "")
	bare.Spec.Role, bare.Status.ServiceAddress = v1beta1.RolePrimary, "10.0.0.1"
	for _, c := range []struct {
		name, types string
		on          *v1beta1.Bind9Instance
		want        string
		warned      bool
	}{
		{"nothing is said", `null`, server, "10.0.0.1 fd00::1", false},
		{"nothing is said, and the status is of an operator before", `null`, bare, "10.0.0.1", false},
		{"load balancers", `[LoadBalancer]`, server, "192.0.2.2", false},
		{"nodes", `[Node]`, server, "2001:db8::7", false},
		{"load balancers and the Service", `[LoadBalancer, ClusterIP]`, server, "10.0.0.1 192.0.2.2 fd00::1", false},
		{"a load balancer that is not there yet", `[LoadBalancer]`, bare, "", true},
	} {
		z := zoneOf(t, `{zoneName: example.com, clusterRef: main, addressTypes: `+c.types+`, soa: {primaryNameServer: ns1.example.com, adminEmail: a.example.com}}`)
		fleet := fleetFor(z, []*v1beta1.Bind9Instance{c.on}, nil)
		if got := strings.Trim(fmt.Sprint(fleet.addresses), "[]"); got != c.want {
			t.Errorf("%s: name servers get %s, want %s", c.name, got, c.want)
		}
		notes := fleet.glueless(ZoneID("dns", "example"), z.Spec.AddressTypes)
		if (len(notes) == 1 && notes[0].Reason == v1beta1.ReasonNoAddress) != c.warned {
			t.Errorf("%s: warned is %v", c.name, notes)
		}
	}
}

// TestAServerTellsWhereItIsReached has a Service of both families get a load balancer.
func TestAServerTellsWhereItIsReached(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.kubelet(a, everyPod)
	s.apply(instanceManifest, a, "ns", `role: Primary, bindcarConfig: {serviceSpec: {type: LoadBalancer, externalTrafficPolicy: Local}}`)
	s.isInstance(a, "ns", "True", "AllReady")
	service := &corev1.Service{ObjectMeta: named(a, "ns")}
	s.has(service)
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.2"}, {IP: "2001:db8::2"}}
	if err := s.live.Status().Update(s.ctx, service); err != nil {
		t.Fatal(err)
	}
	want := []v1beta1.ServerAddress{{Type: "ClusterIP", Address: service.Spec.ClusterIP}, {Type: "LoadBalancer", Address: "192.0.2.2"}, {Type: "LoadBalancer", Address: "2001:db8::2"}}
	s.eventually("the addresses of the server", func() string {
		if got := s.instance(a, "ns").Status.Addresses; !slices.Equal(got, want) {
			return fmt.Sprintf("they are %v, want %v", got, want)
		}
		return ""
	})
}
