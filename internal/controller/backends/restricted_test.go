package backends

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestWhomAClusterIsOpenTo(t *testing.T) {
	few := []zone.Grant{{Namespaces: []string{"b", "a"}}, {Namespaces: []string{"a"}}}
	many := []zone.Grant{{Namespaces: strings.Split("abcdefghij", "")}}
	for _, c := range []struct {
		name   string
		access access
		own    []zone.Grant
		status metav1.ConditionStatus
		reason string
		says   string
	}{
		{"no Backend has grants", access{}, nil, metav1.ConditionFalse, "NoGrants", "every namespace may have a root Zone"},
		{"none has any, and they are required", access{required: true}, nil, metav1.ConditionTrue, "GrantsRequired",
			"No namespace may have a root Zone"},
		{"another one has grants", access{closed: true}, nil, metav1.ConditionTrue, "Granted",
			"Only other Backends have grants"},
		{"it has grants", access{closed: true}, few, metav1.ConditionTrue, "Granted", "grants to the namespaces a, b."},
		{"its grants are for many", access{closed: true}, many, metav1.ConditionTrue, "Granted",
			"a, b, c, d, e, f, g, h and 2 more."},
		{"its grants cannot be read", access{closed: true}, []zone.Grant{{}}, metav1.ConditionTrue, "Granted",
			"grants to no namespace that exists."},
		{"one grants everything to everybody", access{closed: true, required: true, everything: "all"}, few,
			metav1.ConditionFalse, "EverythingGranted", "Backend all grants"},
	} {
		got := c.access.restricted(c.own)
		if got.Status != c.status || got.Reason != c.reason || !strings.Contains(got.Message, c.says) {
			t.Errorf("%s: it is told %+v, want %s %s: … %s", c.name, got, c.status, c.reason, c.says)
		}
	}
}

func TestWhatOneBackendAddsToTheAccess(t *testing.T) {
	everybody, some := &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"dns": "yes"}}
	for _, c := range []struct {
		name   string
		grants []v1alpha1.Grant
		want   access
	}{
		{"no grants", nil, access{}},
		{"a grant by name", []v1alpha1.Grant{{Namespaces: []string{"a"}, Zones: []string{"*."}}}, access{closed: true}},
		{"everything for some", []v1alpha1.Grant{{NamespaceSelector: some, Zones: []string{"*."}}}, access{closed: true}},
		{"something for everybody", []v1alpha1.Grant{{NamespaceSelector: everybody, Zones: []string{"*.org."}}},
			access{closed: true}},
		{"everything for everybody", []v1alpha1.Grant{{NamespaceSelector: everybody, Zones: []string{"org.", "*."}}},
			access{closed: true, everything: "one"}},
	} {
		b := &v1alpha1.Backend{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
		b.Spec.Grants = c.grants
		if got := accessOf(b); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
