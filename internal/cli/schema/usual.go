package schema

import (
	"math"
	"regexp"
	"slices"
	"unicode/utf8"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// A usual recognises usual values of a schema: those with which the API server's validators find nothing wrong. They
// are made anew for each field of each object, which costs more than all else that is done with it. A nil one
// recognises nothing: what is not recognised may be valid, too, and is theirs to tell.
type usual struct {
	kind     string            // object, array, string, integer or boolean
	fields   map[string]*usual // of an object; one without any may have every field
	defaults map[string]any    // of its fields
	required []string          // of its fields
	items    *usual            // of an array
	min, max float64           // of an integer, and of the number of characters of a string
	pattern  *regexp.Regexp    // of a string
	enum     []string          // of a string; nil: any
}

// usualOf returns what recognises usual values of a schema.
func usualOf(s *structural.Structural) *usual {
	v := structural.ValueValidation{}
	if s.ValueValidation != nil {
		v = *s.ValueValidation
	}
	if s.XPreserveUnknownFields || s.XEmbeddedResource || s.XIntOrString || s.AdditionalProperties != nil ||
		s.XListType != nil && *s.XListType != "atomic" || v.AllOf != nil || v.AnyOf != nil || v.OneOf != nil ||
		v.Not != nil ||
		v.MinItems != nil || v.MaxItems != nil || v.UniqueItems || v.MinProperties != nil || v.MaxProperties != nil ||
		v.MultipleOf != nil || v.ExclusiveMinimum || v.ExclusiveMaximum {
		return nil
	}
	u := &usual{kind: s.Type, required: v.Required}
	ok := v.Enum == nil && v.Format == ""
	switch s.Type {
	case "object":
		u.ofFields(s.Properties)
	case "array":
		if ok = ok && s.Items != nil; ok {
			u.items = usualOf(s.Items)
		}
	case "integer":
		ok = v.Enum == nil && u.ofInteger(&v)
	case "string":
		ok = v.Format == "" && u.ofString(&v)
	}
	if !ok {
		return nil
	}
	return u
}

func (u *usual) ofFields(properties map[string]structural.Structural) {
	u.fields, u.defaults = map[string]*usual{}, map[string]any{}
	for name, property := range properties {
		u.fields[name] = usualOf(&property)
		if property.Default.Object != nil {
			u.defaults[name] = property.Default.Object
		}
	}
}

// exact is up to which integer a float64 holds each.
const exact = 1 << 53

func (u *usual) ofInteger(v *structural.ValueValidation) bool {
	u.min, u.max = -exact, exact
	if v.Format == "int32" {
		u.min, u.max = math.MinInt32, math.MaxInt32
	}
	if v.Minimum != nil {
		u.min = max(u.min, *v.Minimum)
	}
	if v.Maximum != nil {
		u.max = min(u.max, *v.Maximum)
	}
	return slices.Contains([]string{"", "int32", "int64"}, v.Format)
}

func (u *usual) ofString(v *structural.ValueValidation) bool {
	u.max = exact
	if v.MinLength != nil {
		u.min = float64(*v.MinLength)
	}
	if v.MaxLength != nil {
		u.max = float64(*v.MaxLength)
	}
	for _, word := range v.Enum {
		text, ok := word.Object.(string)
		if !ok {
			return false
		}
		u.enum = append(u.enum, text)
	}
	if v.Pattern == "" {
		return true
	}
	var err error
	u.pattern, err = regexp.Compile(v.Pattern)
	return err == nil
}

// recognises reports whether a value is a usual one. It gives the value the defaults of what it lacks.
func (u *usual) recognises(value any) bool {
	if u == nil {
		return false
	}
	switch v := value.(type) {
	case map[string]any:
		return u.kind == "object" && u.object(v)
	case []any:
		return u.kind == "array" && !slices.ContainsFunc(v, func(item any) bool { return !u.items.recognises(item) })
	case string:
		length := float64(utf8.RuneCountInString(v))
		return u.kind == "string" && u.min <= length && length <= u.max &&
			(u.enum == nil || slices.Contains(u.enum, v)) && (u.pattern == nil || u.pattern.MatchString(v))
	case int64:
		return u.kind == "integer" && u.min <= float64(v) && float64(v) <= u.max
	case bool:
		return u.kind == "boolean"
	}
	return false
}

func (u *usual) object(value map[string]any) bool {
	for name, fallback := range u.defaults {
		if _, set := value[name]; !set {
			value[name] = runtime.DeepCopyJSONValue(fallback)
		}
	}
	if len(u.fields) > 0 {
		for name, member := range value {
			if !u.fields[name].recognises(member) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(u.required, func(name string) bool { _, set := value[name]; return !set })
}
