package schema

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/rr"
)

func TestTheDefinitionsAreSmallAndKept(t *testing.T) {
	files, err := filepath.Glob(crds + "/*.yaml")
	if err != nil || len(files) < 16 {
		t.Fatalf("found %d definitions, %v", len(files), err)
	}
	owner := map[string]string{}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 64<<10 {
			t.Errorf("%s has %d bytes; at most 64 KiB fit a client-side apply with room to grow", file, info.Size())
		}
		crd := documents(t, file)[0]
		if crd.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf(
				"%s: uninstalling a chart would delete every object; the annotation helm.sh/resource-policy: keep is missing", file)
		}
		names, _, err := unstructured.NestedMap(crd.Object, "spec", "names")
		if err != nil || names["categories"] != nil {
			t.Errorf("%s has categories: %v, %v", file, names, err)
		}
		short, _, err := unstructured.NestedStringSlice(names, "shortNames")
		if err != nil || len(short) == 0 {
			t.Errorf("%s has no short name: %v", file, err)
		}
		for _, name := range short {
			if other := owner[name]; other != "" {
				t.Errorf("%s and %s have the short name %s", file, other, name)
			}
			owner[name] = file
		}
	}
}

// pattern returns the alternatives of the pattern that a path of a schema's properties leads to.
func pattern(t *testing.T, file string, path ...string) []string {
	t.Helper()
	versions, _, err := unstructured.NestedSlice(documents(t, filepath.Join(crds, file))[0].Object, "spec", "versions")
	if err != nil || len(versions) != 1 {
		t.Fatalf("%s has %d versions, %v; want one", file, len(versions), err)
	}
	fields := []string{"schema", "openAPIV3Schema", "properties", "spec"}
	for _, p := range path {
		if p != "items" {
			fields = append(fields, "properties")
		}
		fields = append(fields, p)
	}
	text, found, err := unstructured.NestedString(versions[0].(map[string]any), append(fields, "pattern")...)
	if err != nil || !found {
		t.Fatalf("%s has no pattern at %v: %v", file, path, err)
	}
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "(?i)"), "^("), ")$")
	return strings.Split(text, "|")
}

func TestTheSchemasListTheRecordTypes(t *testing.T) {
	var want []string
	for _, typ := range rr.Types() {
		want = append(want, typ.String())
	}
	want = append(want, "TYPE[0-9]{1,5}")
	if len(want) != 48 {
		t.Errorf("the table has %d types; the Record schema lists 47", len(want)-1)
	}
	if diff := cmp.Diff(want, pattern(t, "kubi.zone_records.yaml", "type")); diff != "" {
		t.Errorf("the types of a Record are not those of the table (-table +schema):\n%s", diff)
	}
	if diff := cmp.Diff(want, pattern(t, "kubi.zone_zones.yaml", "delegations", "items", "records", "items", "types",
		"items")); diff != "" {
		t.Errorf("the types of a delegation are not those of the table (-table +schema):\n%s", diff)
	}
}
