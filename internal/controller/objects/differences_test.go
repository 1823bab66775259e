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

func TestFieldsThatAreEqualAreNotEncoded(t *testing.T) {
	type status struct {
		Kept  []any    `json:"kept,omitempty"`
		Gone  string   `json:"gone,omitempty"`
		None  []string `json:"none,omitempty"`
		Inner struct {
			A int `json:"a,omitempty"`
			B int `json:"b,omitempty"`
		} `json:"inner"`
	}
	before := status{Kept: []any{func() {}}, Gone: "x"} // of a function there is no JSON
	before.Inner.A = 1
	after := before
	after.Gone, after.None = "", []string{}
	after.Inner.A, after.Inner.B = 0, 2
	got, err := Differences(before, after)
	text, _ := json.Marshal(got)
	if want := `{"gone":null,"inner":{"a":null,"b":2}}`; err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}
