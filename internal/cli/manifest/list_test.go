package manifest_test

import (
	"encoding/json"
	"testing"

	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// TestAListOfAnAPIServerIsReadAsItsText reads a page as an API server writes it, with an item that says its kind, one
// that takes it from the list, and one of a wrong shape: as a List, and as text.
func TestAListOfAnAPIServerIsReadAsItsText(t *testing.T) {
	const page = `{"apiVersion":"kubi.zone/v1alpha1","items":[
		{"apiVersion":"kubi.zone/v1alpha1","kind":"Zone","metadata":{"name":"a","namespace":"n","managedFields":[
			{"manager":"kubectl","operation":"Apply"}]},"spec":{"domainName":"example.org."}},
		{"metadata":{"name":"b","namespace":"n"},"spec":{"domainName":"example.net."}},
		{"apiVersion":"kubi.zone/v1alpha1","kind":"Zone","metadata":{"name":"c","namespace":"n"},"spec":{"domainName":5}}
		],"kind":"ZoneList","metadata":{"continue":"next","resourceVersion":"7"}}`
	var list manifest.List
	if err := json.Unmarshal([]byte(page), &list); err != nil || list.Metadata.Continue != "next" {
		t.Fatalf("%v: %+v", err, list.Metadata)
	}
	read := func(text manifest.Text) []*manifest.Object {
		in, err := manifest.Read(manifest.Options{Texts: []manifest.Text{text}, Namespace: "default"})
		if err != nil || len(in.Objects) != 3 || len(in.Problems)+len(in.Ignored)+len(in.Skipped) > 0 {
			t.Fatalf("%v: %+v", err, in)
		}
		return in.Objects
	}
	text := manifest.Text{Name: "zones", List: &list}
	if size := text.Size(); size < 300 || size > int64(len(page)) {
		t.Errorf("its size is %d", size)
	}
	for i, want := range read(manifest.Text{Name: "zones", Text: []byte(page)}) {
		got := read(text)[i]
		if got.Ref != want.Ref || got.Fault != want.Fault || (got.Zone == nil) != (want.Zone == nil) ||
			string(got.JSON) != string(want.JSON) {
			t.Errorf("%+v is read as %+v", want, got)
		}
		if got.Zone != nil && (got.Zone.Spec.DomainName != want.Zone.Spec.DomainName || got.Zone.ManagedFields != nil) {
			t.Errorf("%s has %+v", got.Ref, got.Zone)
		}
	}
}
