package cli_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/internal/testcluster"
)

// doctorObjects are Zones at a server that has one of them, by the right key and a wrong one.
const doctorObjects = `apiVersion: v1
kind: Namespace
metadata: {name: doctor}
---
apiVersion: v1
kind: Namespace
metadata: {name: doctor-tenant}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: doctor}
stringData: {right: %[2]q, wrong: d3JvbmdzZWNyZXR3cm9uZ3NlY3JldHdyb25nc2VjcmV0MDE=}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: doctor-right}
spec:
  rfc2136:
    servers: [%[1]q]
    tsig: {keyName: import-key, secretRef: {name: keys, namespace: doctor, key: right}}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: doctor-wrong}
spec:
  rfc2136:
    servers: [%[1]q]
    tsig: {keyName: import-key, secretRef: {name: keys, namespace: doctor, key: wrong}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: there, namespace: doctor}
spec:
  domainName: doctor.example.
  delegations: [{namespaces: [doctor], records: [{pattern: "*"}, {pattern: "@"}]}]
  backendRefs: [{name: doctor-right}, {name: doctor-wrong}]
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: ns, namespace: doctor}
spec: {domainName: doctor.example., type: NS, rdata: ns1.doctor.example.}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: missing, namespace: doctor}
spec: {domainName: missing.example., backendRefs: [{name: doctor-right}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: zones, namespace: doctor}
spec: {hard: {count/records.kubi.zone: "10"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: zonefold}
webhooks:
- name: admission.kubi.zone
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {url: "https://127.0.0.1:1/", caBundle: %[3]s}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: doctor-tenant, namespace: doctor-tenant}
rules:
- {apiGroups: [kubi.zone], resources: [zones, records], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: doctor-tenant, namespace: doctor-tenant}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: doctor-tenant}
subjects: [{kind: User, name: doctor-tenant}]
`

