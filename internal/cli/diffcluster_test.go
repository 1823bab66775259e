package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testcluster"
)

// diffTenants are two namespaces with a Zone each at one Backend, and who may see what: diff-admin all that diff needs,
// diff-tenant the objects of a namespace.
const diffTenants = `apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: diff-bind}
spec:
  mode: Observe
  rfc2136:
    servers: [%q]
    tsig: {keyName: import-key, secretRef: {name: diff-key, namespace: diff-admins, key: tsig}}
---
apiVersion: v1
kind: Secret
metadata: {name: diff-key, namespace: diff-admins}
stringData: {tsig: %q}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: example, namespace: diff-admins}
spec:
  domainName: diff.example.
  ttl: 300
  refresh: 7200
  retry: 900
  expire: 1209600
  negativeResponseCache: 300
  mname: ns1.diff.example.
  delegations: [{namespaces: [diff-admins], records: [{pattern: "*"}]}]
  backendRefs: [{name: diff-bind}]
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: same, namespace: diff-admins}
spec: {domainName: same.diff.example., type: A, rdata: 192.0.2.1}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: tenant, namespace: diff-tenants}
spec: {domainName: tenant.example., backendRefs: [{name: diff-bind}]}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: DNSZone
metadata: {name: fleet, namespace: diff-tenants}
spec: {zoneName: diff-fleet.example, soa: {primaryNameServer: ns.example.net, adminEmail: admin@example.net}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: diff-admin}
rules:
- {apiGroups: [kubi.zone], resources: [zones, records], verbs: [get, list]}
- {apiGroups: [zonefold.dev], resources: [backends, zoneslices], verbs: [get, list]}
- {apiGroups: [""], resources: [secrets], resourceNames: [diff-key], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: diff-admin}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: diff-admin}
subjects: [{kind: User, name: diff-admin}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: diff-tenant, namespace: diff-tenants}
rules:
- {apiGroups: [kubi.zone], resources: [zones, records], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: diff-tenant, namespace: diff-tenants}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: diff-tenant}
subjects: [{kind: User, name: diff-tenant}]
`

// TestDiffHasTheRightsOfWhoAsks compares by the objects of a cluster: with the rights for it, and with those of a
// tenant, who learns of its own objects alone.
func TestDiffHasTheRightsOfWhoAsks(t *testing.T) {
	cluster := testcluster.ForTest(t)
	bind, _ := bothServers(t, "diff.example.", strings.ReplaceAll(diffZone, "example.org.", "diff.example."))
	apply := func(text string) {
		t.Helper()
		if said, err := cluster.RunKubectlInput(t.Context(), strings.NewReader(text), "apply", "-f", "-"); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	apply("{apiVersion: v1, kind: Namespace, metadata: {name: diff-admins}}\n---\n" +
		"{apiVersion: v1, kind: Namespace, metadata: {name: diff-tenants}}\n")
	apply(fmt.Sprintf(diffTenants, bind.Addr(), keySecret))
	diff := func(as string, args ...string) (int, string) {
		args = append([]string{"diff", "--kubeconfig", cluster.Kubeconfig(), "--as", as}, args...)
		code, out, said := run(t, args...)
		return code, out + said
	}

	code, said := diff("diff-admin", "diff.example", "-n", "diff-admins")
	for _, line := range []string{
		"diff.example. (Zone diff-admins/example) at Backend diff-bind Observe, dns " + bind.Addr() +
			", serial 7: no difference\n",
		"\n  = old.diff.example. 60 IN A 192.0.2.3\n", // foreign: Keep is the default
		"\n1 zone compared, 0 with differences: 0 sets to add",
	} {
		if code != 0 || !strings.Contains(said, line) {
			t.Errorf("it exits with %d, and lacks %q:\n%s", code, line, said)
		}
	}
	written := `{"status": {"serial": 7,
		"entries": [{"fqdn": "old.diff.example.", "type": "A", "class": "IN", "ttl": 60, "rdata": "192.0.2.3"}]}}`
	if said, err := cluster.RunKubectl(t.Context(), "patch", "zone.kubi.zone", "example", "-n", "diff-admins",
		"--subresource=status", "--type=merge", "-p", written); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	const deleted = "\n  - old.diff.example. 60 IN A 192.0.2.3\n"
	const unread = "\nNot seen: Services, Ingresses, routes and the like are not read; add --sources.\n"
	if code, said := diff("diff-admin", "diff.example", "-n", "diff-admins"); code != 2 ||
		!strings.Contains(said, deleted) || !strings.Contains(said, unread) {
		t.Errorf("of a set that a source may ask for: it exits with %d:\n%s", code, said)
	}
	if code, said := diff("diff-admin", "diff.example", "-n", "diff-admins", "--sources"); code != 2 ||
		!strings.Contains(said, deleted) || strings.Contains(said, unread) {
		t.Errorf("of a set that no source asks for: it exits with %d:\n%s", code, said)
	}
	if code, said := diff("diff-admin", "-n", "diff-admins"); code == 0 ||
		!strings.Contains(said, "tenant.example. (Zone diff-tenants/tenant) at Backend diff-bind Observe, dns "+bind.Addr()+
			": the server has no such zone\n") {
		t.Errorf("of all zones: it exits with %d:\n%s", code, said)
	}

	code, out, said := run(t, "diff", "diff-fleet.example", "--kubeconfig", cluster.Kubeconfig())
	if want := "diff-fleet.example. (DNSZone diff-tenants/fleet) could not be compared: its servers are those of a " +
		"fleet, which the operator could read for you, but the cluster does not offer inspect.zonefold.dev, which " +
		"inspect.enabled of the chart turns on; or name a server to transfer the zone from with --server, and its key with " +
		"--tsig\n"; code != 1 || !strings.Contains(out, want) {
		t.Errorf("of a fleet's zone, it exits with %d:\n%s%s", code, out, said)
	}
	if code, said = diff("diff-nobody", "-n", "diff-tenants"); code != 1 ||
		!strings.Contains(said, "error: no zone is visible; ask for the right to list zones") {
		t.Errorf("who may see nothing: it exits with %d:\n%s", code, said)
	}
	code, said = diff("diff-tenant", "-n", "diff-tenants")
	for _, line := range []string{
		"tenant.example. (Zone diff-tenants/tenant) at Backend diff-bind could not be compared: the Backend diff-bind does " +
			"not exist, as far as you may see: You may not list backends.\n",
		"Not seen: You may not list zones and records in namespaces other than diff-tenants.\n",
	} {
		if code != 1 || !strings.Contains(said, line) || strings.Contains(said, "diff-admins") ||
			strings.Contains(said, "diff.example") {
			t.Errorf("it exits with %d, and lacks %q or tells too much:\n%s", code, line, said)
		}
	}
}
