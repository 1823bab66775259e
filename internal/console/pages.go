package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zonefold/zonefold/internal/cli/plain"
)

//go:embed templates/*.html
var templates embed.FS

// A page is what a template of that name is filled with.
type page struct {
	Title    string
	Body     string // the name of the template, without .html
	Data     any    // what that one shows
	Status   int    // of the answer; 0: that of success
	Live     bool   // it follows what becomes otherwise
	Continue bool   // the browser goes on to the first page by itself

	// filled in by show
	Self, Path string
	CSRF       string
	World      *World
	Edit       bool
	Inside     bool     // of a session
	Visitor    *visitor // of a console of many
}

// A visitor is what a page says of who looks at it.
type visitor struct {
	Name       string
	Namespaces string // that are looked into, as they were said
	SignOut    bool   // there is a session that ends by that
}

// pages are the templates by name.
type pages struct{ byName map[string]*template.Template }

func parsePages() (*pages, error) {
	p := &pages{byName: map[string]*template.Template{}}
	files, err := templates.ReadDir("templates")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name, _ := strings.CutSuffix(file.Name(), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		p.byName[name], err = template.New(name).Funcs(functions()).ParseFS(templates, "templates/layout.html",
			"templates/parts.html", "templates/"+file.Name())
		if err != nil {
			return nil, fmt.Errorf("reading the template %s: %w", file.Name(), err)
		}
	}
	return p, nil
}

// write fills a template and answers with it. Whatever cannot be filled is answered as an error, and not by half.
func (all *pages) write(w http.ResponseWriter, status int, p *page) {
	var out bytes.Buffer
	if err := all.byName[p.Body].ExecuteTemplate(&out, "layout", p); err != nil {
		http.Error(w, "The page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // who has left needs no answer
}

func functions() template.FuncMap {
	return template.FuncMap{
		"line": plain.Line, "text": text, "clip": clip, "join": strings.Join,
		"zone": zoneLink, "object": objectLink, "name": nameLink, "act": actLink, "edit": editLink, "tab": tabLink,
		"count": count, "stamp": stamp, "depth": func(n int) int { return min(n, maxDepth) },
	}
}

// text makes text of several lines fit to be shown.
func text(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = plain.Line(line)
	}
	return strings.Join(lines, "\n")
}

// maxDepth is how far the style sheet moves a zone to the right, for those that enclose it.
const maxDepth = 8

// clipped is how much of a value a list shows. The page of the record shows all of it.
const clipped = 200

// clip makes text fit for a cell of a list.
func clip(text string) string {
	if len(text) <= clipped {
		return plain.Line(text)
	}
	end := clipped
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d octets)", plain.Line(text[:end]), len(text))
}

func ofObject(o Object) url.Values {
	return url.Values{"kind": {o.Kind}, "namespace": {o.Namespace}, "object": {o.Name}}
}

func zoneLink(o Object) string { return "/zone?" + ofObject(o).Encode() }

func tabLink(path string, o Object) string { return path + "?" + ofObject(o).Encode() }

func objectLink(o Object) string { return "/explain?" + ofObject(o).Encode() }

func nameLink(name, of string) string {
	q := url.Values{"name": {name}}
	if of != "" {
		q.Set("type", of)
	}
	return "/explain?" + q.Encode()
}

func actLink(verb Verb, zone Object, serial string) string {
	q := ofObject(zone)
	q.Set("verb", string(verb))
	if serial != "" {
		q.Set("serial", serial)
	}
	return "/act?" + q.Encode()
}

// editLink is where the form for a new record in a zone is.
func editLink(fqdn string) string { return "/edit?" + url.Values{"in": {fqdn}}.Encode() }

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
