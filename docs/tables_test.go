package docs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab"
	"github.com/zonefold/zonefold/internal/rr"
)

// firsts returns the first cells of the tables in a text, which are code spans.
func firsts(t *testing.T, text string) []string {
	t.Helper()
	var names []string
	for _, cells := range rows(text) {
		name, ok := code(cells[0])
		if !ok {
			t.Errorf("the cell %s is no code span", cells[0])
		}
		names = append(names, name)
	}
	return names
}

func TestConditionsAndReasonsAreListed(t *testing.T) {
	api := page{"docs/api.md", read(t, "docs/api.md")}
	words := constants(t, "internal/controller/conditions.go")
	var conditions, reasons []string
	for name, value := range words {
		switch {
		case strings.HasPrefix(name, "Condition"):
			conditions = append(conditions, value)
		case strings.HasPrefix(name, "Reason"):
			reasons = append(reasons, value)
		}
	}
	for _, value := range constants(t, "internal/zone/verdict.go") {
		reasons = append(reasons, value)
	}
	reasons = append(reasons, literalReasons(t)...)
	slices.Sort(reasons)
	same(t, "the section Conditions of docs/api.md", firsts(t, api.section(t, "## Conditions")), conditions)
	listed := firsts(t, api.section(t, "## Reasons"))
	slices.Sort(listed)
	same(t, "the section Reasons of docs/api.md", slices.Compact(listed), slices.Compact(reasons))
}

func TestNamesOfBindyAreListed(t *testing.T) {
	bindy := page{"docs/bindy.md", read(t, "docs/bindy.md")}
	there := map[string][]string{}
	for name, value := range constants(t, "api/bindy/v1beta1/names.go") {
		switch {
		case strings.HasPrefix(name, "Condition"):
			there["Conditions"] = append(there["Conditions"], value)
		case strings.HasPrefix(name, "Reason"):
			there["Reasons"] = append(there["Reasons"], value)
		case strings.HasSuffix(name, "Annotation"):
			there["Annotations"] = append(there["Annotations"], value)
		case strings.HasSuffix(name, "Finalizer"):
			there["Finalizers"] = append(there["Finalizers"], value)
		case strings.HasSuffix(name, "Label"), name == "AppInstance", name == "AppManagedBy":
			there["Labels"] = append(there["Labels"], value)
		}
	}
	for _, section := range []string{"Labels", "Annotations", "Finalizers", "Conditions", "Reasons"} {
		slices.Sort(there[section])
		same(t, "the section "+section+" of docs/bindy.md", firsts(t, bindy.section(t, "## "+section)),
			slices.Compact(there[section]))
	}
}

func TestReasonsOfHomelabAreListed(t *testing.T) {
	homelab := page{"docs/homelab.md", read(t, "docs/homelab.md")}
	var reasons, codes []string
	for name, value := range constants(t, "internal/controller/homelab/servers/failure.go") {
		if strings.HasPrefix(name, "Reason") {
			reasons = append(reasons, value)
		} else {
			codes = append(codes, value)
		}
	}
	for _, value := range constants(t, "dnshook/errors.go") {
		codes = append(codes, value)
	}
	for section, there := range map[string][]string{"Reasons": reasons, "Codes": codes} {
		slices.Sort(there)
		listed := firsts(t, homelab.section(t, "## "+section))
		slices.Sort(listed)
		same(t, "the section "+section+" of docs/homelab.md", listed, slices.Compact(there))
	}
}

// constants returns the string constants of a file by name.
func constants(t *testing.T, name string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, decl := range parse(t, name).Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			values, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, value := range values.Values {
				if text, ok := literal(value); ok {
					found[values.Names[i].Name] = text
				}
			}
		}
	}
	if len(found) < 5 {
		t.Fatalf("%s has %d string constants, which cannot be all", name, len(found))
	}
	return found
}

