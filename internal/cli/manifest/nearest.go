package manifest

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/likely"
)

// meant returns the kind that somebody is likely to have meant by an apiVersion and a kind that nobody knows.
func meant(apiVersion, name string) (kindKey, bool) {
	var best kindKey
	least := likely.MaxSlips + 1
	for _, k := range kinds {
		if n := likely.Slips(apiVersion, k.apiVersion) + likely.Slips(name, k.name); n < least && !k.foreign {
			best, least = k.kindKey, n
		}
	}
	return best, least <= likely.MaxSlips && best.name != Namespace
}

// meantField asks whether the last field of a path that an object does not have is one beside it, or says nothing.
func meantField(o *Object, path string) string {
	in := o.Meta()
	if in == nil {
		return ""
	}
	t := reflect.TypeOf(in)
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		name, _, _ = strings.Cut(name, "[")
		field, ok := fieldsOf(t)[name]
		if !ok {
			return ""
		}
		t = field
	}
	return likely.Said(names[len(names)-1], slices.Sorted(maps.Keys(fieldsOf(t))))
}

// fieldsOf returns the fields of a type by their names in JSON. Of a list or map they are those of its elements.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	out := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return out
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" || strings.Contains(options, "inline"):
			maps.Copy(out, fieldsOf(f.Type))
		case f.IsExported() && name != "" && name != "-":
			out[name] = f.Type
		}
	}
	return out
}
