package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ZoneRevision is one change of the content of a Zone or DNSZone, which owns it. All
// of them are its history. Only the operator writes them, if it keeps a history, and
// it deletes the oldest. They never change.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=zr
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.spec.zone`
// +kubebuilder:printcolumn:name="Serial",type=integer,JSONPath=`.spec.serial`
// +kubebuilder:printcolumn:name="Added",type=integer,JSONPath=`.spec.added`
// +kubebuilder:printcolumn:name="Changed",type=integer,JSONPath=`.spec.changed`
// +kubebuilder:printcolumn:name="Deleted",type=integer,JSONPath=`.spec.deleted`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ZoneRevision struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What has changed.
	Spec ZoneRevisionSpec `json:"spec"`
}

// ZoneRevisionList is a list of ZoneRevisions.
//
// +kubebuilder:object:root=true
type ZoneRevisionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ZoneRevision `json:"items"`
}

// ZoneRevisionSpec is the change of a content into the next one that was
// written down. Serials in between are part of it.
//
// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message="a ZoneRevision never changes"
type ZoneRevisionSpec struct {
	// Name of the Zone or DNSZone, in the same namespace.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Zone string `json:"zone"`

	// The name of the zone.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	FQDN string `json:"fqdn"`

	// When the content was written down.
	Time metav1.Time `json:"time"`

	// The SOA serial of the content.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	Serial int64 `json:"serial"`

	// The hash of the content, as in the status of the Zone.
	//
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash"`

	// The serial of the content before. 0: there was none.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	PreviousSerial int64 `json:"previousSerial,omitempty"`

	// The hash of the content before.
	//
	// +kubebuilder:validation:MaxLength=64
	// +optional
	PreviousHash string `json:"previousHash,omitempty"`

	// The serial of a rollback. 0: the content is what the objects say.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	RolledBackTo int64 `json:"rolledBackTo,omitempty"`

	// How many sets came.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Added int32 `json:"added,omitempty"`

	// How many sets have other data or another time-to-live.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Changed int32 `json:"changed,omitempty"`

	// How many sets went.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Deleted int32 `json:"deleted,omitempty"`

	// A line for each record of these sets: `-` before, `+` after, then the fully
	// qualified name, the time-to-live, the class, the type and the data of a
	// master file.
	//
	// +kubebuilder:validation:MaxLength=1048576
	// +optional
	Delta string `json:"delta,omitempty"`

	// Whether delta is left out: it is the first content, or too large. Nobody can
	// go back past it.
	//
	// +optional
	LeftOut bool `json:"leftOut,omitempty"`

	// The objects that have changed since the content before, at most 20.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	// +optional
	Objects []RevisionObject `json:"objects,omitempty"`

	// How many objects have changed. 0: it is not known.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObjectCount int32 `json:"objectCount,omitempty"`
}

// RevisionObject is an object that a change of a Zone came of.
type RevisionObject struct {
	// Its kind.
	//
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// Its namespace.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Its name.
	//
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Whether it was deleted.
	//
	// +optional
	Deleted bool `json:"deleted,omitempty"`

	// Who wrote to it last, other than the operator, by metadata.managedFields: what
	// a program calls itself, such as kubectl-edit.
	//
	// +kubebuilder:validation:MaxLength=128
	// +optional
	Manager string `json:"manager,omitempty"`
}
