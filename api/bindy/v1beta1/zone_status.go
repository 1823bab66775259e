package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// InstanceState says how far a zone is on a server.
type InstanceState string

// The states of a zone on a server.
const (
	StateClaimed    InstanceState = "Claimed"
	StateConfigured InstanceState = "Configured"
	StateFailed     InstanceState = "Failed"
	StateUnclaimed  InstanceState = "Unclaimed"
)

// DNSZoneStatus is what the operator says about a zone.
type DNSZoneStatus struct {
	// The servers that have or should get the zone.
	//
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=name
	// +optional
	Bind9Instances []ZoneInstance `json:"bind9Instances,omitempty"`

	// How many servers have or should get the zone.
	//
	// +nullable
	// +optional
	Bind9InstancesCount int32 `json:"bind9InstancesCount,omitempty"`

	// The metadata.generation of the DNSZone that this status describes.
	//
	// +nullable
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready: every server has confirmed the zone. Progressing: a change is under
	// way. Degraded: it works in part. DeletionsHeld: see held. Frozen: what is
	// published stays as it is.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// The clusters that the servers belong to, with commas between them.
	//
	// +nullable
	// +optional
	ServedBy string `json:"servedBy,omitempty"`

	// How many records are in the zone.
	//
	// +nullable
	// +optional
	RecordsCount int32 `json:"recordsCount,omitempty"`

	// The records, as the existing Bindy listed them. Not written: an entry for
	// each record would be a write of the zone for each of them.
	//
	// +listType=atomic
	// +nullable
	// +optional
	Records []RecordReference `json:"records,omitempty"`

	// The zone's signatures.
	//
	// +nullable
	// +optional
	DNSSEC *ZoneDNSSEC `json:"dnssec,omitempty"`

	// The serial of the zone's newest content that servers have.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	// +nullable
	// +optional
	Serial *int64 `json:"serial,omitempty"`

	// No serial after this one has been used. It is stored before a serial is, so
	// that no operator ever gives one to two contents.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	// +nullable
	// +optional
	SerialCeiling *int64 `json:"serialCeiling,omitempty"`

	// What the serial stands for: a hash over the records, and the SOA.
	//
	// +nullable
	// +optional
	Content string `json:"content,omitempty"`

	// That content, while the zone is frozen and no more than 768 KiB: a line for
	// each record, the SOA first and without its serial.
	//
	// +kubebuilder:validation:MaxLength=1048576
	// +nullable
	// +optional
	Published string `json:"published,omitempty"`

	// What the protection of a Backend holds; absent when nothing is held.
	//
	// +nullable
	// +optional
	Held *Held `json:"held,omitempty"`
}

// Held is what servers still have although no object asks for it.
type Held struct {
	// What approves the deletions, as the annotation zonefold.dev/approve-deletions
	// of the Zone; absent where the policy of the Backend leaves them.
	//
	// +nullable
	// +optional
	Plan string `json:"plan,omitempty"`

	// How many record sets are held; the most that one server has.
	Sets int32 `json:"sets"`

	// The first of them, each as name and type.
	//
	// +listType=atomic
	// +nullable
	// +optional
	Examples []string `json:"examples,omitempty"`
}

// ZoneInstance is a server that has a zone.
type ZoneInstance struct {
	// Name of the Bind9Instance.
	Name string `json:"name"`

	// Its namespace.
	Namespace string `json:"namespace"`

	// Its UID.
	//
	// +nullable
	// +optional
	UID string `json:"uid,omitempty"`

	// Claimed: it should get the zone. Configured: it has it. Failed: it did not
	// accept it. Unclaimed: it should lose it.
	//
	// +nullable
	// +optional
	State InstanceState `json:"state,omitempty"`

	// When the state became what it is.
	//
	// +nullable
	// +optional
	LastSyncTime *metav1.Time `json:"lastSyncTime,omitempty"`

	// bindy.firestoned.io/v1beta1.
	//
	// +nullable
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`

	// Bind9Instance.
	//
	// +nullable
	// +optional
	Kind string `json:"kind,omitempty"`

	// The same as state, under the name that the existing Bindy has for it.
	//
	// +nullable
	// +optional
	Status InstanceState `json:"status,omitempty"`

	// The same as lastSyncTime, under the name that the existing Bindy has for it.
	//
	// +nullable
	// +optional
	LastReconciledAt string `json:"lastReconciledAt,omitempty"`

	// What stands in the way, as a sentence.
	//
	// +nullable
	// +optional
	Message string `json:"message,omitempty"`

	// The names under which the server has or should get the zone: more than one
	// while it is renamed.
	//
	// +listType=atomic
	// +nullable
	// +optional
	ZoneNames []string `json:"zoneNames,omitempty"`

	// The serial that the server has confirmed.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	// +nullable
	// +optional
	Serial *int64 `json:"serial,omitempty"`
}

// RecordReference names a record of a zone.
type RecordReference struct {
	// The API version, bindy.firestoned.io/v1beta1.
	APIVersion string `json:"apiVersion"`
	// The kind of record.
	Kind string `json:"kind"`
	// Name of the object.
	Name string `json:"name"`
	// Its namespace.
	Namespace string `json:"namespace"`
	// The record's name in the zone.
	//
	// +nullable
	// +optional
	RecordName string `json:"recordName,omitempty"`
	// Written by the existing Bindy.
	//
	// +nullable
	// +optional
	LastReconciledAt string `json:"lastReconciledAt,omitempty"`
}

// ZoneDNSSEC is what is known of a zone's signatures.
type ZoneDNSSEC struct {
	// Whether the zone is signed.
	//
	// +nullable
	// +optional
	Signed bool `json:"signed,omitempty"`
	// The DS records that belong in the parent zone. They appear once the signatures
	// have had time to reach every resolver: about a day after the zone was signed.
	//
	// +listType=atomic
	// +nullable
	// +optional
	DSRecords []string `json:"dsRecords,omitempty"`
	// The tag of the key-signing key.
	//
	// +nullable
	// +optional
	KeyTag *int32 `json:"keyTag,omitempty"`
	// The algorithm of the key-signing key.
	//
	// +nullable
	// +optional
	Algorithm string `json:"algorithm,omitempty"`
	// The primary server that signs the zone, as namespace/name; the others follow it.
	//
	// +nullable
	// +optional
	Signer string `json:"signer,omitempty"`
	// What the signer's keys go with: the UID of the claim that was made for it, or
	// the name of its claim if somebody else made that.
	//
	// +nullable
	// +optional
	KeysIn string `json:"keysIn,omitempty"`
	// Not written, as by the existing Bindy.
	//
	// +nullable
	// +optional
	NextKeyRollover string `json:"nextKeyRollover,omitempty"`
	// Not written, as by the existing Bindy.
	//
	// +nullable
	// +optional
	LastKeyRollover string `json:"lastKeyRollover,omitempty"`
}
