package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/test/sim"
)

// TestALifeWithOlderDefinitions has servers end with the same where the CustomResourceDefinitions lack a field of a
// status: as they do after an update of the operator alone. What the API server drops is not written again and again,
// or the operator does not begin, and says why.
func TestALifeWithOlderDefinitions(t *testing.T) {
	folder := filepath.Join("..", "..", "config", "crd")
	whole := kindsOf(t)
	for file, groups := range map[string][]string{
		"kubizone.txtar": {"kubi.zone_zones", "kubi.zone_records", "zonefold.dev_backends"},
		"homelab.txtar":  {"dns.homelab.mortenolsen.pro_dnsclasses", "dns.homelab.mortenolsen.pro_dnsrecords"},
		"gardener.txtar": {"extensions.gardener.cloud_dnsrecords"},
	} {
		l := lifeOf(t, filepath.Join("..", "..", "test", "sim", "testdata", file))
		calm := lived(t, l, whole)
		for _, group := range groups {
			text, err := os.ReadFile(filepath.Join(folder, group+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			for _, field := range slices.Sorted(maps.Keys(statusOf(t, decoded(t, text)))) {
				l := l
				l.Unsucceeded = true
				t.Run(group+" without "+field, func(t *testing.T) {
					t.Parallel()
					kinds := without(t, whole, text, field)
					if needed(decoded(t, text), field) {
						_, err := outcome(t, l, kinds)
						if err == nil || !strings.Contains(err.Error(), "lacks status."+field) {
							t.Errorf("an operator ends with %v", err)
						}
						return
					}
					out := lived(t, l, kinds)
					if diff := cmp.Diff(held(calm), held(out)); diff != "" || len(out.Wrong) > 0 {
						t.Errorf("%s\n%s", strings.Join(out.Wrong, "\n"), diff)
					}
				})
			}
		}
	}
}

// held is what the servers have.
func held(out sim.Outcome) string {
	return out.State[max(strings.Index(out.State, "\nserver "), strings.Index(out.State, "\nwebhook "), 0):]
}

func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// statusOf returns the fields of the status that a CustomResourceDefinition knows.
func statusOf(t *testing.T, definition map[string]any) map[string]any {
	t.Helper()
	version := definition["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	schema := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	status := schema["properties"].(map[string]any)["status"].(map[string]any)
	return status["properties"].(map[string]any)
}

// needed reports whether an operator does not begin without a field.
func needed(definition map[string]any, field string) bool {
	name := definition["metadata"].(map[string]any)["name"]
	for _, d := range knownDialects() {
		for _, s := range d.schemas {
			if s.CRD == name && slices.ContainsFunc(s.Fields, func(path string) bool {
				return strings.HasPrefix(path+".", "status."+field+".")
			}) {
				return true
			}
		}
	}
	return false
}

// without compiles a definition anew but for a field of its status.
func without(t *testing.T, whole *sim.Kinds, text []byte, field string) *sim.Kinds {
	t.Helper()
	definition := decoded(t, text)
	delete(statusOf(t, definition), field)
	older, err := yaml.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := whole.With(older)
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}
