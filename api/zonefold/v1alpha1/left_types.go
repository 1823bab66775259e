package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// LeftBehind is what is, or may be, published at a Backend on behalf of a Zone that is gone. It is removed when the
// servers can be reached.
type LeftBehind struct {
	// The name of the zone, with a trailing dot.
	FQDN string `json:"fqdn"`

	// The UID of the Zone.
	UID types.UID `json:"uid"`

	// The namespace of the Zone.
	Namespace string `json:"namespace"`

	// The name of the Zone.
	Name string `json:"name"`

	// When the Zone was let go.
	Since metav1.Time `json:"since"`

	// Whether the zone was zonefold's alone there, and is removed as a whole.
	//
	// +optional
	Whole bool `json:"whole,omitempty"`

	// Where foreign sets are kept: how many record sets were zonefold's.
	//
	// +optional
	Sets int32 `json:"sets,omitempty"`

	// How many of these do not fit in text, or are not known any more. They may stay on the servers until
	// somebody removes them there.
	//
	// +optional
	Unlisted int32 `json:"unlisted,omitempty"`

	// The others: a line for each record, with the fully qualified name, the time-to-live, the class, the type and
	// the data of a master file. A set is removed if all that a server holds of it is listed.
	//
	// +optional
	Text string `json:"text,omitempty"`

	// The plans of deletions that were approved on the Zone.
	//
	// +optional
	Approved string `json:"approved,omitempty"`

	// The highest serial that may have been used.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	SerialCeiling int64 `json:"serialCeiling,omitempty"`

	// Why it is still there, in one word: that of the error, Withdrawing, or TooManyDeletions.
	//
	// +optional
	Reason string `json:"reason,omitempty"`

	// The same in a sentence.
	//
	// +optional
	Message string `json:"message,omitempty"`

	// With TooManyDeletions: the plan. Write it into the annotation zonefold.dev/approve-deletions of the Backend to
	// have the sets removed.
	//
	// +optional
	Plan string `json:"plan,omitempty"`
}
