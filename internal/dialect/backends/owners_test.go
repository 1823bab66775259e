package backends_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dialect/backends"
)

func TestOwnersWhosePlaceIsTakenAndGivenBack(t *testing.T) {
	for _, c := range []struct{ name, do, before, after, refused string }{
		{"a first one", "adopt", `[]`, `[{owner: prod}]`, ""},
		{"that of the only entry", "adopt", `[{prefix: x-}]`, `[{owner: prod, prefix: x-}]`, ""},
		{"one that is there", "adopt", `[{owner: prod}, {prefix: x-}]`, `[{owner: prod}, {prefix: x-}]`, ""},
		{"beside another", "adopt", `[{owner: dev}, {prefix: x-}]`, `[{owner: dev}, {owner: prod, prefix: x-}]`, ""},
		{"where nobody knows which entry", "adopt", `[{}, {prefix: x-}]`, "", "several entries without an owner"},
		{"where all have others", "adopt", `[{owner: dev}]`, "", "have other owners"},
		{"back", "note", `[{}, {owner: prod}]`, `[{}, {owner: prod, write: true}]`, ""},
		{"back again", "note", `[{owner: prod, write: true}]`, `[{owner: prod, write: true}]`, ""},
		{"back, never taken", "note", `[{}]`, "", "no entry with the owner"},
		{"back beside one that is kept", "note", `[{owner: prod}, {owner: dev, write: true}]`, "", "only one can be kept"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before []v1alpha1.Registry
			if err := yaml.Unmarshal([]byte(c.before), &before); err != nil {
				t.Fatal(err)
			}
			do := backends.Adopt
			if c.do == "note" {
				do = backends.Note
			}
			after, err := do(before, "prod")
			var want []v1alpha1.Registry
			if err := yaml.Unmarshal([]byte(c.after), &want); err != nil {
				t.Fatal(err)
			}
			got, _ := yaml.Marshal(after)
			wanted, _ := yaml.Marshal(want)
			switch {
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
				t.Errorf("it is not refused with %q: %v", c.refused, err)
			case c.refused == "" && (err != nil || string(got) != string(wanted)):
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}
