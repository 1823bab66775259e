// Package zonefold_test holds the rules of the repository, as tests: who may import whom, what is documented, how long
// things may be, and that every record type is known wherever types are listed. The files are opened in this process,
// so that a change to any of them makes the result stale in Go's test cache.
package zonefold_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/internal/rr"
)

const (
	module        = "github.com/zonefold/zonefold"
	maxFile       = 500 // lines
	maxFunction   = 70  // lines, without large literals: a table is not logic
	largeLiteral  = 8   // lines from which a literal counts as a table
	maxParameters = 5
	maxState      = 15  // fields of a type that only its package reaches
	maxColumns    = 120 // characters of a line, without what stands in a raw string
)

// A call that only some places may make.
type restricted struct {
	calls   []string // package.Name
	allowed []string // folders and files
	tests   bool     // tests may
	reason  string
}

func TestRestrictedCalls(t *testing.T) {
	// examples are commands
	starters := []string{"cmd", "hack", "examples", "internal/testcluster", "internal/nameserver",
		"internal/backend/backendtest", "internal/controller/bindy/bindytest"}
	for _, rule := range []restricted{{
		calls: []string{"time.Now", "time.Since", "time.Until"}, tests: true, reason: "the time comes in as an argument",
		allowed: append([]string{"internal/backend/clock.go"}, starters...), // the clock that cmd hands to the workers
	}, {
		calls: []string{"os.Getenv", "os.LookupEnv", "os.Environ"}, allowed: starters, tests: true,
		reason: "the environment is read in cmd and comes in as an argument",
	}, {
		calls: []string{"fmt.Print", "fmt.Printf", "fmt.Println"}, allowed: []string{"cmd", "hack"}, tests: true,
		reason: "who calls says where output goes",
	}, {
		calls: []string{"time.Sleep"}, reason: "wait for the condition, not for a while",
	}, {
		calls: []string{"t.Skip", "t.Skipf", "t.SkipNow", "tb.Skip", "tb.Skipf", "tb.SkipNow", "b.Skip", "b.Skipf",
			"b.SkipNow", "f.Skip", "f.Skipf", "f.SkipNow"},
		reason: "a test that does not run proves nothing: say what is missing and fail",
	}} {
		for _, file := range goFiles(t) {
			if inAny(file.path, rule.allowed) || rule.tests && file.isTest {
				continue
			}
			ast.Inspect(file.syntax, func(n ast.Node) bool {
				selector, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := selector.X.(*ast.Ident); ok && slices.Contains(rule.calls, x.Name+"."+selector.Sel.Name) {
					t.Errorf("%s uses %s.%s: %s", file.at(n), x.Name, selector.Sel.Name, rule.reason)
				}
				return true
			})
		}
	}
}

// TestServicesAreReachedByWaiting keeps tests and demos from asking a Service as soon as its pods are Ready, when its
// address does not lead anywhere yet: testcluster.Cluster.Service waits until it does.
func TestServicesAreReachedByWaiting(t *testing.T) {
	for _, file := range goFiles(t) {
		if !inAny(file.path, []string{"test", "hack"}) || inAny(file.path, []string{"test/acceptance/externaldns"}) {
			continue // the latter's Services are in no cluster
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if n.Sel.Name == "ClusterIP" || n.Sel.Name == "NodePort" {
					t.Errorf("%s reads %s: Cluster.Service of testcluster gives the address when it answers", file.at(n), n.Sel.Name)
				}
			case *ast.BasicLit:
				if strings.Contains(n.Value, "spec.clusterIP") {
					t.Errorf("%s asks for spec.clusterIP: Cluster.Service of testcluster gives the address when it answers",
						file.at(n))
				}
			}
			return true
		})
	}
}

func TestNoInitFunctions(t *testing.T) {
	for _, file := range goFiles(t) {
		for _, decl := range file.syntax.Decls {
			f, ok := decl.(*ast.FuncDecl)
			registersScheme := inAny(file.path, []string{"api"}) && path.Base(file.path) == "register.go"
			if ok && f.Recv == nil && f.Name.Name == "init" && !file.generated && !registersScheme {
				t.Errorf("%s: init runs for everybody who imports the package; put parts together in cmd/", file.at(f))
			}
		}
	}
}

// TestLocksOfControllersGuard finds mutexes beside the fields that they guard: only a comment could say which.
func TestLocksOfControllersGuard(t *testing.T) {
	for _, file := range goFiles(t) {
		if file.isTest || !inAny(file.path, []string{"internal/controller"}) ||
			inAny(file.path, []string{"internal/controller/bindy/bindytest"}) {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok {
				return true
			}
			s, ok := f.Type.(*ast.SelectorExpr)
			if ok && (s.Sel.Name == "Mutex" || s.Sel.Name == "RWMutex") {
				t.Errorf("%s: a mutex as a field; put what it guards into a guarded.Value, or have a guarded.Turn for an order",
					file.at(f))
			}
			return true
		})
	}
}

