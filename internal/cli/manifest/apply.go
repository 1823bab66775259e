package manifest

import (
	"encoding/json"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// AppliedTo returns what kubectl apply makes of an object that is there: what o says, and all else that the object has,
// without what was applied before and is not in o any more. Its status is none of o's, and is left out.
func (o *Object) AppliedTo(there *Object) *Object {
	var is, was map[string]any
	if o.Fault != "" || there.Fault != "" || kjson.UnmarshalCaseSensitivePreserveInts(o.JSON, &is) != nil ||
		kjson.UnmarshalCaseSensitivePreserveInts(there.JSON, &was) != nil {
		return o
	}
	apiVersion, _ := is["apiVersion"].(string)
	name, _ := is["kind"].(string)
	k, known := kindOf(apiVersion, name)
	meta, hasMeta := is["metadata"].(map[string]any)
	if !known || !hasMeta { // it is not known of an item of a list, which says it for all
		return o
	}
	if _, has := meta["annotations"].(map[string]any); !has {
		meta["annotations"] = map[string]any{} // in which kubectl writes one
	}
	stored, _ := was["metadata"].(map[string]any)
	for _, field := range []string{"creationTimestamp", "deletionTimestamp", "generation", "managedFields", "namespace",
		"resourceVersion", "uid"} {
		meta[field] = stored[field] // which is nil where there is none
	}
	merged := merge(was, is, lastApplied(there.JSON))
	delete(merged, "status")
	text, err := json.Marshal(merged)
	if err != nil {
		return o
	}
	out := &Object{Ref: o.Ref, JSON: text, doc: o.doc, path: o.path}
	r := reader{doc: o.doc}
	r.decode(out, k)
	return out
}

// merge has an object say what is applied to it, in place of what was applied last. A list is one value.
func merge(was, is, last map[string]any) map[string]any {
	out := maps.Clone(was)
	for name := range last {
		if _, still := is[name]; !still {
			delete(out, name)
		}
	}
	for name, value := range is {
		inner, isMap := value.(map[string]any)
		before, wasMap := was[name].(map[string]any)
		switch {
		case value == nil:
			delete(out, name)
		case isMap && wasMap:
			lastInner, _ := last[name].(map[string]any)
			out[name] = merge(before, inner, lastInner)
		default:
			out[name] = value
		}
	}
	return out
}

// lastApplied returns the fields of an object that were applied: by kubectl, or by the API server for whoever has them.
func lastApplied(text []byte) map[string]any {
	var object metav1.PartialObjectMetadata
	out := map[string]any{}
	if json.Unmarshal(text, &object) != nil {
		return out
	}
	if said := object.Annotations[corev1.LastAppliedConfigAnnotation]; said != "" {
		_ = json.Unmarshal([]byte(said), &out) // nobody but kubectl writes it
		return out
	}
	for _, m := range object.ManagedFields {
		var fields map[string]any
		if m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == "" && m.FieldsV1 != nil &&
			json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) == nil {
			out = merge(out, fieldsIn(fields), nil)
		}
	}
	return out
}

// fieldsIn returns the fields that are owned as an object that has them.
func fieldsIn(owned map[string]any) map[string]any {
	out := map[string]any{}
	for key, inner := range owned {
		if name, is := strings.CutPrefix(key, "f:"); is {
			below, _ := inner.(map[string]any)
			out[name] = fieldsIn(below)
		}
	}
	return out
}
