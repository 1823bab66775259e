package bindy

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

func TestWhereAServerIsReached(t *testing.T) {
	const ready,
		other = `{status: {conditions: [{type: Ready, status: "True"}], hostIPs: [{ip: 192.0.2.7}, {ip: "2001:db8::7"}]}}`,
		`{status: {conditions: [{type: Ready, status: "False"}], hostIPs: [{ip: 192.0.2.8}]}}`
	before := []v1beta1.ServerAddress{{Type: v1beta1.AddressClusterIP, Address: "10.0.0.9"},
		{Type: v1beta1.AddressNode, Address: "192.0.2.9"}}
	for _, c := range []struct {
		name, service string
		pods          []string
		want          string
	}{
		{"nothing is there yet", `{}`, nil, "Node 192.0.2.9"},
		{"both families of a Service", `{spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, "fd00::1"]}}`, []string{ready},
			"ClusterIP 10.0.0.1, ClusterIP fd00::1, Node 192.0.2.7, Node 2001:db8::7"},
		{"a Service without an address", `{spec: {clusterIP: None, clusterIPs: [None]}}`, []string{ready},
			"Node 192.0.2.7, Node 2001:db8::7"},
		{"a load balancer, by address and by name",
			`{spec: {type: LoadBalancer, clusterIPs: [10.0.0.1]}, status: {loadBalancer: {ingress: [{ip: "2001:db8::2"}, {ip: 192.0.2.2}, {hostname: lb.example}]}}}`, []string{ready},
			"ClusterIP 10.0.0.1, LoadBalancer 192.0.2.2, LoadBalancer 2001:db8::2, Node 192.0.2.7, Node 2001:db8::7"},
		{"what a Service of another type has left",
			`{spec: {type: NodePort}, status: {loadBalancer: {ingress: [{ip: 192.0.2.2}]}}}`, []string{ready},
			"Node 192.0.2.7, Node 2001:db8::7"},
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
		for _, a := range ReachedAt(&service, pods, before) {
			got = append(got, string(a.Type)+" "+a.Address)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: it is reached at %s, want %s", c.name, text, c.want)
		}
	}
}
