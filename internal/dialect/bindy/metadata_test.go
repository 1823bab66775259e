package bindy

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// TestMetadataThatTheAPIServerRefuses is refused as soon as it stands in a spec: none of the servers could be made.
func TestMetadataThatTheAPIServerRefuses(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, c := range []struct{ name, spec, want string }{
		{"labels and annotations", `primary: {labels: {team: web, example.org/tier: ""}, service: {annotations: {Example.org/note: "any, text"}},
			rndcKey: {secret: {metadata: {name: mine, labels: {team: web}, annotations: {note: x}}}}}`, ""},
		{"the name of a label", `primary: {labels: {"a b": c}}`, `spec.primary.labels has "a b"`},
		{"the value of a label", `primary: {labels: {team: "the web"}}`, `spec.primary.labels has "team"`},
		{"a long value of a label", `primary: {labels: {team: ` + long + `}}`, `spec.primary.labels has "team"`},
		{"the name of an annotation", `primary: {service: {annotations: {"a/b/c": d}}}`,
			`spec.primary.service.annotations has "a/b/c"`},
		{"annotations without end", `primary: {service: {annotations: {a: ` + strings.Repeat("a", 256<<10) + `}}}`,
			"spec.primary.service.annotations has 262145 octets"},
		{"a label of the Secret", `primary: {rndcKey: {secret: {metadata: {name: mine, labels: {team: "the web"}}}}}`,
			`spec.primary.rndcKey of Bind9Cluster dns: secret.metadata.labels has "team"`},
		{"an annotation of the Secret", `primary: {rndcKey: {secret: {metadata: {name: mine, annotations: {"": x}}}}}`,
			`spec.primary.rndcKey of Bind9Cluster dns: secret.metadata.annotations has ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := &v1beta1.Bind9Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "dns"}}
			if err := yaml.UnmarshalStrict([]byte("primaryReplicas: 1\n"+c.spec), &cluster.Spec); err != nil {
				t.Fatal(err)
			}
			for range 10 { // the message does not depend on the order of a map
				got := strings.Join(Faults(cluster, testSettings, nil), " ")
				if c.want == "" && got != "" || !strings.Contains(got, c.want) {
					t.Fatalf("refused is %q, want %q", got, c.want)
				}
			}
		})
	}
}
