package sim

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// An example is a right object of a kind.
type example struct {
	kind *kind
	text string
}

// examples reads those of all kinds.
func examples(t *testing.T, kinds *Kinds) (out []example) {
	t.Helper()
	text, err := os.ReadFile("testdata/truth.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := map[*kind]bool{}
	for document := range strings.SplitSeq(string(text), "---\n") {
		object := (&example{text: document}).right()
		gvk := (&unstructured.Unstructured{Object: object}).GroupVersionKind()
		at := slices.IndexFunc(kinds.all, func(k *kind) bool { return k.GroupVersionKind == gvk })
		if at < 0 {
			t.Fatalf("there is no kind %s", gvk)
		}
		found[kinds.all[at]] = true
		out = append(out, example{kinds.all[at], document})
	}
	for _, k := range kinds.all {
		if k.custom != nil && !found[k] {
			t.Errorf("testdata/truth.yaml has no %s", k.GroupVersionKind)
		}
	}
	return out
}

// path is the path of the collection in a namespace.
func (e *example) path(namespace string) string {
	return e.at(e.kind.GroupVersionKind, namespace)
}

func (e *example) at(gvk schema.GroupVersionKind, namespace string) string {
	out := "/apis/" + gvk.Group + "/" + gvk.Version
	if gvk.Group == "" {
		out = "/api/" + gvk.Version
	}
	if e.kind.namespaced {
		out += "/namespaces/" + namespace
	}
	return out + "/" + e.kind.plural
}

// right returns the object, without metadata.
func (e *example) right() map[string]any {
	var out map[string]any
	if err := yaml.Unmarshal([]byte(e.text), &out); err != nil {
		panic(err) // of the testdata
	}
	return out
}

// content is the object, often with something that is different or wrong.
func (e *example) content(random *rand.Rand) map[string]any {
	out := e.right()
	if e.kind.custom == nil {
		ownContent(random, out)
		return out
	}
	for range random.IntN(3) {
		change(random, e.kind.custom.structure, out)
	}
	return out
}

// ownContent changes an object of a kind of Kubernetes. What is wrong with these is not looked at.
func ownContent(random *rand.Rand, object map[string]any) {
	switch object["kind"] {
	case "Lease":
		spec := object["spec"].(map[string]any)
		spec["holderIdentity"] = []any{"one", "two", "three"}[random.IntN(3)]
		spec["leaseTransitions"] = float64(random.IntN(3))
	case "Secret":
		object["data"] = map[string]any{"key": "b25l", "more": []any{"b25l", "dHdv", ""}[random.IntN(3)]}
	}
}

// change changes one field of a value that has a schema.
func change(random *rand.Rand, s *structural.Structural, value map[string]any) {
	fields := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Properties)), func(f string) bool {
		return f == "apiVersion" || f == "kind" || f == "metadata"
	})
	if len(fields) == 0 || random.IntN(20) == 0 {
		value["unknown"] = random.IntN(3)
		return
	}
	field := fields[random.IntN(len(fields))]
	inner := s.Properties[field]
	switch below := value[field].(type) {
	case map[string]any:
		if random.IntN(4) > 0 {
			change(random, &inner, below)
			return
		}
	case []any:
		if len(below) > 0 && random.IntN(2) == 0 && inner.Items != nil {
			if one, ok := below[random.IntN(len(below))].(map[string]any); ok {
				change(random, inner.Items, one)
				return
			}
		}
	}
	switch random.IntN(8) {
	case 0:
		delete(value, field)
	case 1:
		value[field] = nil
	case 2:
		value[field] = []any{"words", 7, true, map[string]any{}, []any{}, 1.5}[random.IntN(6)]
	default:
		value[field] = filled(random, &inner, 0)
	}
}

// filled makes a value of the type that a schema asks for.
func filled(random *rand.Rand, s *structural.Structural, depth int) any {
	if s.ValueValidation != nil && len(s.ValueValidation.Enum) > 0 {
		return s.ValueValidation.Enum[random.IntN(len(s.ValueValidation.Enum))].Object
	}
	switch s.Type {
	case "integer":
		return []int{0, 1, 60, 300, -1, 70_000, 1 << 31}[random.IntN(7)]
	case "boolean":
		return random.IntN(2) == 0
	case "array":
		out := []any{}
		for range random.IntN(3) {
			out = append(out, filled(random, s.Items, depth+1))
		}
		return out
	case "object":
		out := map[string]any{}
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			inner := s.Properties[field]
			isRequired := s.ValueValidation != nil && slices.Contains(s.ValueValidation.Required, field)
			if isRequired && random.IntN(12) > 0 || depth < 4 && random.IntN(6) == 0 {
				out[field] = filled(random, &inner, depth+1)
			}
		}
		return out
	}
	return []any{"", "a", "b", "example.org.", "5m", "9.18", "192.0.2.1", "2026-11-01T00:00:00Z", "x y", "Ready", "True",
		"2001:db8::1", "http://one.example", strings.Repeat("x", 300)}[random.IntN(14)]
}

// sortedKeys are the keys of what is a map.
func sortedKeys(value any) []string {
	m, _ := value.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

// valueAt is what an object has at a JSON pointer, or something that may stand there.
func (l *living) valueAt(object map[string]any, pointer string) any {
	switch {
	case strings.HasPrefix(pointer, "/metadata/finalizers/"):
		return "example.org/" + l.choose("x", "y")
	case pointer == "/metadata/finalizers":
		return []any{"example.org/" + l.choose("x", "y")}
	case strings.HasPrefix(pointer, "/metadata/"):
		return l.choose("x", "y")
	}
	value, _, _ := unstructured.NestedFieldNoCopy(object, strings.Split(pointer, "/")[1:]...)
	return value
}
