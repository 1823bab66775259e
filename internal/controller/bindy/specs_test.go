package bindy

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
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

var testSettings = dialect.Settings{Namespace: "ops", ServiceAccount: "op", BIND9Image: "example/bind9",
	BindcarImage: "example/bindcar:1"}

// serverOf makes a server of specs written in YAML; without a cluster's, it is part of none.
func serverOf(t *testing.T, instance, cluster string) (*dialect.Server, error) {
	t.Helper()
	i := &v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "ns"}}
	var p *dialect.Parent
	if cluster != "" {
		p = &dialect.Parent{Kind: v1beta1.KindCluster, Name: "dns", Generation: 1, Spec: &v1beta1.CommonSpec{}}
		if err := yaml.UnmarshalStrict([]byte(cluster), p.Spec); err != nil {
			t.Fatal(err)
		}
		i.Spec.ClusterRef = "dns"
	}
	if err := yaml.UnmarshalStrict([]byte(instance), &i.Spec); err != nil {
		t.Fatal(err)
	}
	return dialect.NewServer(i, p, testSettings)
}

func mustServer(t *testing.T, instance, cluster string) *dialect.Server {
	t.Helper()
	s, err := serverOf(t, instance, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
