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
		"hasKey": func(m map[string]string, key string) bool { _, has := m[key]; return has },
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
	err := t.of.Execute(&out, o)
	if fields, wrong := runtime.DefaultUnstructuredConverter.ToUnstructured(o); err != nil && wrong == nil {
		out.text.Reset() // people write fields as JSON has them, too
		if strict, again := t.of.Clone(); again == nil {
			err = strict.Option("missingkey=error").Execute(&out, fields)
		}
	}
	if err != nil {
		w.note(TemplateFailed, "does not fit the template of names: %v; correct --fqdn-template", err)
		return nil
	}
	names := words(out.text.String())
	slices.Sort(names)
	return slices.Compact(names)
}

// limited takes so much text and no more: a template can repeat what a tenant writes.
type limited struct{ text strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > 1<<20 {
		return 0, fmt.Errorf("it makes more than %d octets", 1<<20)
	}
	return l.text.Write(p)
}
