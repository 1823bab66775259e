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

	// ZoneLabel is on every ZoneSlice and ZoneRevision: the name of its Zone, or the hashed form
	// of a name that is no valid label value (more than 63 characters).
	ZoneLabel = "zonefold.dev/zone"

	// UpdateLabel is on every Record that a client of the operator has made: only
	// these are changed by clients. Its value is UpdateRFC2136 or
	// UpdateExternalDNS.
	UpdateLabel = "zonefold.dev/update"

	// UpdateRFC2136 is the value of UpdateLabel for dynamic updates (RFC 2136).
	UpdateRFC2136 = "true"

	// UpdateExternalDNS is the value of UpdateLabel for external-dns, which
	// deletes what is listed to it and it does not want.
	UpdateExternalDNS = "external-dns"

	// UpdateMessageAnnotation is on these Records, too: which message was the
	// last one to write it. Who leads after a crash knows that message by it
	// when the client repeats it.
	UpdateMessageAnnotation = "zonefold.dev/update-message"

	// FreezeAnnotation on a Zone has what is published of it stay as it is, until
	// somebody takes the annotation away. Its value is the reason, for people.
	FreezeAnnotation = "zonefold.dev/freeze"

	// RollbackAnnotation on a Zone has an earlier content published, that of the
	// serial which is its value, and freezes the Zone at that.
	RollbackAnnotation = "zonefold.dev/rollback"

	// ApproveAnnotation on a Zone, of whatever group, has held deletions made: its
	// value is what status.held.plan says. It is valid for that plan alone, and the
	// operator removes it when nothing is held any more.
	ApproveAnnotation = "zonefold.dev/approve-deletions"

	// LeaveAnnotation on a Zone that is being deleted has it go at once, whatever its
	// servers still hold: status.leftBehind of their Backends says what that is. Any
	// value will do.
	LeaveAnnotation = "zonefold.dev/leave-behind"

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
		s.AddKnownTypes(GroupVersion, &Backend{}, &BackendList{}, &ZoneSlice{}, &ZoneSliceList{},
			&ZoneRevision{}, &ZoneRevisionList{})
		metav1.AddToGroupVersion(s, GroupVersion)
		return nil
	})
	return b.AddToScheme(s)
}