func TestPackages(t *testing.T) {
	banned := []string{"util", "utils", "common", "helper", "helpers", "base", "misc", "shared"}
	documented := map[string]bool{}
	for _, file := range goFiles(t) {
		name := file.syntax.Name.Name
		if slices.Contains(banned, name) {
			t.Errorf("%s: a package called %s says nothing about what belongs in it", file.path, name)
		}
		if !file.isTest {
			dir := path.Dir(file.path)
			documented[dir] = documented[dir] || file.syntax.Doc.Text() != ""
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		if !documented[dir] {
			t.Errorf("%s has no package comment: say in it what is decided there", dir)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, file := range goFiles(t) {
		if file.isTest || file.generated {
			continue
		}
		for _, decl := range file.syntax.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s: %s has no comment", file.at(name), name.Name)
			}
		}
	}
}

// undocumented lists the exported names of a declaration that have no comment. One comment serves a group of constants.
func undocumented(decl ast.Decl) []*ast.Ident {
	var names []*ast.Ident
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || receiverIsExported(d.Recv)) {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names
}

func receiverIsExported(recv *ast.FieldList) bool {
	for expr := recv.List[0].Type; ; {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return true
		}
	}
}

// TestColumns has no line be longer than maxColumns, but for raw strings, and comments that a tool reads.
func TestColumns(t *testing.T) {
	tools := regexp.MustCompile(`^\s*// \+kubebuilder|^\s*//go:|//nolint:`)
	for _, file := range goFiles(t) {
		if file.generated {
			continue
		}
		text := string(read(t, file.path))
		raw := file.rawStrings(text)
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > maxColumns && !raw[i+1] && !tools.MatchString(line) {
				t.Errorf("%s:%d has %d columns, more than %d", file.path, i+1, n, maxColumns)
			}
		}
	}
}

// rawStrings returns the lines in which raw strings stand.
func (f goFile) rawStrings(text string) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, "`") {
			from := f.set.Position(lit.Pos())
			for n := range strings.Count(text[from.Offset:f.set.Position(lit.End()).Offset], "\n") + 1 {
				lines[from.Line+n] = true
			}
		}
		return true
	})
	return lines
}

func TestSizes(t *testing.T) {
	for _, file := range goFiles(t) {
		if file.generated {
			continue
		}
		if lines := file.line(file.syntax.FileEnd); lines > maxFile {
			t.Errorf("%s has %d lines, more than %d: it holds more than one subject", file.path, lines, maxFile)
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			switch f := n.(type) {
			case *ast.FuncDecl:
				if lines := file.logicLines(f); lines > maxFunction && !file.isTest {
					t.Errorf("%s: %s has %d lines, more than %d", file.at(f), f.Name.Name, lines, maxFunction)
				}
			case *ast.StructType:
				if fields := state(f); fields > maxState && !file.isTest && inAny(file.path, []string{"internal"}) {
					t.Errorf("%s: %d fields of state, more than %d: those that change together are a type", file.at(f), fields,
						maxState)
				}
			case *ast.FuncType:
				if f.Params.NumFields() > maxParameters {
					t.Errorf("%s: %d parameters, more than %d: make a struct whose fields are documented", file.at(f),
						f.Params.NumFields(), maxParameters)
				}
			}
			return true
		})
	}
}

// state counts the fields that only the package of a type reaches; what is embedded is one.
func state(s *ast.StructType) (fields int) {
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 {
			fields++
		}
		for _, name := range f.Names {
			if !name.IsExported() {
				fields++
			}
		}
	}
	return fields
}

// TestNothingLocalIsCommitted finds the paths of machines that the repository was written on: they mean nothing
// elsewhere.
func TestNothingLocalIsCommitted(t *testing.T) {
	local := regexp.MustCompile(`(^|[^\w~./-])/(` + strings.Join([]string{"work", "root", "tmp/zf"}, "|") + `)/`)
	for _, file := range allFiles(t) {
		text := read(t, file)
		if bytes.IndexByte(text, 0) >= 0 {
			continue // not text
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if found := local.Find(line); found != nil {
				t.Errorf("%s:%d names %q, a path of one machine", file, i+1, found)
			}
		}
	}
}

