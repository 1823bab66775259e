package docs_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestDependenciesAreListed(t *testing.T) {
	p := page{"docs/dependencies.md", read(t, "docs/dependencies.md")}
	for _, file := range []string{
		"go.mod", "tools/go.mod", "tools/site/go.mod", "tools/release/go.mod", "charts/go.mod", "hack/cluster/k8s/go.mod",
		"hack/cluster/etcd/go.mod", "hack/bench/coredns/go.mod",
		"test/acceptance/gardener/go.mod", "test/acceptance/externaldns/go.mod", "test/acceptance/updates/go.mod",
		"test/acceptance/externaldns/program/go.mod", "test/acceptance/oauth2proxy/go.mod",
	} {
		text := read(t, file)
		packages := tools(text)
		maps.Copy(packages, imported(t, filepath.Join("..", filepath.Dir(file))))
		modules := map[string]bool{}
		for name := range packages {
			if module := moduleOf(name, text); module != "" {
				modules[module] = true
			}
		}
		var there []string
		for module := range modules {
			there = append(there, module)
		}
		same(t, "the section "+file+" of docs/dependencies.md", firsts(t, p.section(t, "## "+file)), there)
	}
}

// tools returns the packages that a module file names as tools.
func tools(mod string) map[string]bool {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^tool ([^(\s]+)$`).FindAllStringSubmatch(mod, -1) {
		found[m[1]] = true
	}
	for _, group := range regexp.MustCompile(`(?ms)^tool \((.*?)^\)`).FindAllStringSubmatch(mod, -1) {
		for _, name := range strings.Fields(group[1]) {
			found[name] = true
		}
	}
	return found
}

// imported returns what the Go files of a folder of the repository import.
func imported(t *testing.T, dir string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin" || entry.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				found[path] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// moduleOf returns the module that has a package: the longest of those that a module file requires; "" for none.
func moduleOf(name, mod string) string {
	longest := ""
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\t?([^\s()/]+\.[^\s()]+) v[0-9]`).FindAllStringSubmatch(mod,
		-1) {
		if module := m[1]; (name == module || strings.HasPrefix(name, module+"/")) && len(module) > len(longest) {
			longest = module
		}
	}
	return longest
}
