package cli_test

import (
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testcluster"
)

const completeObjects = `apiVersion: v1
kind: Namespace
metadata: {name: complete-one}
---
apiVersion: v1
kind: Namespace
metadata: {name: complete-two}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: one, namespace: complete-one}
spec: {domainName: complete-one.example.}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: two, namespace: complete-two}
spec: {domainName: complete-two.example.}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: DNSZone
metadata: {name: three, namespace: complete-two}
spec: {zoneName: complete-three.example, soa: {primaryNameServer: ns.example.net, adminEmail: admin@example.net}}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www, namespace: complete-two}
spec: {domainName: www.complete-two.example., type: A, rdata: 192.0.2.1}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: complete-bind}
spec: {rfc2136: {servers: ["192.0.2.53"]}}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: ARecord
metadata: {name: host, namespace: complete-two}
spec: {name: host, ipv4Addresses: [192.0.2.1]}
---
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSRecord
metadata: {name: lab, namespace: complete-two}
spec: {dnsClassRef: {name: none}, type: A, domain: lab.example, subdomain: www, values: [192.0.2.1]}
---
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: complete-two}
spec: {ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: complete-two}
spec: {defaultBackend: {service: {name: shop, port: {number: 80}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: complete, namespace: complete-two}
rules:
- {apiGroups: [kubi.zone], resources: [zones], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: complete, namespace: complete-two}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: complete}
subjects: [{kind: User, name: complete-two}]
`

// TestNamesOfZonesAreCompleted completes names with the rights of who asks. Of what they may not see they are told
// nothing.
func TestNamesOfZonesAreCompleted(t *testing.T) {
	cluster := testcluster.ForTest(t)
	if said, err := cluster.RunKubectlInput(t.Context(), strings.NewReader(completeObjects), "apply", "-f",
		"-"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for namespace, name := range map[string]string{"complete-one": "one", "complete-two": "two"} {
		if said, err := cluster.RunKubectl(t.Context(), "patch", "zone.kubi.zone/"+name, "-n", namespace, "--subresource",
			"status", "--type", "merge", "-p", `{"status":{"fqdn":"`+namespace+`.example."}}`); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	const one, two = "complete-one.example\tZone complete-one/one\n", "complete-two.example\tZone complete-two/two\n"
	const three = "complete-three.example\tDNSZone complete-two/three\n"
	for _, c := range []struct {
		what string
		args []string
		want string
	}{
		{"all", []string{"diff", "complete-"}, one + three + two},
		{"of another command", []string{"adopt", "complete-o"}, one},
		{"to freeze one", []string{"freeze", "complete-o"}, one},
		{"to see its history", []string{"history", "complete-o"}, one},
		{"to roll one back", []string{"rollback", "complete-o"}, one},
		{"to thaw a DNSZone", []string{"thaw", "complete-th"}, three},
		{"to export one", []string{"export", "complete-t"}, three + two},
		{"to approve deletions, by the name of the object", []string{"approve", "-n", "complete-two", "t"},
			"three\tDNSZone complete-two/three\ntwo\tZone complete-two/two\n"},
		{"to approve those of a kind", []string{"approve", "-n", "complete-two", "dnszone/"}, "dnszone/three\n"},
		{"to blame a change of one", []string{"blame", "complete-th"}, three},
		{"to explain one", []string{"explain", "complete-o"}, one},
		{"an object", []string{"explain", "-n", "complete-two", "zone/t"}, "zone/two\n"},
		{"a DNSZone", []string{"explain", "-n", "complete-two", "dnszone/t"}, "dnszone/three\n"},
		{"a Record", []string{"explain", "-n", "complete-two", "record/"}, "record/www\n"},
		{"an ARecord", []string{"explain", "-n", "complete-two", "arecord/h"}, "arecord/host\n"},
		{"a DNSRecord of either group", []string{"explain", "-n", "complete-two", "dnsrecords/"}, "dnsrecords/lab\n"},
		{"one of the group that is said",
			[]string{"explain", "-n", "complete-two", "dnsrecord.dns.homelab.mortenolsen.pro/"},
			"dnsrecord.dns.homelab.mortenolsen.pro/lab\n"},
		{"none of another group", []string{"explain", "-n", "complete-two", "dnsrecord.extensions.gardener.cloud/"}, ""},
		{"a Service", []string{"explain", "-n", "complete-two", "service/s"}, "service/shop\n"},
		{"an Ingress", []string{"explain", "-n", "complete-two", "ingress/"}, "ingress/web\n"},
		{"a Backend to import from", []string{"import", "backend", "complete-"}, "complete-bind\n"},
		{"a Backend to compare", []string{"diff", "complete-one.example", "--backend", "complete-"}, "complete-bind\n"},
		{"a Backend to adopt at", []string{"adopt", "--backend", "complete-"}, "complete-bind\n"},
		{"a Zone to release", []string{"release", "-n", "complete-two", ""}, "two\tZone complete-two/two\n"},
		{"no object of a kind that one may not list",
			[]string{"explain", "--as", "complete-two", "-n", "complete-two", "arecord/"}, ""},
		{"no object that one may not list", []string{"explain", "--as", "complete-two", "-n", "complete-one", "zone/"}, ""},
		{"what a tenant may see", []string{"diff", "--as", "complete-two", "-n", "complete-two", ""}, two},
		{"nothing where there is a name", []string{"export", "complete-one.example", ""}, ""},
		{"nothing without a cluster", []string{"diff", "--kubeconfig", "/nowhere", ""}, ""},
	} {
		words := 1 // of the command
		if c.args[0] == "import" {
			words++
		}
		args := append([]string{"__complete"}, c.args[:words]...)
		args = append(append(args, "--kubeconfig", cluster.Kubeconfig()), c.args[words:]...)
		code, out, said := run(t, args...)
		if code != 0 || out != c.want+":4\n" {
			t.Errorf("%s: it exits with %d and writes %q: %s", c.what, code, out, said)
		}
	}
}