// TestTypesAreWired compares the record-type table with every other place that lists types: a new type is a row there,
// and this test says what else it needs.
func TestTypesAreWired(t *testing.T) {
	examples, docs := read(t, "internal/rr/testdata/types.txt"), read(t, "docs/records.md")
	patterns := map[string]*regexp.Regexp{
		"config/crd/kubi.zone_records.yaml (spec.type; RecordType in api/kubizone/v1alpha1)": schemaPattern(t,
			"config/crd/kubi.zone_records.yaml", "spec", "type"),
		"config/crd/kubi.zone_zones.yaml (spec.delegations.records.types; " +
			"DelegatedType in api/kubizone/v1alpha1)": schemaPattern(t,
			"config/crd/kubi.zone_zones.yaml", "spec", "delegations", "records", "types"),
	}
	known := map[string]bool{}
	for _, typ := range rr.Types() {
		known[typ.String()] = true
		for where, pattern := range patterns {
			if !pattern.MatchString(typ.String()) {
				t.Errorf("%s does not accept %s", where, typ)
			}
		}
		for _, verdict := range []string{"good", "bad"} {
			// Of a type that only occurs in messages there is no rdata to be good.
			if !regexp.MustCompile(`(?m)^`+typ.String()+` +`+verdict+` `).Match(examples) &&
				(verdict == "bad" || typ.Refused() == "") {
				t.Errorf("internal/rr/testdata/types.txt has no %s example of %s", verdict, typ)
			}
		}
		if !regexp.MustCompile(`(?m)^\|\s*` + "`?" + typ.String() + "`?" + `\s*\|`).Match(docs) {
			t.Errorf("the table of docs/records.md has no row for %s", typ)
		}
	}
	for where, pattern := range patterns {
		for _, name := range regexp.MustCompile(`[A-Z][A-Z0-9]*`).FindAllString(pattern.String(), -1) {
			if name != "TYPE" && !known[name] {
				t.Errorf("%s lists %s, which is no row of the table in internal/rr/types.go", where, name)
			}
		}
	}
}

// schemaPattern finds the pattern of a field in a CustomResourceDefinition, through lists where there are any.
func schemaPattern(t *testing.T, file string, fields ...string) *regexp.Regexp {
	t.Helper()
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(read(t, file), &definition); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(definition.Spec.Versions) != 1 {
		t.Fatalf("%s has %d versions; this test reads one", file, len(definition.Spec.Versions))
	}
	at := &definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, field := range fields {
		if at = at.Properties[field]; at == nil {
			t.Fatalf("%s has no field %s (of %s)", file, field, strings.Join(fields, "."))
		}
		for at.Items != nil {
			at = at.Items
		}
	}
	pattern, err := regexp.Compile(at.Pattern)
	if err != nil || at.Pattern == "" {
		t.Fatalf("%s: the pattern of %s is %q: %v", file, strings.Join(fields, "."), at.Pattern, err)
	}
	return pattern
}

// A schema is the part of an OpenAPI schema that leads to a pattern.
type schema struct {
	Pattern    string             `json:"pattern"`
	Items      *schema            `json:"items"`
	Properties map[string]*schema `json:"properties"`
}

// A goFile is one parsed file of the module.
type goFile struct {
	path      string // from the repository's root, with slashes
	set       *token.FileSet
	syntax    *ast.File
	isTest    bool
	generated bool
}

func (f goFile) imports() []string {
	var paths []string
	for _, spec := range f.syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

func (f goFile) line(pos token.Pos) int { return f.set.Position(pos).Line }

func (f goFile) at(n ast.Node) string { return fmt.Sprintf("%s:%d", f.path, f.line(n.Pos())) }

// logicLines is a function's length without the literals in it that are long enough to be tables.
func (f goFile) logicLines(fn *ast.FuncDecl) int {
	lines := f.line(fn.End()) - f.line(fn.Pos()) + 1
	ast.Inspect(fn, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		size := f.line(literal.End()) - f.line(literal.Pos()) + 1
		if size >= largeLiteral {
			lines -= size - 1
			return false
		}
		return true
	})
	return lines
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	for _, name := range allFiles(t) {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "/testdata/") {
			continue
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, name, read(t, name), parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, goFile{path: name, set: set, syntax: syntax, isTest: strings.HasSuffix(name, "_test.go"),
			generated: ast.IsGenerated(syntax)})
	}
	if len(files) < 10 {
		t.Fatalf("found %d Go files, which cannot be all", len(files))
	}
	return files
}

// allFiles lists the repository's files, without git's own and what builds leave behind (see .gitignore).
func allFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "dist", ".idea", ".vscode"}, name):
			return fs.SkipDir
		case entry.Type().IsRegular() && name != ".git": // it is a file in a linked work tree
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// inAny reports whether a file is one of these, or below one of these folders.
func inAny(file string, places []string) bool {
	return slices.ContainsFunc(places, func(place string) bool {
		return file == place || strings.HasPrefix(file, place+"/")
	})
}
