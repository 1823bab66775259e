package objects

import (
	"encoding/json"
	"reflect"
)

// Differences returns the JSON merge patch (RFC 7386) that makes one value of another: an object in it has what
// differs, and null for what the new value has not. It is empty if both say the same. Lists are replaced whole.
func Differences(before, after any) (map[string]any, error) {
	was, err := Fields(before)
	if err != nil {
		return nil, err
	}
	is, err := Fields(after)
	if err != nil {
		return nil, err
	}
	return differences(was, is), nil
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

// Fields returns a value as JSON has it.
func Fields(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(text, &out)
}
