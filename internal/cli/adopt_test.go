package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testcluster"
)

// adoptZone is a zone of which the external-dns "prod" has two sets that objects ask for, and one that none does.
const adoptZone = `adopt.example. 300 IN SOA ns1.adopt.example. hostmaster.adopt.example. 7 7200 900 1209600 300
adopt.example. 3600 IN NS ns1.adopt.example.
ns1.adopt.example. 300 IN A 192.0.2.53
www.adopt.example. 300 IN A 192.0.2.1
a-www.adopt.example. 300 IN TXT "heritage=external-dns,external-dns/owner=prod"
app.adopt.example. 300 IN A 192.0.2.3
a-app.adopt.example. 300 IN TXT "heritage=external-dns,external-dns/owner=prod"
old.adopt.example. 300 IN A 192.0.2.2
a-old.adopt.example. 300 IN TXT "heritage=external-dns,external-dns/owner=prod"
`

const adoptObjects = `apiVersion: v1
kind: Namespace
metadata: {name: adopt}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: adopt}
stringData: {tsig: %[2]q}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: adopt}
spec:
  registries: [{}]
  rfc2136:
    servers: [%[1]q]
    tsig: {keyName: import-key, secretRef: {name: key, namespace: adopt, key: tsig}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: example, namespace: adopt}
spec:
  domainName: adopt.example.
  ttl: 300
  refresh: 7200
  retry: 900
  expire: 1209600
  negativeResponseCache: 300
  mname: ns1.adopt.example.
  delegations: [{namespaces: [adopt], records: [{pattern: "*"}]}]
  backendRefs: [{name: adopt}]
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www, namespace: adopt}
spec: {domainName: www.adopt.example., type: A, rdata: 192.0.2.1}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: app
  namespace: adopt
  annotations: {external-dns.alpha.kubernetes.io/target: 192.0.2.3}
spec: {rules: [{host: app.adopt.example}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: adopt-reader}
rules:
- {apiGroups: [kubi.zone], resources: [zones, records], verbs: [get, list]}
- {apiGroups: [zonefold.dev], resources: [backends, zoneslices], verbs: [get, list]}
- {apiGroups: [""], resources: [secrets], resourceNames: [key], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: adopt-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: adopt-reader}
subjects: [{kind: User, name: adopt-reader}]
`

// TestAPlaceIsTakenAndGivenBack has a Backend take the place of an external-dns and give it back, step by step. Each is
// shown first, and taken by who may change Backends alone.
func TestAPlaceIsTakenAndGivenBack(t *testing.T) {
	cluster := testcluster.ForTest(t)
	bind, _ := bothServers(t, "adopt.example.", adoptZone)
	objects := fmt.Sprintf(adoptObjects, bind.Addr(), keySecret)
	if said, err := cluster.RunKubectlInput(t.Context(), strings.NewReader(objects), "apply", "-f", "-"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, c := range []struct {
		what string
		args []string
		code int
		says string
		spec string // registries and mode of the Backend afterwards
	}{
		{"a look at what taking it would do", []string{"adopt"}, 2,
			"  - a-www.adopt.example. 300 IN TXT \"heritage=external-dns,external-dns/owner=prod\"\n", `[{}] Sync`},
		{"what that comes to", []string{"adopt"}, 2,
			"Backend adopt: 2 sets of \"prod\" that objects ask for become zonefold's, 1 that no object asks for stay\n" +
				"Nothing is written yet; add --yes to do it.\n", `[{}] Sync`},
		{"what it comes to without what sources ask for", []string{"adopt", "--sources=false"}, 2,
			"Backend adopt: 1 set of \"prod\" that objects ask for become", `[{}] Sync`},
		{"what may not be seen", []string{"adopt", "--as", "adopt-reader"}, 2,
			"Not seen: You may not list ", `[{}] Sync`},
		{"taking it without the right", []string{"adopt", "--yes", "--as", "adopt-reader"}, 1,
			"backends.zonefold.dev \"adopt\" is forbidden", `[{}] Sync`},
		{"giving back what nobody took", []string{"disown", "--yes"}, 1, "have no entry with the owner \"prod\"", `[{}] Sync`},
		{"taking it", []string{"adopt", "--yes"}, 0, "become zonefold's", `[{"owner":"prod"}] Sync`},
		{"taking it again", []string{"adopt", "--yes"}, 0, "has already adopted \"prod\"", `[{"owner":"prod"}] Sync`},
		{"giving it back, the first step", []string{"disown", "--yes"}, 2, "the registry of \"prod\" is kept",
			`[{"owner":"prod","write":true}] Sync`},
		{"the second step", []string{"disown", "--yes"}, 0, "(mode: Observe); then start external-dns",
			`[{"owner":"prod","write":true}] Observe`},
		{"a step that there is not", []string{"disown"}, 0, "it only observes; start external-dns",
			`[{"owner":"prod","write":true}] Observe`},
	} {
		args := append(c.args, "adopt.example", "--external-dns-owner", "prod", "-n", "adopt", "--kubeconfig",
			cluster.Kubeconfig())
		code, out, said := run(t, args...)
		if code != c.code || !strings.Contains(out+said, c.says) {
			t.Errorf("%s: it exits with %d, and does not say %q:\n%s%s", c.what, code, c.says, out, said)
		}
		spec, err := cluster.RunKubectl(t.Context(), "get", "backend", "adopt", "-o",
			"jsonpath={.spec.registries} {.spec.mode}")
		if err != nil || strings.TrimSpace(spec) != c.spec {
			t.Fatalf("%s: the Backend has %s, %v, not %s", c.what, spec, err, c.spec)
		}
	}
}
