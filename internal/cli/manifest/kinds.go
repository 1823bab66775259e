package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	gardener "github.com/zonefold/zonefold/api/gardener/v1alpha1"
	homelab "github.com/zonefold/zonefold/api/homelab/v1alpha1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// groups are the API groups whose kinds are all known. Of Gardener's one is, and the others are others' to judge.
var groups = []string{kubizone.GroupVersion.Group, zonefold.GroupVersion.Group, bindy.GroupVersion.Group,
	homelab.GroupVersion.Group}

type kindKey struct{ apiVersion, name string }

// A kind says how objects of one kind are decoded.
type kind struct {
	kindKey
	begin   []byte // of every object of the kind, in JSON that was made of YAML
	called  string // in a Ref: two groups have a kind of one name
	cluster bool   // cluster-scoped
	foreign bool   // others' to judge: nobody is told that a kind is nearly this one
	decode  decoder
}

// A decoder fills in its field of o and returns the metadata in it, and the fields that
// are unknown or repeated. It fails when a field has a wrong type; then o is as before.
type decoder func(text []byte, o *Object) (meta metav1.Object, unknown []error, err error)

func newKind(apiVersion, name string, cluster bool, decode decoder) kind {
	return kind{kindKey: kindKey{apiVersion, name}, begin: fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,`, apiVersion, name),
		called: name, cluster: cluster, decode: decode}
}

// kinds are those that are read. A ZoneSlice is the operator's own and says nothing
// that its Zone does not.
var kinds = append([]kind{
	newKind(kubizone.GroupVersion.String(), Zone, false, func(text []byte, o *Object) (metav1.Object, []error, error) {
		var v strictZone
		unknown, err := kjson.UnmarshalStrict(text, &v)
		out := &kubizone.Zone{TypeMeta: v.TypeMeta, ObjectMeta: v.ObjectMeta, Spec: kubizone.ZoneSpec(v.Spec),
			Status: kubizone.ZoneStatus(v.Status)}
		if err == nil {
			o.Zone = out
		}
		return &out.ObjectMeta, unknown, err
	}),
	newKind(kubizone.GroupVersion.String(), Record, false, func(text []byte, o *Object) (metav1.Object, []error, error) {
		var v strictRecord
		unknown, err := kjson.UnmarshalStrict(text, &v)
		out := &kubizone.Record{TypeMeta: v.TypeMeta, ObjectMeta: v.ObjectMeta, Spec: kubizone.RecordSpec(v.Spec),
			Status: kubizone.RecordStatus(v.Status)}
		if err == nil {
			o.Record = out
		}
		return &out.ObjectMeta, unknown, err
	}),
	newKind(zonefold.GroupVersion.String(), Backend, true, func(text []byte, o *Object) (metav1.Object, []error, error) {
		var v zonefold.Backend
		unknown, err := kjson.UnmarshalStrict(text, &v)
		if err == nil {
			o.Backend = &v
		}
		return &v.ObjectMeta, unknown, err
	}),
	// Of a Namespace only the labels matter; the rest of it is others' to judge.
	newKind("v1", Namespace, true, func(text []byte, o *Object) (metav1.Object, []error, error) {
		var v metav1.PartialObjectMetadata
		err := kjson.UnmarshalCaseSensitivePreserveInts(text, &v)
		if err == nil {
			o.Labels = v.Labels
		}
		return &v.ObjectMeta, nil, err
	}),
}, slices.Concat(bindyKinds(), homelabKinds(), []kind{gardenerKind()}, sourceKinds())...)

// A strictZone and a strictRecord are read without the tolerance that the operator has
// for what is stored: nothing of a wrong type or with a misspelt name is overlooked.
type (
	strictZone struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata,omitempty"`
		Spec              zoneSpec   `json:"spec"`
		Status            zoneStatus `json:"status,omitzero"`
	}
	strictRecord struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata,omitempty"`
		Spec              recordSpec   `json:"spec"`
		Status            recordStatus `json:"status,omitzero"`
	}
	zoneSpec     kubizone.ZoneSpec
	zoneStatus   kubizone.ZoneStatus
	recordSpec   kubizone.RecordSpec
	recordStatus kubizone.RecordStatus
)

// kindOf returns the kind of an object, if it is one of ours.
func kindOf(apiVersion, name string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.kindKey == kindKey{apiVersion, name} })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// unknown tells of an object that looks like one of ours and is none.
func (r *reader) unknown(path string, h head) {
	group, _, _ := strings.Cut(h.APIVersion, "/")
	likely, near := meant(h.APIVersion, h.Kind)
	switch {
	case h.APIVersion == zonefold.GroupVersion.String() && strings.HasPrefix(h.Kind, "ZoneSlice"):
		r.out.Skipped = append(r.out.Skipped, h.what())
	case near:
		r.problem(path, UnknownKind, "%s is a %q of %q, which is unknown; did you mean %s of %s? Known are %s.",
			r.what(path), h.Kind, h.APIVersion, likely.name, likely.apiVersion, knownKinds())
	case slices.Contains(groups, group), group == gardener.GroupVersion.Group && h.Kind == DNSRecord:
		r.problem(path, UnknownKind, "%s is a %q of %q, which is unknown; known are %s.",
			r.what(path), h.Kind, h.APIVersion, knownKinds())
	case h.APIVersion == "" && (h.Kind == Zone || h.Kind == Record || h.domainName):
		r.problem(path, UnknownKind, "%s looks like a Zone or Record, but lacks apiVersion or kind; add them. Known are %s.",
			r.what(path), knownKinds())
	default:
		r.out.Skipped = append(r.out.Skipped, h.what())
	}
}

// noObject is what a document is that lacks apiVersion and kind.
const noObject = "document without apiVersion and kind"

// what says what an object of others is.
func (h head) what() string {
	if h.APIVersion == "" || h.Kind == "" {
		return noObject
	}
	return h.Kind + " of " + h.APIVersion
}

func knownKinds() string {
	return fmt.Sprintf(
		"Zone and Record of %s, Backend of %s, DNSClass and DNSRecord of %s, DNSRecord of %s, and the kinds of %s",
		kubizone.GroupVersion, zonefold.GroupVersion, homelab.GroupVersion, gardener.GroupVersion, bindy.GroupVersion)
}

// faultOf turns a decoding error into a clause for people.
func faultOf(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Field == "" {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	value, _, _ := strings.Cut(wrong.Value, " ")
	article, ok := map[string]string{"array": "a list", "object": "an object", "bool": "true or false"}[value]
	if !ok {
		article = "a " + value
	}
	// Structs of Go that others are made of are no part of the path.
	path := slices.DeleteFunc(strings.Split(wrong.Field, "."), func(s string) bool {
		return s != "" && s[0] >= 'A' && s[0] <= 'Z'
	})
	return fmt.Sprintf("%s cannot be %s", strings.Join(path, "."), article)
}
