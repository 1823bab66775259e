package sources

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Template makes names of an object: external-dns' --fqdn-template.
type Template struct{ of *template.Template }

// ParseTemplate reads a template of text/template, with the functions of external-dns.
func ParseTemplate(text string) (*Template, error) {
	address := func(four bool) func(string) bool {
		return func(s string) bool {
			ip, err := netip.ParseAddr(s)
			return err == nil && ip.Is4() == four
		}
	}
	parsed, err := template.New("names").Funcs(template.FuncMap{
		"contains": strings.Contains, "trimPrefix": strings.TrimPrefix, "trimSuffix": strings.TrimSuffix,
		"trim": strings.TrimSpace, "toLower": strings.ToLower,
		"replace": func(old, with, in string) string { return strings.ReplaceAll(in, old, with) },
		"isIPv4":  address(true), "isIPv6": address(false),
		"isSource": func(string) bool { return false }, // see names
		"hasKey":   func(m map[string]string, key string) bool { _, has := m[key]; return has },
		"fromJson": func(text string) (out any) {
			_ = json.Unmarshal([]byte(text), &out) // what is no JSON is nothing
			return out
		},
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading the template of names: %w", err)
	}
	return &Template{parsed}, nil
}

// names returns the names that the template makes of an object, which says its kind then.
func (t *Template) names(o runtime.Object, kind schema.GroupVersionKind, w *Wish) []string {
	if t == nil {
		return nil
	}
	o = o.DeepCopyObject()
	o.GetObjectKind().SetGroupVersionKind(kind)
	var out limited
	of, err := t.of.Clone()
	if err == nil {
		from := sourceOf(kind.Kind)
		of.Funcs(template.FuncMap{"isSource": func(name string) bool { return strings.EqualFold(name, from) }})
		err = execute(of, o, &out)
	}
	if err != nil {
		w.note(TemplateFailed, "does not fit the template of names: %v; correct --fqdn-template", err)
		return nil
	}
	names := words(out.text.String())
	slices.Sort(names)
	return slices.Compact(names)
}

// execute fills a template with the fields of an object as Go has them, or else as JSON has them, which people write,
// too.
func execute(of *template.Template, o runtime.Object, out *limited) error {
	err := of.Execute(out, o)
	if err == nil {
		return nil
	}
	fields, wrong := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if wrong != nil {
		return err
	}
	out.text.Reset()
	return of.Option("missingkey=error").Execute(out, fields)
}

// sourceOf returns the name that external-dns gives to the source of a kind.
func sourceOf(kind string) string {
	name := strings.ToLower(kind)
	if strings.HasSuffix(name, "route") {
		return "gateway-" + name
	}
	return name
}

// limited takes so much text and no more: a template can repeat what a tenant writes.
type limited struct{ text strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > 1<<20 {
		return 0, fmt.Errorf("it makes more than %d octets", 1<<20)
	}
	return l.text.Write(p)
}
