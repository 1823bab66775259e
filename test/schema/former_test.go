package schema

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// TestDefinitionsTakeEveryOlderObject compares them with those that people have: what is new is optional, and nothing
// that was taken is refused.
func TestDefinitionsTakeEveryOlderObject(t *testing.T) {
	tree, err := testoperator.FormerTree(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(tree, "config/crd/*.yaml"))
	if err != nil || len(files) < 15 {
		t.Fatalf("there are %d older definitions: %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		old, now := versions(t, file), versions(t, filepath.Join(crds, name))
		for version, before := range old {
			after, is := now[version]
			if !is {
				t.Errorf("%s no longer has the version %s", name, version)
				continue
			}
			for _, flag := range []string{"served", "storage"} {
				if before[flag] != after[flag] {
					t.Errorf("%s: %s of the version %s was %v and is %v", name, flag, version, before[flag], after[flag])
				}
			}
			for _, wrong := range narrower(version, schemaOf(t, before), schemaOf(t, after)) {
				t.Errorf("%s: %s", name, wrong)
			}
		}
	}
}

// versions are the versions of a definition by name.
func versions(t *testing.T, file string) map[string]map[string]any {
	t.Helper()
	list, _, err := unstructured.NestedSlice(documents(t, file)[0].Object, "spec", "versions")
	if err != nil || len(list) == 0 {
		t.Fatalf("%s has no versions: %v", file, err)
	}
	out := map[string]map[string]any{}
	for _, v := range list {
		version, _ := v.(map[string]any)
		out[fmt.Sprint(version["name"])] = version
	}
	return out
}

func schemaOf(t *testing.T, version map[string]any) map[string]any {
	t.Helper()
	s, found, err := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
	if err != nil || !found {
		t.Fatalf("the version %v has no schema: %v", version["name"], err)
	}
	return s
}

// narrower says what a schema took and its successor refuses, or understands otherwise.
func narrower(at string, old, now map[string]any) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, at+" "+fmt.Sprintf(format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(part(old, "properties"))) {
		after, is := part(now, "properties")[name].(map[string]any)
		if !is {
			complain("no longer has the field %s", name)
			continue
		}
		wrong = append(wrong, narrower(at+"."+name, part(part(old, "properties"), name), after)...)
	}
	for _, inner := range []string{"items", "additionalProperties"} {
		if part(old, inner) != nil && part(now, inner) != nil {
			wrong = append(wrong, narrower(at+"[]", part(old, inner), part(now, inner))...)
		}
	}
	for _, name := range values(now, "required") {
		if !slices.Contains(values(old, "required"), name) {
			complain("now requires %v", name)
		}
	}
	for _, key := range sameKeys() {
		if !reflect.DeepEqual(old[key], now[key]) {
			complain("has as %s %v, which was %v", key, now[key], old[key])
		}
	}
	for _, key := range []string{"pattern", "format", "enum"} {
		if now[key] != nil && !reflect.DeepEqual(old[key], now[key]) && (key != "enum" || !holds(now, old)) {
			complain("has as %s %v, which was %v", key, now[key], old[key])
		}
	}
	return append(append(wrong, tighter(at, old, now)...), newRules(at, old, now)...)
}

// sameKeys are those whose value says what an object means.
func sameKeys() []string {
	return []string{"type", "default", "nullable", "oneOf", "anyOf", "allOf", "not", "x-kubernetes-list-type",
		"x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-int-or-string",
		"x-kubernetes-preserve-unknown-fields"}
}

// holds reports whether an enumeration has all values that another one has.
func holds(now, old map[string]any) bool {
	return old["enum"] != nil && !slices.ContainsFunc(values(old, "enum"), func(v any) bool {
		return !slices.Contains(values(now, "enum"), v)
	})
}

// tighter says which bounds take less than before.
func tighter(at string, old, now map[string]any) (wrong []string) {
	for key, sign := range map[string]int{"maxLength": 1, "maxItems": 1, "maxProperties": 1, "maximum": 1,
		"minLength": -1, "minItems": -1, "minProperties": -1, "minimum": -1} {
		before, was := number(old[key])
		after, is := number(now[key])
		if is && (!was || sign*cmp.Compare(after, before) < 0) {
			wrong = append(wrong, fmt.Sprintf("%s has as %s %v, which was %v", at, key, now[key], old[key]))
		}
	}
	return wrong
}