// literalReasons returns the reasons that are written out where an outcome is made.
func literalReasons(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../internal/controller/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		ast.Inspect(parse(t, strings.TrimPrefix(filepath.ToSlash(name), "../")), func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "OK" || f.Sel.Name == "Not") {
				if text, ok := literal(call.Args[0]); ok {
					found = append(found, text)
				}
			}
			return true
		})
	}
	return found
}

func parse(t *testing.T, name string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func literal(e ast.Expr) (string, bool) {
	basic, ok := e.(*ast.BasicLit)
	if !ok || basic.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(basic.Value)
	return text, err == nil
}

// A property is the part of an OpenAPI schema that the list of fields is compared with.
type property struct {
	Type       string               `json:"type"`
	Default    json.RawMessage      `json:"default"`
	Required   []string             `json:"required"`
	Items      *property            `json:"items"`
	Properties map[string]*property `json:"properties"`
}

func TestFieldsAreListed(t *testing.T) {
	files, err := filepath.Glob("../config/crd/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no CustomResourceDefinitions: ", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var definition struct {
			Spec struct {
				Group string `json:"group"`
				Names struct {
					Kind string `json:"kind"`
				} `json:"names"`
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema property `json:"openAPIV3Schema"`
					} `json:"schema"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal(text, &definition); err != nil {
			t.Fatal(err)
		}
		fields := map[string]string{}
		definition.Spec.Versions[0].Schema.OpenAPIV3Schema.gather(fields, "")
		kind, name := definition.Spec.Names.Kind, "docs/api.md"
		switch definition.Spec.Group {
		case "bindy.firestoned.io":
			name = "docs/bindy.md"
		case "dns.homelab.mortenolsen.pro":
			name = "docs/homelab.md"
		case "extensions.gardener.cloud":
			name = "docs/gardener.md"
		case "externaldns.k8s.io":
			name = "docs/sources.md"
		}
		var listed, there []string
		for _, cells := range (page{name, read(t, name)}).fields(t, "## "+kind, "") {
			listed = append(listed, cells[0])
			if want := fields[cells[0]]; want != "" && !strings.Contains(cells[1], want) {
				t.Errorf("%s says of %s of a %s: %q, and the schema says %s", name, cells[0], kind, cells[1], want)
			}
		}
		for field := range fields {
			there = append(there, field)
		}
		same(t, "the section "+kind+" of "+name, listed, there)
	}
}

// fields returns the rows of a list of fields, with the bare name first. A name that ends in ".*" stands for the list
// below another heading, to which its row links.
func (p page) fields(t *testing.T, heading, prefix string) [][]string {
	t.Helper()
	var all [][]string
	for _, cells := range rows(p.section(t, heading)) {
		name, _ := code(cells[0])
		base, elsewhere := strings.CutSuffix(name, "*")
		if !elsewhere {
			all = append(all, append([]string{prefix + name}, cells[1:]...))
			continue
		}
		link := regexp.MustCompile(`\[(.+)\]\(#(.+)\)`).FindStringSubmatch(cells[2])
		if link == nil || strings.ReplaceAll(strings.ToLower(link[1]), " ", "-") != link[2] {
			t.Fatalf("%s: the row %s does not link to a heading", p.path, name)
		}
		all = append(all, p.fields(t, "### "+link[1], prefix+base)...)
	}
	return all
}

// gather collects the paths of the fields that have no fields of ours below them, and whether they are required, or
// their default.
func (p *property) gather(into map[string]string, at string) {
	for name, field := range p.Properties {
		if at == "" && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			continue
		}
		where, inner := strings.TrimPrefix(at+"."+name, "."), field
		for inner.Items != nil {
			where, inner = where+"[]", inner.Items
		}
		known := slices.Contains([]string{"conditions", "namespaceSelector", "selector"}, name) // Kubernetes describes these
		if len(inner.Properties) > 0 && !known {
			inner.gather(into, where)
			continue
		}
		into[where] = ""
		switch {
		case field.Default != nil && field.Type != "array":
			into[where] = "`" + strings.Trim(string(field.Default), `"`) + "`"
		case slices.Contains(p.Required, name):
			into[where] = "required"
		}
	}
}

// A catcher is a registry that only looks.
type catcher struct{ found []prometheus.Collector }

func (c *catcher) Register(m prometheus.Collector) error {
	c.found = append(c.found, m)
	return nil
}
func (c *catcher) MustRegister(m ...prometheus.Collector) { c.found = append(c.found, m...) }
func (c *catcher) Unregister(prometheus.Collector) bool   { return false }

func TestMetricsAreListed(t *testing.T) {
	var caught catcher
	if err := errors.Join(controller.NewMetrics().Register(&caught), controller.NewDNSMetrics().Register(&caught),
		homelab.NewNumbers().Register(&caught), caught.Register(controller.NewUnreadKinds(nil))); err != nil {
		t.Fatal(err)
	}
	there := map[string][]string{}
	for _, m := range caught.found {
		described := make(chan *prometheus.Desc, 1)
		m.Describe(described)
		text := (<-described).String()
		name := regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(text)[1]
		labels := regexp.MustCompile(`variableLabels: \{([^}]*)\}`).FindStringSubmatch(text)[1]
		kind := strings.TrimSuffix(strings.ToLower(path.Ext(fmt.Sprintf("%T", m))[1:]), "vec")
		if kind == "valuefunc" { // ours are gauges
			kind = "gauge"
		}
		there[name] = []string{kind, strings.ReplaceAll(labels, ",", ", ")}
	}
	metrics := page{"docs/metrics.md", read(t, "docs/metrics.md")}
	var listed, names []string
	for _, cells := range rows(metrics.section(t, "## Metrics")) {
		name, _ := code(cells[0])
		listed = append(listed, name)
		if want := there[name]; want != nil && (cells[1] != want[0] || strings.ReplaceAll(cells[2], "`", "") != want[1]) {
			t.Errorf("docs/metrics.md says that %s is a %s with the labels %s; it is a %s with %s", name, cells[1], cells[2],
				want[0], want[1])
		}
	}
	for name := range there {
		names = append(names, name)
	}
	same(t, "docs/metrics.md", listed, names)
	for _, used := range regexp.MustCompile(`zonefold_[a-z_]+`).FindAllString(metrics.text, -1) {
		if there[used] == nil && there[strings.TrimSuffix(used, "_bucket")] == nil {
			t.Errorf("docs/metrics.md uses %s, which does not exist", used)
		}
	}
}

func TestRecordExamplesAreValid(t *testing.T) {
	listed := 0
	for _, cells := range rows(read(t, "docs/records.md")) {
		typ, err := rr.ParseType(strings.Trim(cells[0], "`"))
		if err != nil {
			continue // a table of something else
		}
		listed++
		if why, writable := typ.Refused(), strings.HasPrefix(cells[1], "delegated namespaces"); (why == "") != writable {
			t.Errorf("docs/records.md says of %s: %q; the type table: %q", typ, cells[1], why)
		}
		data, ok := code(cells[2])
		if typ.Refused() != "" {
			continue
		}
		if _, err := rr.ParseData(typ, data); !ok || err != nil {
			t.Errorf("docs/records.md has a bad example of %s: %v", typ, err)
		}
	}
	if want := len(rr.Types()); listed != want {
		t.Errorf("docs/records.md lists %d types of %d", listed, want)
	}
}

func TestFlagsAreListed(t *testing.T) {
	var there []string
	files, err := filepath.Glob("../cmd/operator/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		ast.Inspect(parse(t, strings.TrimPrefix(file, "../")), func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 3 {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if ok && (strings.HasSuffix(f.Sel.Name, "Var") || f.Sel.Name == "Func") {
				of := call.Args[1] // after the variable
				if f.Sel.Name == "Func" {
					of = call.Args[0]
				}
				if name, ok := literal(of); ok {
					there = append(there, "--"+name)
				}
			}
			return true
		})
	}
	install := page{"docs/install.md", read(t, "docs/install.md")}
	same(t, "docs/install.md", firsts(t, install.section(t, "## Flags")), there)
}
