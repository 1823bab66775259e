package v1beta1

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestFragments(t *testing.T) {
	for _, tt := range []struct{ name, text, error string }{
		{"what the struct has", `{matchLabels: {a: b}, matchExpressions: [{key: a, operator: In, values: [b]}]}`, ""},
		{"nothing", `{}`, ""},
		{"null", `null`, ""},
		{"a field that it does not have", `{matchLabel: {a: b}}`, `unknown field "matchLabel"`},
		{"a field in other letter case", `{matchlabels: {a: b}}`, `unknown field "matchlabels"`},
		{"an unknown field inside", `{matchExpressions: [{key: a, operator: In, vals: [b]}]}`,
			`unknown field "matchExpressions[0].vals"`},
		{"a value of another type", `{matchLabels: [a]}`, "reading it as *v1.LabelSelector"},
		{"a list", `[a]`, "reading it as *v1.LabelSelector"},
	} {
		var f Fragment
		if err := yaml.Unmarshal([]byte(tt.text), &f); err != nil {
			t.Fatal(err)
		}
		var selector metav1.LabelSelector
		says(t, tt.name, f.Into(&selector), tt.error)
	}
	if err := (*Fragment)(nil).Into(&metav1.LabelSelector{}); err != nil {
		t.Errorf("no fragment: %v", err)
	}
}
