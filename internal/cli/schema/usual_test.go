package schema

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/config/crd"
)

// TestUsualValuesAreValid has each part of each schema look at random values: the API server's validators find nothing
// wrong with one that it recognises, and give it the same defaults.
func TestUsualValuesAreValid(t *testing.T) {
	files, err := fs.Glob(crd.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			text, err := fs.ReadFile(crd.Files, name)
			if err != nil {
				t.Fatal(err)
			}
			var definition apiextensionsv1.CustomResourceDefinition
			if err := yaml.UnmarshalStrict(text, &definition); err != nil {
				t.Fatal(err)
			}
			var props apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
				definition.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
				t.Fatal(err)
			}
			j := judge{t: t, random: rand.New(rand.NewPCG(1, 2))}
			j.part("", &props)
			if j.recognised < 100 || j.refused < 100 {
				t.Errorf("of the values %d were recognised and %d refused, which tells little", j.recognised, j.refused)
			}
		})
	}
}

// A judge compares what is recognised with what is valid.
type judge struct {
	t                   *testing.T
	random              *rand.Rand
	recognised, refused int
}

// part judges values of a part of a schema, and of the parts of it.
func (j *judge) part(path string, props *apiextensions.JSONSchemaProps) {
	s, err := structural.NewStructural(props)
	if err != nil {
		j.t.Fatalf("%s: %v", path, err)
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		j.t.Fatalf("%s: %v", path, err)
	}
	u := usualOf(s)
	for range 60 {
		mine := j.value(s)
		theirs := runtime.DeepCopyJSONValue(mine)
		recognised := u.recognises(mine)
		defaulting.PruneNonNullableNullsWithoutDefaults(theirs, s)
		defaulting.Default(theirs, s)
		errs := append(validation.ValidateCustomResource(nil, theirs, validator), listtype.ValidateListSetsAndMaps(nil,
			&structural.Structural{Properties: map[string]structural.Structural{"part": *s}}, map[string]any{"part": theirs})...)
		switch {
		case len(errs) > 0 && recognised:
			j.t.Errorf("%s: %#v is recognised, and not valid: %v", path, theirs, errs)
		case recognised && !reflect.DeepEqual(mine, theirs):
			j.t.Errorf("%s: it has the defaults %#v, and should have %#v", path, mine, theirs)
		case recognised:
			j.recognised++
		case len(errs) > 0:
			j.refused++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(props.Properties)) {
		property := props.Properties[name]
		j.part(path+"."+name, &property)
	}
	if props.Items != nil && props.Items.Schema != nil {
		j.part(path+"[]", props.Items.Schema)
	}
}

// value returns a value that a schema may have or just may not.
func (j *judge) value(s *structural.Structural) any {
	if j.random.IntN(20) == 0 {
		return []any{nil, "a", int64(1), 1.5, true, map[string]any{}, []any{}}[j.random.IntN(7)]
	}
	switch s.Type {
	case "object":
		value := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if property := s.Properties[name]; j.random.IntN(3) > 0 {
				value[name] = j.value(&property)
			}
		}
		if j.random.IntN(10) == 0 {
			value["unknown"] = "a"
		}
		return value
	case "array":
		value := []any{}
		for range j.random.IntN(4) {
			value = append(value, j.value(s.Items))
		}
		return value
	case "string":
		return j.text(s.ValueValidation)
	case "integer":
		return []int64{-1 << 31, -1, 0, 1, 2, 100, 65535, 65536, 1<<31 - 1, 1 << 31, 1 << 62}[j.random.IntN(11)]
	case "number":
		return []float64{-1.5, 0, 1, 1e9}[j.random.IntN(4)]
	}
	return j.random.IntN(2) == 0
}

func (j *judge) text(v *structural.ValueValidation) string {
	if v != nil && len(v.Enum) > 0 && j.random.IntN(5) > 0 {
		word, _ := v.Enum[j.random.IntN(len(v.Enum))].Object.(string)
		return word
	}
	if v != nil && v.MaxLength != nil && *v.MaxLength < 1000 && j.random.IntN(4) == 0 {
		return strings.Repeat([]string{"a", "ä"}[j.random.IntN(2)], int(*v.MaxLength)+j.random.IntN(2))
	}
	return []string{"", "a", "A", "www.example.org.", "@", "192.0.2.1", "2001:db8::1", "TXT", "5m", "example-1", "-",
		"dns.example/zone"}[j.random.IntN(12)]
}
