package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ZoneStatus is what the operator says about a zone.
type ZoneStatus struct {
	// The zone's content: its SOA first, then in canonical order what it
	// adopted and the NS, DS and address records of its sub-zones. In a zone with
	// more entries than fit here, only SOA and the apex's name servers; slices
	// says how many ZoneSlices hold everything.
	//
	// +listType=atomic
	// +optional
	Entries []Entry `json:"entries,omitempty"`

	// The zone's fully qualified name, in lower case and with a trailing dot.
	// It is set before the delegation is judged, so it does not mean that the
	// Zone is accepted.
	//
	// +optional
	FQDN string `json:"fqdn,omitempty"`

	// A hash over the entries without the SOA. It changes when, and only when,
	// the content does. Nothing else can be read from it.
	//
	// +optional
	Hash string `json:"hash,omitempty"`

	// The SOA serial of the content. It never falls (in the arithmetic of
	// RFC 1982), and no serial is ever given to two contents.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	Serial *Number `json:"serial,omitempty"`

	// The highest serial that may have been handed out. It is written ahead of
	// the serials in use; an operator that takes over starts above it.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	SerialCeiling *Number `json:"serialCeiling,omitempty"`

	// How many entries the zone has, wherever they are.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	EntryCount int32 `json:"entryCount,omitempty"`

	// How many ZoneSlices hold the zone's entries. 0: entries is complete.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Slices int32 `json:"slices,omitempty"`

	// What each Backend has confirmed, by name of the Backend and of the zone:
	// after the Zone was renamed, the old name stays listed until it has been
	// withdrawn.
	//
	// +listType=map
	// +listMapKey=name
	// +listMapKey=fqdn
	// +optional
	Backends []ZoneBackend `json:"backends,omitempty"`

	// What the protection of a Backend holds; absent when nothing is held.
	//
	// +optional
	Held *Held `json:"held,omitempty"`

	// The metadata.generation of the Zone that this status describes.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Accepted: the zone may exist here. Served: every Backend has confirmed the
	// content. Ready: both. Warning, where there is one: something about an
	// accepted zone deserves a look. Sliced: entries is not complete. Frozen: what
	// is published stays as it is. DeletionsHeld: see held.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Unread is what could not be read. It is not written back.
	Unread Unread `json:"-"`
}

// Entry is one record of a zone.
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
	TTL Number `json:"ttl"`

	// The data in the presentation form of master files; names in it are fully
	// qualified.
	RData string `json:"rdata"`
}

// ZoneBackend is what one Backend has confirmed of a zone.
type ZoneBackend struct {
	// Name of the Backend object.
	Name string `json:"name"`

	// The zone's fully qualified name, under which the Backend has it.
	FQDN string `json:"fqdn"`

	// The serial whose content all of the Backend's servers have confirmed;
	// absent before the first. It is the Zone's serial even where a server keeps
	// a serial of its own.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	// +optional
	Serial *Number `json:"serial,omitempty"`

	// Why the Backend is behind, as a reason of the Served condition; absent
	// when it is not.
	//
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Reason string `json:"reason,omitempty"`

	// What stands in the way, as a sentence.
	//
	// +kubebuilder:validation:MaxLength=32768
	// +optional
	Message string `json:"message,omitempty"`
}

// Held is what servers still have although no object asks for it.
type Held struct {
	// What approves the deletions, as the annotation zonefold.dev/approve-deletions
	// of the Zone; absent where the policy of the Backend leaves them.
	//
	// +optional
	Plan string `json:"plan,omitempty"`

	// How many record sets are held; the most that one server has.
	Sets int32 `json:"sets"`

	// The first of them, each as name and type.
	//
	// +listType=atomic
	// +optional
	Examples []string `json:"examples,omitempty"`
}
