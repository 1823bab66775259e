package controller

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestSchemaLacks(t *testing.T) {
	ours := readCRD(t, "kubi.zone_zones.yaml")
	for name, c := range map[string]struct {
		schema Schema
		want   string
	}{
		"our own schema lacks nothing": {Schema{Version: "v1alpha1", Fields: []string{"status.conditions",
			"spec.delegations.namespace"}}, ""},
		"a field that is not there is named": {Schema{Version: "v1alpha1", Fields: []string{"status.conditions",
			"status.nothing"}}, "status.nothing"},
		"a field inside a list is looked for": {Schema{Version: "v1alpha1", Fields: []string{"spec.delegations.colour"}},
			"spec.delegations.colour"},
		"a version that is not there is enough": {Schema{Version: "v2", Fields: []string{"status.conditions"}},
			"the version v2"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(c.schema.lacks(ours), ", "); got != c.want {
				t.Errorf("it lacks %q, not %q", got, c.want)
			}
		})
	}
}

func readCRD(t *testing.T, name string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", name))
	if err != nil {
		t.Fatal(err)
	}
	var crd map[string]any
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	return crd
}
