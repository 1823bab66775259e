package cli_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testcluster"
)

const findObjects = `apiVersion: v1
kind: Namespace
metadata: {name: find}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: both, namespace: find}
spec: {domainName: one.find.example.}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: DNSZone
metadata: {name: both, namespace: find}
spec: {zoneName: two.find.example, soa: {primaryNameServer: ns.example.net, adminEmail: admin@example.net}}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: DNSZone
metadata: {name: alone, namespace: find}
spec: {zoneName: one.find.example, soa: {primaryNameServer: ns.example.net, adminEmail: admin@example.net}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: find, namespace: find}
rules:
- {apiGroups: [kubi.zone], resources: [zones], verbs: [get, list, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: find, namespace: find}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: find}
subjects: [{kind: User, name: find}]
`

// TestAZoneOfEitherKindIsFound freezes Zones and DNSZones by all that they can be called, and waits for no operator.
func TestAZoneOfEitherKindIsFound(t *testing.T) {
	cluster := testcluster.ForTest(t)
	if said, err := cluster.RunKubectlInput(t.Context(), strings.NewReader(findObjects), "apply", "-f", "-"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	frozen := func() string {
		said, err := cluster.RunKubectl(t.Context(), "get", "-n", "find", "zones.kubi.zone,dnszones.bindy.firestoned.io",
			"-o", `jsonpath={range .items[?(@.metadata.annotations.zonefold\.dev/freeze)]}{.kind}/{.metadata.name} {end}`)
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		return strings.TrimSpace(said)
	}
	for _, c := range []struct {
		what   string
		args   []string
		frozen string // "": it fails
		says   string
	}{
		{"a domain name of one kind", []string{"two.find.example"}, "DNSZone/both", ""},
		{"a domain name of both kinds", []string{"one.find.example"}, "",
			"one.find.example. is the name of Zone find/both and of DNSZone find/alone"},
		{"an object of one kind", []string{"find/alone"}, "DNSZone/alone", ""},
		{"objects of both kinds", []string{"find/both"}, "",
			"there are Zone find/both and DNSZone find/both; put zone/ or dnszone/ before the name"},
		{"one of them by its kind", []string{"zone/find/both"}, "Zone/both", ""},
		{"the other one by its kind", []string{"dnszones/find/both"}, "DNSZone/both", ""},
		{"what is not there", []string{"find/nowhere"}, "", "no Zone or DNSZone is called find/nowhere"},
		{"a kind that has no zones", []string{"record/find/both"}, "", "no Zone or DNSZone is called record/find/both"},
		{"a name that nobody has", []string{"nowhere.example"}, "", "no Zone or DNSZone nowhere.example."},
		{"who may see one kind", []string{"find/both", "--as", "find"}, "Zone/both", ""},
		{"who may see one kind, by its domain name", []string{"one.find.example", "--as", "find", "-n", "find"}, "Zone/both",
			""},
		{"who may see one kind, of the other", []string{"find/alone", "--as", "find"}, "", "DNSZones cannot be read"},
	} {
		args := append([]string{"freeze", "--timeout", "0", "--kubeconfig", cluster.Kubeconfig()}, c.args...)
		code, _, said := run(t, args...)
		if got := frozen(); got != c.frozen || (code == 0) != (c.frozen != "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: it exits with %d, and %q is frozen: %s", c.what, code, got, said)
		}
		for object := range strings.FieldsSeq(c.frozen) {
			kind, name, _ := strings.Cut(object, "/")
			args := []string{"thaw", "--timeout", "0", "--kubeconfig", cluster.Kubeconfig(), kind + "/find/" + name}
			if code, _, said := run(t, args...); code != 0 || frozen() != "" {
				t.Errorf("%s: thaw exits with %d, and %q is frozen: %s", c.what, code, frozen(), said)
			}
		}
	}
	if said, err := cluster.RunKubectl(t.Context(), "patch", "dnszone.bindy.firestoned.io/alone", "-n", "find",
		"--subresource", "status", "--type", "merge", "-p", `{"status":{"serial":1}}`); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	code, _, said := run(t, "freeze", "--timeout", "0", "--kubeconfig", cluster.Kubeconfig(), "one.find.example")
	if got := frozen(); code != 0 || got != "DNSZone/alone" {
		t.Errorf("of two, one of which is published: it exits with %d, and %q is frozen: %s", code, got, said)
	}
	approvesByEveryName(t, cluster)
}

// approvesByEveryName approves what is held of a zone, which it finds by all that it can be called.
func approvesByEveryName(t *testing.T, cluster *testcluster.Cluster) {
	t.Helper()
	if said, err := cluster.RunKubectl(t.Context(), "patch", "dnszone.bindy.firestoned.io/both", "-n", "find",
		"--subresource", "status", "--type", "merge", "-p",
		`{"status":{"held":{"plan":"p","sets":2,"examples":["www.two.find.example. A"]}}}`); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, c := range []struct {
		args []string
		says string // with {: the object; else why not
	}{
		{[]string{"two.find.example"}, `{"approved":[{"kind":"DNSZone","namespace":"find","name":"both","backend":"",` +
			`"plan":"p","sets":2,"examples":["www.two.find.example. A"]}]}`},
		{[]string{"dnszone/both", "-n", "find"}, `{"approved":[{"kind":"DNSZone"`},
		{[]string{"dnszone/find/both"}, `{"approved":[{"kind":"DNSZone"`},
		{[]string{"find/alone"}, `{"approved":[]}`},
		{[]string{"alone", "-n", "find"}, `{"approved":[]}`},
		{[]string{"both", "-n", "find"}, "write zone/both or dnszone/both"},
		{[]string{"nowhere"}, "there is no Zone and no DNSZone nowhere in namespace default"},
		{[]string{"nowhere.example"}, "no Zone or DNSZone nowhere.example."},
	} {
		args := append([]string{"approve", "-o", "json", "--kubeconfig", cluster.Kubeconfig()}, c.args...)
		code, out, said := run(t, args...)
		var text bytes.Buffer
		if code == 0 {
			if err := json.Compact(&text, []byte(out)); err != nil {
				t.Errorf("%v writes %s: %v", c.args, out, err)
			}
		}
		if got := text.String() + said; !strings.Contains(got, c.says) || (code == 0) != strings.HasPrefix(c.says, "{") {
			t.Errorf("%v exits with %d and says %s", c.args, code, got)
		}
	}
	code, out, said := run(t, "thaw", "--timeout", "0", "--kubeconfig", cluster.Kubeconfig(), "find/alone", "-o", "json")
	if !strings.Contains(out, `"kind": "DNSZone"`) || !strings.Contains(out, `"serial": 1`) || code != 0 {
		t.Errorf("thaw exits with %d and says %s%s", code, out, said)
	}
}
