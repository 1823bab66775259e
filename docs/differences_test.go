package docs_test

import (
	"go/ast"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDifferencesAreTested holds each row of the list of differences to a test that exists.
func TestDifferencesAreTested(t *testing.T) {
	if !strings.Contains(read(t, "README.md"), "](docs/differences.md)") {
		t.Error("README.md does not link to docs/differences.md")
	}
	p := page{"docs/differences.md", read(t, "docs/differences.md")}
	known := packages{}
	for _, dialect := range []string{"Kubizone", "Bindy", "DNSClass and DNSRecord", "Gardener"} {
		all := rows(p.section(t, "## "+dialect))
		if len(all) < 10 {
			t.Errorf("the section %s has %d rows, which cannot be all", dialect, len(all))
		}
		for _, cells := range all {
			if len(cells) != 5 || slices.Contains(cells, "") {
				t.Errorf("the row %q has %d cells, of which none may be empty; want 5", cells[0], len(cells))
				continue
			}
			known.hold(t, cells[0], cells[4])
		}
	}
}

// packages are the tests of packages that were read, by the folder: for each function the names that a subtest may
// have.
type packages map[string]map[string][]string

// hold checks what the last cell of a row names: code spans with a folder, a function in it and, after slashes, its
// subtests.
func (p packages) hold(t *testing.T, row, cell string) {
	t.Helper()
	spans := regexp.MustCompile("`([^` ]+) ([^`/ ]+)((?:/[^` ]+)?)`").FindAllStringSubmatch(cell, -1)
	if len(spans) == 0 || strings.Trim(regexp.MustCompile("`[^`]*`").ReplaceAllString(cell, ""), " ") != "" ||
		strings.Count(cell, "`") != 2*len(spans) {
		t.Errorf("the row %q names its tests as %s; want `folder TestName` or `folder TestName/subtest`", row, cell)
	}
	for _, span := range spans {
		folder, function := span[1], span[2]
		subtests, there := p.in(t, folder)[function]
		if !there {
			t.Errorf("the row %q names %s of %s, which does not exist", row, function, folder)
			continue
		}
		for subtest := range strings.SplitSeq(strings.TrimPrefix(span[3], "/"), "/") {
			if subtest != "" && !slices.Contains(subtests, subtest) {
				t.Errorf("the row %q names the subtest %s of %s in %s, which does not exist", row, subtest, function, folder)
			}
		}
	}
}

// in returns the test functions of a folder. A subtest may be called as anything that is written out in the file of its
// function, or as a file in the folder's test data.
func (p packages) in(t *testing.T, folder string) map[string][]string {
	t.Helper()
	if tests, read := p[folder]; read {
		return tests
	}
	tests := map[string][]string{}
	for _, name := range files(t, folder, "*_test.go") {
		var names []string
		file := parse(t, name)
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if text, ok := literal(e); ok {
					names = append(names, strings.ReplaceAll(text, " ", "_"))
				}
			}
			return true
		})
		for _, data := range files(t, folder, "testdata/*.txtar") {
			names = append(names, strings.TrimSuffix(path.Base(data), ".txtar"))
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = names
			}
		}
	}
	p[folder] = tests
	return tests
}

// files returns the files of a folder that match a pattern, from the repository's root.
func files(t *testing.T, folder, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		found[i] = strings.TrimPrefix(filepath.ToSlash(found[i]), "../")
	}
	return found
}
