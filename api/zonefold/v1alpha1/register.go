package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the objects of this package.
var GroupVersion = schema.GroupVersion{Group: "zonefold.dev", Version: "v1alpha1"}

const (
	// CredentialsLabel, with the value "true", is the consent of a Secret's
	// owner that Backends use it. A Secret outside of the operator's namespace
	// is not read without it: who may write a Backend chooses where credentials
	// are sent, and must not thereby get everybody's.
	CredentialsLabel = "zonefold.dev/credentials"

	// ZoneLabel is on every ZoneSlice: the name of its Zone, or the hashed form
	// of a name that is no valid label value (more than 63 characters).
	ZoneLabel = "zonefold.dev/zone"

	// UpdateLabel, with the value "true", is on every Record that a dynamic
	// update (RFC 2136) has made: only these are changed by updates.
	UpdateLabel = "zonefold.dev/update"

	// UpdateMessageAnnotation is on these Records, too: which message was the
	// last one to write it. Who leads after a crash knows that message by it
	// when the client repeats it.
	UpdateMessageAnnotation = "zonefold.dev/update-message"

	// LeaderLease is the Lease, in the operator's namespace, of the replica that
	// leads. Who holds it says in it where its name server answers the others.
	LeaderLease = "zonefold-operator"

	// PresenceLease is the Lease that an operator without election renews, so
	// that one hears of it.
	PresenceLease = "zonefold-operator-unelected"
)

// AddToScheme makes the kinds of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	b := runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Backend{}, &BackendList{}, &ZoneSlice{}, &ZoneSliceList{})
		metav1.AddToGroupVersion(s, GroupVersion)
		return nil
	})
	return b.AddToScheme(s)
}