// newRules says which rules are new, but those about fields that are new as well.
func newRules(at string, old, now map[string]any) (wrong []string) {
	about := regexp.MustCompile(`^!has\(self\.(\w+)\) \|\|`)
	rules := func(s map[string]any) (out []string) {
		for _, r := range values(s, "x-kubernetes-validations") {
			rule, _ := r.(map[string]any)
			out = append(out, fmt.Sprint(rule["rule"]))
		}
		return out
	}
	for _, rule := range rules(now) {
		field := about.FindStringSubmatch(rule)
		known := slices.Contains(rules(old), rule) || slices.Contains(rules(old), wider().Replace(rule))
		if !known && (field == nil || part(old, "properties")[field[1]] != nil) {
			wrong = append(wrong, fmt.Sprintf("%s has the new rule %s", at, rule))
		}
	}
	return wrong
}

// wider has parts of rules that take all that others took in their place, and more.
func wider() *strings.Replacer {
	return strings.NewReplacer(
		`[A-Za-z0-9_/-]`, `[A-Za-z0-9_-]`, // labels of RFC 2317
		`.replace('\\', "")`, ``, // of both mailboxes that are compared
		// a mailbox with dots before its @
		`((\\?\.[A-Za-z0-9_]([A-Za-z0-9_+-]{0,61}[A-Za-z0-9_])?)*@[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?`+
			`(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*|(\\\.[A-Za-z0-9_]([A-Za-z0-9_+-]{0,61}[A-Za-z0-9_])?)*`+
			`(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*)?)`,
		`([.@][A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*)?`)
}

func part(s map[string]any, key string) map[string]any {
	out, _ := s[key].(map[string]any)
	return out
}

func values(s map[string]any, key string) []any {
	out, _ := s[key].([]any)
	return out
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func TestWhatMakesASchemaNarrower(t *testing.T) {
	for sentence, c := range map[string]struct{ old, now, wrong string }{
		"a new field that may be missing": {
			"{type: object, properties: {a: {type: string}}}",
			"{type: object, properties: {a: {type: string}, b: {required: [c], properties: {c: {type: string}}}}}", ""},
		"a rule about a new field": {
			"{type: object, properties: {a: {type: string}}}",
			"{type: object, properties: {a: {type: string}, b: {type: string}}, x-kubernetes-validations: " +
				"[{rule: '!has(self.b) || self.a != self.b'}]}", ""},
		"wider bounds": {"{type: string, maxLength: 3, enum: [a]}", "{type: string, maxLength: 4, enum: [a, b]}", ""},
		"a field that is gone": {"{properties: {a: {type: string}}}", "{properties: {}}",
			"v no longer has the field a"},
		"a new required field": {"{properties: {}}", "{properties: {a: {type: string}}, required: [a]}", "v now requires a"},
		"a bound that is smaller": {"{properties: {a: {maxLength: 4}}}", "{properties: {a: {maxLength: 3}}}",
			"v.a has as maxLength 3, which was 4"},
		"a bound where there was none": {"{items: {type: integer}}", "{items: {type: integer, minimum: 1}}",
			"v[] has as minimum 1, which was <nil>"},
		"another type":         {"{type: integer}", "{type: string}", "v has as type string, which was integer"},
		"another default":      {"{default: Keep}", "{default: Own}", "v has as default Own, which was Keep"},
		"a value that is gone": {"{enum: [a, b]}", "{enum: [a]}", "v has as enum [a], which was [a b]"},
		"another pattern":      {"{pattern: a}", "{pattern: b}", "v has as pattern b, which was a"},
		"a rule about a field of old": {"{properties: {a: {}}}",
			"{properties: {a: {}}, x-kubernetes-validations: [{rule: '!has(self.a) || self.a'}]}",
			"v has the new rule !has(self.a) || self.a"},
		"unknown fields are gone": {"{x-kubernetes-preserve-unknown-fields: true}", "{}",
			"v has as x-kubernetes-preserve-unknown-fields <nil>, which was true"},
	} {
		var old, now map[string]any
		if err := yaml.Unmarshal([]byte(c.old), &old); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(c.now), &now); err != nil {
			t.Fatal(err)
		}
		if wrong := strings.Join(narrower("v", old, now), "; "); wrong != c.wrong {
			t.Errorf("%s: %q, not %q", sentence, wrong, c.wrong)
		}
	}
}
