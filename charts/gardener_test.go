package charts_test

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestPodsOfAGardenerReachWhatTheyNeed installs the chart as the examples have Gardener do it. In its seeds and its
// runtime cluster all is denied that no label of a Pod asks for.
func TestPodsOfAGardenerReachWhatTheyNeed(t *testing.T) {
	for _, c := range []struct {
		name, file, kind string
		values           []string
	}{
		{"a ControllerDeployment in a seed", "controllerregistration.yaml", "ControllerDeployment",
			[]string{"helm", "values"}},
		{"an Extension in a seed", "extension.yaml", "Extension", []string{"spec", "deployment", "extension", "values"}},
		{"an Extension in the runtime cluster", "extension.yaml", "Extension", []string{"spec", "deployment", "extension",
			"runtimeClusterValues"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			labels := deployment(t, mustRender(t, exampleValues(t, c.file, c.kind, c.values...))).Spec.Template.Labels
			for _, to := range []string{"dns", "runtime-apiserver", "public-networks", "private-networks"} {
				if name := "networking.gardener.cloud/to-" + to; labels[name] != "allowed" {
					t.Errorf("the label %s of the Pods is %q, want allowed", name, labels[name])
				}
			}
		})
	}
}

// exampleValues are the values that an object of an example has in a field.
func exampleValues(t *testing.T, file, kind string, field ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "examples", "gardener", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range documents(string(data)) {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if object["kind"] != kind {
			continue
		}
		values, there, err := unstructured.NestedMap(object, field...)
		if err != nil || !there {
			t.Fatalf("%s has no values at %v: %v", file, field, err)
		}
		out, err := yaml.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	t.Fatalf("%s has no %s", file, kind)
	return ""
}
