// Package docs_test holds the documentation to the code: examples are read and folded by the same functions as the
// operator's, lists of fields, reasons, metrics, types and flags are compared with where they come from, and paths have
// to exist.
package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A page is one Markdown file.
type page struct {
	path string // from the repository's root
	text string
}

// pages are all that people read, apart from package documentation.
func pages(t *testing.T) []page {
	t.Helper()
	names := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "REVIEWING.md", "SECURITY.md"}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.HasSuffix(name, ".md") {
			names = append(names, path.Join("docs", filepath.ToSlash(name)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []page
	for _, name := range names {
		all = append(all, page{name, read(t, name)})
	}
	return all
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A block is one fenced block of a page.
type block struct {
	line int // of its first line
	text string
}

// blocks returns the blocks of a language.
func (p page) blocks(language string) []block {
	var found []block
	var inside bool
	for i, line := range strings.Split(p.text, "\n") {
		switch fence := strings.TrimSpace(line); {
		case !inside && fence == "```"+language:
			inside = true
			found = append(found, block{line: i + 2})
		case inside && fence == "```":
			inside = false
		case inside:
			found[len(found)-1].text += line + "\n"
		}
	}
	return found
}

// prose returns the page without its blocks.
func (p page) prose() string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(p.text, "")
}

// section returns what stands below a heading, with its subsections.
func (p page) section(t *testing.T, heading string) string {
	t.Helper()
	level := len(heading) - len(strings.TrimLeft(heading, "#"))
	_, rest, found := strings.Cut(p.text, "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", p.path, heading)
	}
	if end := regexp.MustCompile(`(?m)^#{1,` + string(rune('0'+level)) + `} `).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return rest
}

// rows returns the cells of the rows of all tables in a text, without their headings.
func rows(text string) [][]string {
	var found [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if strings.Trim(cells[0], "-: ") == "" { // the line below a heading: forget that
			found = found[:len(found)-1]
			continue
		}
		found = append(found, cells)
	}
	return found
}

// code returns the text of a cell that is one code span.
func code(cell string) (string, bool) {
	inner, ok := strings.CutPrefix(cell, "`")
	if !ok || strings.Count(inner, "`") != 1 || !strings.HasSuffix(inner, "`") {
		return "", false
	}
	return strings.TrimSuffix(inner, "`"), true
}

// same compares what a page lists with what there is.
func same(t *testing.T, what string, listed, there []string) {
	t.Helper()
	for _, name := range there {
		if !slices.Contains(listed, name) {
			t.Errorf("%s does not list %s", what, name)
		}
	}
	seen := map[string]bool{}
	for _, name := range listed {
		if !slices.Contains(there, name) {
			t.Errorf("%s lists %s, which does not exist", what, name)
		}
		if seen[name] {
			t.Errorf("%s lists %s twice", what, name)
		}
		seen[name] = true
	}
}

func TestLinksAndPathsLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	span := regexp.MustCompile("`((?:api|cmd|config|docs|examples|hack|internal|test|tools)/[A-Za-z0-9_./*-]*)`")
	for _, p := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(p.prose(), -1) {
			if target := found[1]; !strings.Contains(target, "://") && !exists(t, path.Join(path.Dir(p.path), target)) {
				t.Errorf("%s links to %s, which does not exist", p.path, target)
			}
		}
		for _, found := range span.FindAllStringSubmatch(p.prose(), -1) {
			if !exists(t, found[1]) {
				t.Errorf("%s names %s, which does not exist", p.path, found[1])
			}
		}
	}
}

// exists reports whether there is such a path in the repository; it may have wildcards.
func exists(t *testing.T, name string) bool {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return len(found) > 0
}

func TestMakeTargetsExist(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, p := range pages(t) {
		for _, found := range regexp.MustCompile("(?m)(?:`|^ *)make ([a-z0-9]+)").FindAllStringSubmatch(p.text, -1) {
			if !regexp.MustCompile(`(?m)^` + found[1] + `:`).MatchString(makefile) {
				t.Errorf("%s says make %s, which is no target", p.path, found[1])
			}
		}
	}
}
