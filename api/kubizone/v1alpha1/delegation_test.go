package v1alpha1

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProblemsOfADelegation(t *testing.T) {
	tests := []struct {
		name string
		text string
		want []string
	}{
		{"a rule of known fields has none",
			`{"namespace":"a","namespaces":["b"],"zones":["*.@"],"records":[{"pattern":"@","types":["MX"]}]}`, nil},
		{"an empty rule has none", `{}`, nil},
		{"a known field that is null is one that is absent",
			`{"namespace":null,"namespaces":null,"zones":null,"records":null}`, nil},
		{"a misspelt restriction", `{"namespce":"a","zones":["*.@"]}`,
			[]string{`the field "namespce" is unknown; a rule here has the fields namespace, namespaces, zones, records`}},
		{"names of fields are case-sensitive", `{"Namespace":"a"}`,
			[]string{`the field "Namespace" is unknown; a rule here has the fields namespace, namespaces, zones, records`}},
		{"an unknown field that is null", `{"exclude":null}`,
			[]string{`the field "exclude" is unknown; a rule here has the fields namespace, namespaces, zones, records`}},
		{"several are in order of their names", `{"z":1,"b":2,"zones":"*.@"}`, []string{
			`the field "b" is unknown; a rule here has the fields namespace, namespaces, zones, records`,
			`the field "z" is unknown; a rule here has the fields namespace, namespaces, zones, records`,
			`the field "zones" must be a list of strings, not "*.@"`,
		}},
		{"a list of namespaces where one belongs", `{"namespace":["a"]}`,
			[]string{`the field "namespace" must be a string, not ["a"]`}},
		{"a number among the namespaces", `{"namespaces":["a",5]}`,
			[]string{`the field "namespaces" must be a list of strings, not ["a",5]`}},
		{"an object where the records belong", `{"records":{"pattern":"@"}}`,
			[]string{`the field "records" must be a list of objects, not {"pattern":"@"}`}},
		{"a misspelt restriction of a record rule", `{"records":[{"pattern":"@"},{"pattern":"*","typs":["A"]}]}`,
			[]string{`records[1]: the field "typs" is unknown; a rule here has the fields pattern, types`}},
		{"a string where types belong", `{"records":[{"pattern":"@","types":"A"}]}`,
			[]string{`records[0]: the field "types" must be a list of strings, not "A"`}},
		{"a record rule that is a string", `{"records":["*.@"]}`,
			[]string{`records[0]: a rule must be an object, not "*.@"`}},
		{"a record rule that is null", `{"records":[null]}`, []string{`records[0]: a rule must be an object, not null`}},
		{"a rule that is a string", `"*.@"`, []string{`a rule must be an object, not "*.@"`}},
		{"a rule that is null", `null`, []string{`a rule must be an object, not null`}},
		{"a long value is cut", `["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]`,
			[]string{`a rule must be an object, not ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d Delegation
			if err := json.Unmarshal([]byte(tt.text), &d); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, d.Problems()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADelegationIsWrittenAsItWasRead(t *testing.T) {
	tests := []struct{ name, text string }{
		{"known fields", `{"namespace":"a","namespaces":["b"],"zones":["*.@"],"records":[{"pattern":"@","types":["MX"]}]}`},
		{"unknown fields at both levels",
			`{"exclude":{"deep":[1,null,{"x":1e400}]},"records":[{"pattern":"@","until":12345678901234567890}],"zones":["a"]}`},
		{"known fields of a wrong type", `{"namespace":5,"namespaces":{},"records":7,"zones":["a",1]}`},
		{"a record rule without a pattern", `{"records":[{"types":["A"]}]}`},
		{"a record rule whose pattern is a number", `{"records":[{"pattern":3}]}`},
		{"rules that are no objects", `{"records":["a",null,[1],true]}`},
		{"a rule that is a number", `1e400`},
		{"a rule that is null", `null`},
		{"a rule that is a list", `["a"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d Delegation
			if err := json.Unmarshal([]byte(tt.text), &d); err != nil {
				t.Fatal(err)
			}
			for name, it := range map[string]*Delegation{"the rule": &d, "its deep copy": d.DeepCopy()} {
				got, err := json.Marshal(it)
				if err != nil || string(got) != tt.text {
					t.Errorf("%s is written as %s, %v; want %s", name, got, err, tt.text)
				}
			}
		})
	}
}

func TestAFieldOfAWrongTypeLeavesNothingBehind(t *testing.T) {
	var d Delegation
	if err := json.Unmarshal([]byte(`{"namespaces":["a",5],"zones":["b",{}],"records":"x"}`), &d); err != nil {
		t.Fatal(err)
	}
	if d.Namespaces != nil || d.Zones != nil || d.Records != nil {
		t.Errorf("read %q, %q, %v; want nothing of a field that could not be read as a whole", d.Namespaces, d.Zones,
			d.Records)
	}
}

func TestAFieldSetAfterwardsReplacesWhatCouldNotBeRead(t *testing.T) {
	var d Delegation
	if err := json.Unmarshal([]byte(`{"zones":"a","other":1}`), &d); err != nil {
		t.Fatal(err)
	}
	d.Zones = []string{"a"}
	got, err := json.Marshal(d)
	if want := `{"other":1,"zones":["a"]}`; err != nil || string(got) != want {
		t.Errorf("written as %s, %v; want %s", got, err, want)
	}
}

func TestReadingADelegationForgetsTheOneBefore(t *testing.T) {
	d := Delegation{Namespace: "old", Unread: Unread{Value: "1", Members: map[string]string{"old": "1"}}}
	if err := json.Unmarshal([]byte(`{"zones":["a"]}`), &d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Delegation{Zones: []string{"a"}}, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestADeepCopySharesNothing(t *testing.T) {
	var d Delegation
	if err := json.Unmarshal([]byte(`{"other":1,"records":[{"pattern":"@","other":1}]}`), &d); err != nil {
		t.Fatal(err)
	}
	c := d.DeepCopy()
	c.Unread.Members["other"], c.Records[0].Unread.Members["other"] = "2", "2"
	if d.Unread.Members["other"] != "1" || d.Records[0].Unread.Members["other"] != "1" {
		t.Error("a change of the copy changed the original")
	}
}

func TestNamespacesOfADelegation(t *testing.T) {
	tests := []struct {
		name string
		rule Delegation
		want []string
	}{
		{"none means any", Delegation{}, nil},
		{"the document's form", Delegation{Namespace: "a"}, []string{"a"}},
		{"the existing form", Delegation{Namespaces: []string{"a", "b"}}, []string{"a", "b"}},
		{"both are united", Delegation{Namespace: "c", Namespaces: []string{"a", "b"}}, []string{"c", "a", "b"}},
		{"one that is in both is there once", Delegation{Namespace: "a", Namespaces: []string{"a", "b"}}, []string{"a", "b"}},
		{"an empty name in the list does not turn it into any", Delegation{Namespaces: []string{""}}, []string{""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.rule.AllNamespaces()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzDelegation(f *testing.F) {
	for _, seed := range []string{
		`{"namespace":"a","zones":["*.@"],"records":[{"pattern":"@","types":["MX"]}]}`,
		`{"namespace":5,"records":[1,{"pattern":[],"x":null}],"y":{"z":[]}}`, `null`, `[]`, `""`, `{"records":{}}`, `{"":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		// Escapes and white space as the encoder has them, so that only meaning is compared.
		text, err := json.Marshal(json.RawMessage(text))
		if err != nil {
			return
		}
		var d, again Delegation
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%q does not decode: %v", text, err)
		}
		written, err := json.Marshal(d)
		if err != nil {
			t.Fatalf("%q does not encode: %v", text, err)
		}
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%q became %q, which does not decode: %v", text, written, err)
		}
		twice, err := json.Marshal(again)
		if err != nil || !bytes.Equal(written, twice) {
			t.Errorf("%q became %q and then %q, %v", text, written, twice, err)
		}
		if diff := cmp.Diff(d.Problems(), again.Problems()); diff != "" {
			t.Errorf("%q: other problems after a round trip:\n%s", text, diff)
		}
	})
}