// TestDoctorFindsWhatIsWrong breaks what doctor looks at, and has it look with the rights of an administrator and of
// a tenant.
func TestDoctorFindsWhatIsWrong(t *testing.T) {
	cluster := testcluster.ForTest(t)
	bind, _ := bothServers(t, "doctor.example.", strings.ReplaceAll(diffZone, "example.org.", "doctor.example."))
	objects := fmt.Sprintf(doctorObjects, bind.Addr(), keySecret, endedCertificate(t))
	if said, err := cluster.RunKubectlInput(t.Context(), strings.NewReader(objects), "apply", "-f", "-"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	t.Cleanup(func() { // it is that of the whole cluster, which other tests use
		if said, err := cluster.RunKubectlInput(context.WithoutCancel(t.Context()),
			strings.NewReader(objects), "delete", "--wait=false", "-f", "-"); err != nil {
			t.Logf("%v: %s", err, said)
		}
	})
	for _, patch := range [][]string{
		{"zone.kubi.zone/there", `{"status":{"backends":[{"name":"doctor-right","fqdn":"doctor.example.","serial":6}]}}`},
		{"backend/doctor-right", `{"status":{"leftBehind":[{"fqdn":"left.example.","uid":"u","namespace":"doctor",` +
			`"name":"left","since":"2026-01-01T00:00:00Z","reason":"TooManyDeletions","message":"It holds it.","plan":"p-u"}]}}`},
		{"zone.kubi.zone/missing", `{"status":{"conditions":[{"type":"DeletionsHeld","status":"True",` +
			`"reason":"TooManyDeletions","message":"Much is held.","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`},
		{"resourcequota/zones",
			`{"status":{"hard":{"count/records.kubi.zone":"10"},"used":{"count/records.kubi.zone":"9"}}}`},
	} {
		if said, err := cluster.RunKubectl(t.Context(), "patch", patch[0], "-n", "doctor", "--subresource",
			"status", "--type", "merge", "-p", patch[1]); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	look := func(want int, args ...string) []string {
		t.Helper()
		args = append([]string{"doctor", "--kubeconfig", cluster.Kubeconfig(), "-o", "json"}, args...)
		code, out, said := run(t, args...)
		var found struct {
			Findings []struct{ Severity, Object, Cause, Way string }
		}
		if err := json.Unmarshal([]byte(out), &found); err != nil || code != want || strings.Contains(out, keySecret) {
			t.Fatalf("it exits with %d: %v\n%s%s", code, err, out, said)
		}
		var lines []string
		for _, f := range found.Findings {
			lines = append(lines, f.Severity+": "+f.Object+": "+f.Cause+" > "+f.Way)
		}
		return lines
	}

	all := look(2, "--resolver", bind.Addr(), "-n", "doctor")
	server := ", dns " + bind.Addr()
	for _, want := range []string{
		"error: Lease zonefold-system/zonefold-operator: no operator holds the Lease",
		"error: ServiceAccount zonefold-system/zonefold-operator: it may not patch zones.kubi.zone/status > ",
		"warning: Zone doctor/there at Backend doctor-right" + server +
			": it has serial 7, but the status of the Zone has 6",
		"error: Zone doctor/there at Backend doctor-wrong" + server + ": reading zone doctor.example. from " + bind.Addr() +
			": BADSIG ",
		"error: Zone doctor/missing at Backend doctor-right" + server + ": ",
		"warning: Zone doctor/missing: Much is held. > restore their objects, or approve the deletion: zonefold approve " +
			"missing -n doctor",
		"warning: Backend doctor-right: it still has what Zone doctor/left, which is deleted, left behind of left.example." +
			": It holds it. > create a Zone that has these sets, or approve the deletion: zonefold approve " +
			"backend/doctor-right " +
			"--plan p-u",
		"error: ValidatingWebhookConfiguration zonefold, webhook admission.kubi.zone: a certificate in it ended at ",
		"warning: ResourceQuota doctor/zones: 9 of 10 of count/records.kubi.zone are used",
		"error: Zone doctor/missing, missing.example.: " + bind.Addr() + " answers REFUSED",
	} {
		if strings.Count(strings.Join(all, "\n"), want) != 1 {
			t.Errorf("it does not say once %q:\n%s", want, strings.Join(all, "\n"))
		}
	}
	for _, not := range []string{"CustomResourceDefinition", "your rights", "Zone doctor/there, doctor.example."} {
		if strings.Contains(strings.Join(all, "\n"), not) {
			t.Errorf("it says something of %s:\n%s", not, strings.Join(all, "\n"))
		}
	}

	few := look(1, "--as", "doctor-tenant", "-n", "doctor-tenant")
	for _, line := range few {
		if !strings.HasPrefix(line, "unknown: ") || strings.Contains(line, "doctor/") ||
			strings.Contains(line, bind.Addr()) {
			t.Errorf("a tenant is told %s", line)
		}
	}
	for _, want := range []string{"your rights: you may not list zones in all namespaces", "you may not get it"} {
		if !strings.Contains(strings.Join(few, "\n"), want) {
			t.Errorf("a tenant is not told %q:\n%s", want, strings.Join(few, "\n"))
		}
	}
}

// doctorSources are an operator that may read Services and no Nodes.
const doctorSources = `apiVersion: v1
kind: Namespace
metadata: {name: doctor-sources}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: zonefold-operator, namespace: doctor-sources}
spec:
  replicas: 0
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: operator
        image: zonefold/operator
        args: [--leader-elect, "--source=service,crd", --source, gateway-udproute]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: doctor-sources}
rules:
- {apiGroups: [""], resources: [services, namespaces], verbs: [list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list]}
- {apiGroups: [externaldns.k8s.io], resources: [dnsendpoints], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: doctor-sources}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: doctor-sources}
subjects: [{kind: ServiceAccount, name: zonefold-operator, namespace: doctor-sources}]
`

// TestDoctorFindsSourcesThatCannotBeRead has an operator with sources on lack rights and kinds, which it is given then.
func TestDoctorFindsSourcesThatCannotBeRead(t *testing.T) {
	cluster := testcluster.ForTest(t)
	apply := func(objects string) {
		t.Helper()
		if said, err := cluster.RunKubectlInput(t.Context(), strings.NewReader(objects), "apply", "-f", "-"); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	apply(doctorSources)
	t.Cleanup(func() {
		if said, err := cluster.RunKubectlInput(context.WithoutCancel(t.Context()), strings.NewReader(doctorSources),
			"delete", "--wait=false", "-f", "-"); err != nil {
			t.Logf("%v: %s", err, said)
		}
	})
	const object = "Deployment doctor-sources/zonefold-operator: "
	found := func(args ...string) string {
		args = append([]string{"doctor", "--kubeconfig", cluster.Kubeconfig(), "--operator-namespace", "doctor-sources"},
			args...)
		_, out, _ := run(t, args...)
		var lines []string
		for line := range strings.Lines(out) {
			if strings.Contains(line, object) {
				lines = append(lines, strings.ReplaceAll(line, object, ""))
			}
		}
		return strings.Join(lines, "")
	}
	const not = "; their published records stay as they are\n"
	want := "error: the enabled sources need nodes (service), and the operator's account may not list them" + not +
		"error: the enabled sources need endpointslices.discovery.k8s.io (service), and the operator's account may " +
		"not watch them" + not
	for _, resource := range []string{"gateways", "udproutes"} { // no route needs ListenerSets
		want += "error: the enabled sources need " + resource + ".gateway.networking.k8s.io (gateway-udproute), and " +
			"the API server does not serve them in version v1" + not
	}
	if diff := cmp.Diff(want, found()); diff != "" {
		t.Errorf("it finds (-want +got):\n%s", diff)
	}
	if got := found("--as", "nobody"); !strings.HasPrefix(got, "unknown: the enabled sources cannot be read: ") {
		t.Errorf("nobody finds %q", got)
	}
	mended := strings.ReplaceAll(doctorSources, "verbs: [list]", "verbs: [list, watch]")
	mended = strings.ReplaceAll(mended, "[services, namespaces]", "[services, namespaces, nodes]")
	apply(strings.ReplaceAll(mended, ", --source, gateway-udproute", ""))
	if got := found(); got != "" {
		t.Errorf("with all that it needs it finds %q", got)
	}
}

// endedCertificate returns one that has ended, as a caBundle.
func endedCertificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-2 * time.Hour),
		NotAfter: time.Now().Add(-time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
