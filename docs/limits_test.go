package docs_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

var span = regexp.MustCompile("`([^`]*)`")

// TestLimitsAreThoseOfTheCode holds each row of docs/limits.md to the schema or the constant that it names.
func TestLimitsAreThoseOfTheCode(t *testing.T) {
	limits := page{"docs/limits.md", read(t, "docs/limits.md")}
	listed := rows(limits.section(t, "## Of one object"))
	var names []string
	for _, row := range listed {
		if len(row) != 4 {
			t.Fatalf("the row %q has %d cells", row[0], len(row))
		}
		var where []string
		for _, m := range span.FindAllStringSubmatch(row[2], -1) {
			where = append(where, m[1])
		}
		var is int
		switch len(where) {
		case 2:
			is = packageConstants(t, where[0])[where[1]]
			names = append(names, where[1])
		case 3:
			is = keyword(t, where[0], where[1], where[2])
		default:
			t.Fatalf("the row %q does not say where", row[0])
		}
		if said, err := strconv.Atoi(row[1]); err != nil || said != is || is == 0 {
			t.Errorf("%s: the page says %s, and %v is %d", row[0], row[1], where, is)
		}
	}
	for name := range constantsOf(t, "internal/zone", "limits.go") {
		if !slices.Contains(names, name) {
			t.Errorf("docs/limits.md does not list %s", name)
		}
	}
}

// packageConstants returns the integer constants of a package.
func packageConstants(t *testing.T, dir string) map[string]int { return constantsOf(t, dir, "") }

// constantsOf returns those of one file, or of all if it is "".
func constantsOf(t *testing.T, dir, file string) map[string]int {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	names, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s has %d files: %v", dir, len(names), err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	ignore := types.Config{Error: func(error) {}, IgnoreFuncBodies: true} // of imports, which constants do without
	pkg, _ := ignore.Check(dir, set, files, nil)
	found := map[string]int{}
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok || c.Val().Kind() != constant.Int || file != "" && filepath.Base(set.Position(c.Pos()).Filename) != file {
			continue
		}
		if n, exact := constant.Int64Val(c.Val()); exact {
			found[name] = int(n)
		}
	}
	return found
}

// keyword returns a number of a schema; the path of the field is as people write it.
func keyword(t *testing.T, file, field, word string) int {
	t.Helper()
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(read(t, file)), &crd); err != nil {
		t.Fatal(err)
	}
	at := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, step := range strings.Split(field, ".") {
		if items, ok := at["items"].(map[string]any); ok {
			at = items
		}
		properties, _ := at["properties"].(map[string]any)
		if at, _ = properties[step].(map[string]any); at == nil {
			t.Fatalf("%s has no field %s", file, field)
		}
	}
	n, _ := at[word].(float64)
	return int(n)
}

// TestTheQuotaCountsEveryKindOfTenants reads the example as the API server does, and compares it with what namespaces
// may hold.
func TestTheQuotaCountsEveryKindOfTenants(t *testing.T) {
	limits := page{"docs/limits.md", read(t, "docs/limits.md")}
	var quota corev1.ResourceQuota
	if err := yaml.UnmarshalStrict([]byte(limits.blocks("yaml")[0].text), &quota); err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Split(limits.blocks("yaml")[1].text, "\n---\n") {
		into := any(&admissionregistration.ValidatingAdmissionPolicy{})
		if strings.Contains(text, "kind: ValidatingAdmissionPolicyBinding") {
			into = &admissionregistration.ValidatingAdmissionPolicyBinding{}
		}
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Error(err)
		}
	}
	var listed []string
	for name, most := range quota.Spec.Hard {
		if most.Cmp(resource.MustParse("1")) < 0 {
			t.Errorf("%s is %s", name, &most)
		}
		listed = append(listed, string(name))
	}
	var there []string
	err := filepath.WalkDir("../config/crd", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		var crd struct {
			Spec struct {
				Group, Scope string
				Names        struct{ Plural string }
			}
		}
		if err := yaml.Unmarshal([]byte(read(t, strings.TrimPrefix(filepath.ToSlash(name), "../"))), &crd); err != nil {
			return err
		}
		ours := []string{"zoneslices", "zonerevisions"} // which only the operator makes
		if s := crd.Spec; s.Scope == "Namespaced" && !slices.Contains(ours, s.Names.Plural) {
			there = append(there, fmt.Sprintf("count/%s.%s", s.Names.Plural, s.Group))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	slices.Sort(there)
	same(t, "the ResourceQuota of docs/limits.md", listed, there)
}
