// Package site_test makes the documentation site with Hugo, and looks at what came out: each link, anchor and picture
// leads somewhere, each page is in the menu, nothing comes from elsewhere, and the search finds what is there.
package site_test

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// source is where links go that lead to files which are no pages.
const source = "https://github.com/zonefold/zonefold/blob/main/"

// A document is one page of the site.
type document struct {
	ids   []string
	links []string // of <a>
	menu  []string // those of them in the menu
	parts []string // what the page is made of: scripts, styles, pictures
	heads int      // headings of the first level
	lang  string
	title string
	blind []string // pictures that say nothing to those who do not see them
}

func TestTheSite(t *testing.T) {
	folder := build(t)
	pages := map[string]*document{}
	err := filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".html") {
			relative, _ := filepath.Rel(folder, name)
			pages[filepath.ToSlash(relative)] = parse(t, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 80 {
		t.Fatalf("the site has %d pages, which cannot be all", len(pages))
	}
	for name, page := range pages {
		page.judge(t, name)
		for _, link := range page.links {
			lead(t, pages, name, link)
		}
		for _, part := range page.parts {
			if strings.Contains(part, ":") || strings.HasPrefix(part, "/") {
				t.Errorf("%s is made of %s, which is not beside it", name, part)
			} else if _, err := os.Stat(filepath.Join(folder, path.Join(path.Dir(name), part))); err != nil {
				t.Errorf("%s is made of %s: %v", name, part, err)
			}
		}
	}
	t.Run("each page of docs is in the menu", func(t *testing.T) { menu(t, pages) })
	t.Run("the search finds what is there", func(t *testing.T) { search(t, folder, pages) })
}

// build makes the site. A warning of Hugo is an error.
func build(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "site")
	cmd := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/site/go.mod", "hugo", "--source", "site",
		"--destination", folder, "--cacheDir", t.TempDir(), "--panicOnWarning", "--logLevel", "warn")
	cmd.Dir = ".."
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("hugo: %v\n%s", err, out)
	}
	return folder
}

func parse(t *testing.T, name string) *document {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	root, err := html.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	d := &document{}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			d.read(n)
		}
	}
	return d
}

func (d *document) read(n *html.Node) {
	has := map[string]string{}
	for _, a := range n.Attr {
		has[a.Key] = a.Val
	}
	if id := has["id"]; id != "" {
		d.ids = append(d.ids, id)
	}
	switch n.Data {
	case "html":
		d.lang = has["lang"]
	case "title":
		d.title = n.FirstChild.Data
	case "h1":
		d.heads++
	case "a":
		d.links = append(d.links, has["href"])
		for above := range n.Ancestors() {
			if above.Data == "details" {
				d.menu = append(d.menu, has["href"])
			}
		}
	case "img":
		d.parts = append(d.parts, has["src"])
		if has["alt"] == "" {
			d.blind = append(d.blind, has["src"])
		}
	case "script":
		d.parts = append(d.parts, has["src"])
	case "link":
		d.parts = append(d.parts, has["href"])
	}
}

// judge looks at the page alone.
func (d *document) judge(t *testing.T, name string) {
	t.Helper()
	if d.lang != "en" || d.heads != 1 || d.title == "" {
		t.Errorf("%s has the language %q, %d headings of the first level and the title %q", name, d.lang, d.heads, d.title)
	}
	if len(d.blind) > 0 {
		t.Errorf("%s has %v without a text", name, d.blind)
	}
	sorted := slices.Sorted(slices.Values(d.ids))
	for i := range len(sorted) - 1 {
		if sorted[i] == sorted[i+1] {
			t.Errorf("%s has the anchor %s twice", name, sorted[i])
		}
	}
}

// lead complains if a link of a page leads nowhere.
func lead(t *testing.T, pages map[string]*document, from, link string) {
	t.Helper()
	if file, is := strings.CutPrefix(link, source); is {
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(file))); err != nil {
			t.Errorf("%s links to %s, which the repository does not have", from, file)
		}
		return
	}
	u, err := url.Parse(link)
	if err != nil || link == "" || strings.HasPrefix(link, "/") {
		t.Errorf("%s links to %q: %v", from, link, err)
		return
	}
	if u.Scheme != "" {
		return // elsewhere
	}
	to := from
	if u.Path != "" {
		to = path.Join(path.Dir(from), u.Path)
	}
	page := pages[to]
	if page == nil {
		t.Errorf("%s links to %s, which is no page", from, link)
	} else if u.Fragment != "" && !slices.Contains(page.ids, u.Fragment) {
		t.Errorf("%s links to %s, and there is no such anchor", from, link)
	}
}

// menu compares the menu with the files in docs.
func menu(t *testing.T, pages map[string]*document) {
	files, err := filepath.Glob("../docs/*.md")
	if err != nil || len(files) < 40 {
		t.Fatalf("docs has %d pages: %v", len(files), err)
	}
	listed := pages["index.html"].menu
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".md"); name != "README" &&
			!slices.Contains(listed, "docs/"+name+".html") && !slices.Contains(listed, "./docs/"+name+".html") {
			t.Errorf("docs/README.md does not list %s.md, so the menu lacks it", name)
		}
	}
	for name, page := range pages {
		if len(page.menu) != len(listed) {
			t.Errorf("%s has %d pages in its menu, and index.html has %d", name, len(page.menu), len(listed))
		}
	}
}

// search reads the index as the script does.
func search(t *testing.T, folder string, pages map[string]*document) {
	text, err := os.ReadFile(filepath.Join(folder, "search-index.js"))
	if err != nil {
		t.Fatal(err)
	}
	list, is := strings.CutPrefix(strings.TrimSpace(string(text)), "window.zonefoldIndex = ")
	if !is {
		t.Fatalf("the index begins with %.60q", text)
	}
	var entries []struct{ Page, URL, Heading, Text string }
	if err := json.Unmarshal([]byte(strings.TrimSuffix(list, ";")), &entries); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name, anchor, _ := strings.Cut(e.URL, "#")
		seen[name] = true
		if page := pages[name]; page == nil || !slices.Contains(page.ids, anchor) || e.Heading == "" || e.Page == "" {
			t.Errorf("the index has %+.200v, which leads nowhere", e)
		}
		if regexp.MustCompile(`<(p|code|td|a) ?`).MatchString(e.Heading) {
			t.Errorf("the index has tags in the heading %q", e.Heading)
		}
	}
	for name := range pages {
		if name != "index.html" && !strings.HasSuffix(name, "/index.html") && !seen[name] &&
			name != "docs.html" && name != "docs/decisions.html" {
			t.Errorf("the index lacks %s", name)
		}
	}
	for _, want := range []string{"NotDelegated", "maxDeletedPercent", "docs/brake.html"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the index lacks %s", want)
		}
	}
}
