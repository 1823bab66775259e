package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValuesOfOtherTypesDecodeAndAreTold(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a number for a name", `{"domainName":5,"delegations":[]}`,
			[]string{`the field "domainName" must be a string, not 5`}},
		{"a text for a number", `{"domainName":"a.","ttl":"1h"}`,
			[]string{`the field "ttl" must be a whole number, not "1h"`}},
		{"a part of a reference", `{"domainName":"a","zoneRef":{"name":1}}`,
			[]string{`the field "zoneRef" must be an object with the strings name and namespace, not {"name":1}`}},
		{"several, by name", `{"domainName":"a.","ttl":[],"mname":{},"backendRefs":"b"}`, []string{
			`the field "backendRefs" must be a list of objects with the string name, not "b"`,
			`the field "mname" must be a string, not {}`, `the field "ttl" must be a whole number, not []`,
		}},
		{"a spec that is a text", `"a."`, []string{`the spec must be an object, not "a."`}},
		{"a field that nobody knows, beside one", `{"domainName":"a.","ttl":"1h","new":1}`,
			[]string{`the field "ttl" must be a whole number, not "1h"`}},
		{"a field that nobody knows", `{"domainName":"a.","new":1}`, nil},
		{"null for what may be absent", `{"domainName":"a.","ttl":null,"zoneRef":null}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			good := `{"apiVersion":"kubi.zone/v1alpha1","kind":"Zone","metadata":{"name":"good"},"spec":{"domainName":"b."}}`
			obj := decode(t, `{"apiVersion":"kubi.zone/v1alpha1","kind":"ZoneList","items":[
				{"apiVersion":"kubi.zone/v1alpha1","kind":"Zone","metadata":{"name":"odd"},"spec":`+tt.text+`},`+good+`]}`)
			list, ok := obj.(*ZoneList)
			if !ok || len(list.Items) != 2 || list.Items[1].Spec.DomainName != "b." {
				t.Fatalf("got %+v", obj)
			}
			if diff := cmp.Diff(tt.want, list.Items[0].Spec.Problems()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			var r RecordSpec
			if err := r.UnmarshalJSON([]byte(tt.text)); err != nil {
				t.Errorf("as the spec of a Record: %v", err)
			}
		})
	}
}

func TestAStatusThatIsNotOursDecodes(t *testing.T) {
	for _, text := range []string{
		`"text"`, `[]`, `{"fqdn":"a.","conditions":"none"}`,
		`{"fqdn":"a.","conditions":[{"lastTransitionTime":"yesterday"}]}`,
		`{"fqdn":"a.","observedGeneration":"x","entries":5,"serial":"y","backends":{}}`,
	} {
		var z ZoneStatus
		var r RecordStatus
		if err := z.UnmarshalJSON([]byte(text)); err != nil || z.Unread.Empty() || len(z.Conditions) > 0 {
			t.Errorf("%s as the status of a Zone: %v, %+v", text, err, z)
		}
		if err := r.UnmarshalJSON([]byte(text)); err != nil || r.Unread.Empty() || len(r.Conditions) > 0 {
			t.Errorf("%s as the status of a Record: %v, %+v", text, err, r)
		}
		if text[0] == '{' && (z.FQDN != "a." || r.FQDN != "a.") {
			t.Errorf("%s: the names are %q and %q", text, z.FQDN, r.FQDN)
		}
	}
}
