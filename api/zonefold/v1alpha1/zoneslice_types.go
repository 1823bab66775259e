package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ZoneSlice holds a part of the content of a Zone that has more entries than
// fit in the Zone's status. Slices are divided by a hash of the name, so that a
// change rewrites one slice, and they are owned by the Zone. Only the operator
// writes them. They are also the ledger of what was published: one that is
// edited by somebody else is written again, and one that is deleted stays, by
// its finalizer, as long as the Zone needs it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName=zs
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.zone`
// +kubebuilder:printcolumn:name="Index",type=integer,JSONPath=`.index`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ZoneSlice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Name of the Zone, in the same namespace.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Zone string `json:"zone"`

	// Whether this is a page of the journal: entries that were about to be
	// published when it was written, and may be or have been at the servers. The
	// other slices together are the zone's content.
	//
	// +optional
	Journal bool `json:"journal,omitempty"`

	// Which of the zone's slices, or of its journal's pages, this is, from 0.
	//
	// +kubebuilder:validation:Minimum=0
	Index int32 `json:"index"`

	// The entries of the names that belong in this slice, in canonical order. A
	// page of the journal has none.
	//
	// +listType=atomic
	// +optional
	Entries []Entry `json:"entries,omitempty"`

	// What a page of the journal holds: a line for each entry, with the fully
	// qualified name, the time-to-live, the class, the type and the data of a
	// master file. The data is left out where it is not known.
	//
	// +optional
	Text string `json:"text,omitempty"`
}

// ZoneSliceList is a list of ZoneSlices.
//
// +kubebuilder:object:root=true
type ZoneSliceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ZoneSlice `json:"items"`
}

// Entry is one record of a zone, in the form of the status of a Zone.
type Entry struct {
	// The fully qualified owner name, in lower case and with a trailing dot;
	// labels that are not ASCII as A-labels.
	FQDN string `json:"fqdn"`

	// The record type, such as `A` or `TYPE65280`.
	Type string `json:"type"`

	// The class, `IN`.
	Class string `json:"class"`

	// The time-to-live in seconds.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	TTL int64 `json:"ttl"`

	// The data in the presentation form of master files; names in it are fully
	// qualified. Empty, and one for the whole set, where the object would be larger
	// than 900 KiB with the data of its largest sets.
	RData string `json:"rdata"`
}
