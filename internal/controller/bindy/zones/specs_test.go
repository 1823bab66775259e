package zones

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// selecting makes a DNSZone "namespace/object" of a name that was created in a second and selects records.
func selecting(object, name string, second int64, from ...metav1.LabelSelector) *v1beta1.DNSZone {
	z := &v1beta1.DNSZone{}
	z.Namespace, z.Name, _ = strings.Cut(object, "/")
	z.CreationTimestamp = metav1.Time{Time: time.Unix(second, 0)}
	z.Spec.ZoneName = name
	for _, s := range from {
		z.Spec.RecordsFrom = append(z.Spec.RecordsFrom, v1beta1.Selection{Selector: s})
	}
	return z
}

func withLabels(l map[string]string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchLabels: l}
}

func expression(key string, op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: key, Operator: op, Values: values}}}
}

// zoneOf reads the spec of a DNSZone called dns/example.
func zoneOf(t *testing.T, spec string) *v1beta1.DNSZone {
	t.Helper()
	z := &v1beta1.DNSZone{}
	z.Namespace, z.Name = "dns", "example"
	if err := yaml.UnmarshalStrict([]byte(spec), &z.Spec); err != nil {
		t.Fatal(err)
	}
	return z
}
