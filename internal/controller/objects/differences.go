package objects

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
)

// Differences returns the JSON merge patch (RFC 7386) that turns a value into another one of its type. An object in it
// has what differs, and null for what the new value lacks. It is empty if both say the same. Lists are replaced whole.
func Differences(before, after any) (map[string]any, error) {
	before, after = unequal(before, after)
	was, err := fields(before)
	if err != nil {
		return nil, err
	}
	is, err := fields(after)
	if err != nil {
		return nil, err
	}
	return differences(was, is), nil
}

// unequal returns two structs without the fields that are equal, of which some are too large to be encoded for nothing.
func unequal(before, after any) (was, is any) {
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	if a.Kind() != reflect.Struct || a.Type() != b.Type() {
		return before, after
	}
	x, y := reflect.New(a.Type()).Elem(), reflect.New(a.Type()).Elem()
	for i := range a.NumField() {
		if !equality.Semantic.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			x.Field(i).Set(a.Field(i))
			y.Field(i).Set(b.Field(i))
		}
	}
	return x.Interface(), y.Interface()
}

func differences(was, is map[string]any) map[string]any {
	out := map[string]any{}
	for name := range was {
		if _, stays := is[name]; !stays {
			out[name] = nil
		}
	}
	for name, value := range is {
		before, there := was[name]
		old, one := before.(map[string]any)
		next, other := value.(map[string]any)
		switch {
		case there && reflect.DeepEqual(before, value):
		case one && other:
			out[name] = differences(old, next)
		default:
			out[name] = value
		}
	}
	return out
}

// fields returns a value as JSON has it.
func fields(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(text, &out)
}
