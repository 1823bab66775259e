package objects

import (
	"encoding/json"
	"testing"
)

func TestDifferences(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", `{"a":1}`, `{"a":1}`, `{}`},
		{"a new field", `{}`, `{"a":1}`, `{"a":1}`},
		{"one that is gone", `{"a":1}`, `{}`, `{"a":null}`},
		{"an object in it", `{"a":{"b":1,"c":2}}`, `{"a":{"b":1,"d":3}}`, `{"a":{"c":null,"d":3}}`},
		{"a list is replaced whole", `{"a":[1,2]}`, `{"a":[1]}`, `{"a":[1]}`},
		{"an object in the place of a text", `{"a":"x"}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
	} {
		got, err := Differences(json.RawMessage(c.before), json.RawMessage(c.after))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(got)
		if err != nil || string(text) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, text, err, c.want)
		}
	}
	if _, err := Differences(json.RawMessage(`[]`), json.RawMessage(`{}`)); err == nil {
		t.Error("a list is no object")
	}
}
