package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// A fixture is an object like those that the existing Bindy tries its admission policies with, and the verdict: a part
// of why it is refused, nothing if it is accepted. A refusal may be told in the object's status.
type fixture struct {
	sentence, kind, spec, verdict string
	told                          bool
}

const fixtureSOA = `soaRecord: {primaryNs: ns1.example.com., adminEmail: hostmaster@example.com, serial: 1, refresh: 3600, retry: 600, expire: 604800, negativeTtl: 86400}`

func fixtures() []fixture {
	return []fixture{
		{"lists of addresses, networks, names and keys", "Bind9Cluster", `primary: {replicas: 1, allowTransfer: [10.0.0.0/8, 192.168.0.0/16, key bindy-operator]}, secondary: {replicas: 1},
			global: {recursion: false, allowQuery: [any, "!10.0.0.0/8", "2001:db8::/32"], allowTransfer: [localhost, localnets]}`, "", false},
		{"a list that ends its block", "Bind9Cluster",
			`global: {allowQuery: ['any; }; zone "evil.example" { type master; file "/etc/passwd"; }; acl x { any']}`,
			"allowQuery", false},
		{"lists of words that mean nothing", "Bind9Cluster", `global: {allowQuery: [anyone], allowTransfer: ["foo bar"]}`,
			"allowTransfer", false},
		{"a list that adds a statement", "Bind9Instance",
			`clusterRef: dns, role: primary, config: {allowQuery: ["10.0.0.0/8; allow-recursion { any; };"]}`, "allowQuery",
			false},
		{"a zone", "DNSZone", `zoneName: example.com, ` + fixtureSOA, "", false},
		{"an address in the place of a zone's name", "DNSZone", `zoneName: 10.0.0.1, ` + fixtureSOA, "zoneName", false},
		{"a zone's name with a dot at its start", "DNSZone", `zoneName: .bad..example.com, ` + fixtureSOA, "zoneName", false},
		{"a zone with a policy", "DNSZone", `zoneName: example.com, dnssecPolicy: high-security, ` + fixtureSOA, "", false},
		{"a policy that adds a statement", "DNSZone",
			`zoneName: example.com, dnssecPolicy: 'evil"; }; allow-update { any; };', ` + fixtureSOA, "dnssecPolicy", false},
		{"a lifetime that adds a zone", "Bind9Cluster", `global: {dnssec: {signing: {enabled: true, policy: high-security, algorithm: ECDSAP256SHA256,
			kskLifetime: '365d; }; zone "evil" { type master; file "/etc/passwd"; };', zskLifetime: 90d}}}`, "kskLifetime", false},
		{"volumes below /data", "Bind9Instance", `clusterRef: "", role: primary, volumes: [{name: scratch, emptyDir: {}}, {name: keys, secret: {secretName: bindy-extra-tsig}}],
			volumeMounts: [{name: scratch, mountPath: /data/scratch}, {name: keys, mountPath: /data/extra-keys, readOnly: true}]`, "", false},
		{"a folder of the node", "Bind9Instance", `clusterRef: "", role: primary, volumes: [{name: root, hostPath: {path: /, type: Directory}}],
			volumeMounts: [{name: root, mountPath: /data/host, readOnly: true}]`, "must be emptyDir, configMap, secret", true},
		{"a Secret that is not for servers", "Bind9Instance", `clusterRef: "", role: primary, volumes: [{name: stolen, secret: {secretName: production-primary-rndc-key}}],
			volumeMounts: [{name: stolen, mountPath: /data/stolen, readOnly: true}]`, "begin with bindy-", true},
		{"a Secret that is not for servers, as the source of signing keys", "Bind9Instance",
			`clusterRef: "", role: primary, config: {dnssec: {signing: {enabled: true, keysFrom: {secretRef: {name: production-primary-rndc-key}}}}}`, "bindy-", false},
		{"a mount over the keys", "Bind9Instance",
			`clusterRef: "", role: primary, volumes: [{name: shadow, emptyDir: {}}], volumeMounts: [{name: shadow, mountPath: /etc/bind/keys}]`, "mountPath", true},
		{"a mount that climbs out of /data", "Bind9Instance", `clusterRef: "", role: primary, volumes: [{name: pwn, configMap: {name: bindy-pwn}}],
			volumeMounts: [{name: pwn, mountPath: /data/../etc/bind/named.conf}]`, "mountPath", true},
		{"images of the makers", "Bind9Instance",
			`clusterRef: "", role: primary, image: {image: "internetsystemsconsortium/bind9:9.18"}, bindcarConfig: {image: "ghcr.io/firestoned/bindcar:v0.7.3"}`, "", false},
		{"an image whose tag moves", "Bind9Instance",
			`clusterRef: "", role: primary, image: {image: "internetsystemsconsortium/bind9:latest"}`, "latest", false},
		{"an image of somebody else", "Bind9Instance",
			`clusterRef: "", role: primary, bindcarConfig: {image: "registry.example.com/bindcar:v0.7.3"}`,
			"registry.example.com", false},
		{"an alias of a name with a dot at its end", "CNAMERecord", `name: blog, target: example.github.io., ttl: 3600`, "",
			false},
		{"an alias of a name without it", "CNAMERecord", `name: blog, target: example.github.io, ttl: 3600`, "target", false},
		{"a mail server with a space in its name", "MXRecord",
			`name: "@", priority: 10, mailServer: "mail example.com.", ttl: 3600`, "mailServer", false},
	}
}

// TestA1FixturesOfTheExistingBindy gives the API server what the existing Bindy tries its admission policies with. All
// get its verdict: most from the schemas and the chart's policies, and those about volumes from the operator, which
// makes no pods then.
func TestA1FixturesOfTheExistingBindy(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("a")
	for n, f := range fixtures() {
		s.run(f.sentence, func(s *site) {
			object := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(`{apiVersion: bindy.firestoned.io/v1beta1, kind: `+f.kind+
				`, metadata: {name: fixture}, spec: {`+f.spec+`}}`), &object.Object); err != nil {
				s.Fatal(err)
			}
			object.SetNamespace(ns)
			object.SetName(fmt.Sprintf("fixture-%d", n))
			if f.told {
				s.toldAndNotRun(object, f.verdict)
				return
			}
			s.eventually("the verdict", func() string { // a policy takes a while to come into force
				err := s.client.Create(s.ctx, object.DeepCopy(), client.DryRunAll, client.FieldValidation("Strict"))
				return verdict(err, f.verdict)
			})
		})
	}
}

// verdict says how an answer differs from the one that is wanted.
func verdict(err error, want string) string {
	switch {
	case want == "" && err != nil:
		return "it is refused: " + err.Error()
	case want != "" && err == nil:
		return "it is accepted"
	case want != "" && !strings.Contains(err.Error(), want):
		return fmt.Sprintf("it is refused without a word of %s: %v", want, err)
	}
	return ""
}

// toldAndNotRun makes an instance that the API server takes, and of which the operator makes nothing.
func (s *site) toldAndNotRun(object *unstructured.Unstructured, want string) {
	s.Helper()
	if err := s.client.Create(s.ctx, object); err != nil {
		s.Fatal(err)
	}
	s.eventually("it is told", func() string {
		return s.ready(instance(object.GetNamespace(), object.GetName()), metav1.ConditionFalse, v1beta1.ReasonInvalidSpec,
			want)
	})
	if s.get(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()}}) {
		s.Error("it has a Deployment")
	}
}
