package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the objects of this package.
var GroupVersion = schema.GroupVersion{Group: "kubi.zone", Version: "v1alpha1"}

const (
	// ParentZoneLabel names, on a Record or Zone, the Zone that adopted it:
	// "<name>.<namespace>". Where that is no valid label value (more than 63
	// characters), the value is a hashed form. The label is an effect and never
	// an authority: an edit by somebody else is put right.
	ParentZoneLabel = "kubi.zone/parent-zone"

	// Finalizer keeps a Zone that is delivered until what was published of it
	// has been withdrawn.
	Finalizer = "zonefold.dev/withdraw"
)

// AddToScheme makes the kinds of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	b := runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Zone{}, &ZoneList{}, &Record{}, &RecordList{})
		metav1.AddToGroupVersion(s, GroupVersion)
		return nil
	})
	return b.AddToScheme(s)
}
