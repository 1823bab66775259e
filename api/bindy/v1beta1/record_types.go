package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RecordMeta is what every record says. A record belongs to the zone that it
// names, or else to one of its namespace that selects it.
type RecordMeta struct {
	// The record's name in its zone; `@` is the zone's own name, `*` a wildcard.
	// With a dot at the end it is fully qualified.
	Name RecordName `json:"name"`

	// The name of the zone, such as example.com: that of a DNSZone of this
	// namespace.
	//
	// +nullable
	// +optional
	Zone HostName `json:"zone,omitempty"`

	// The name of the DNSZone object; an older form of zone. Where both are set,
	// they must mean one zone.
	//
	// +kubebuilder:validation:MaxLength=253
	// +nullable
	// +optional
	ZoneRef string `json:"zoneRef,omitempty"`

	// The time-to-live in seconds. Default: the zone's.
	//
	// +nullable
	// +optional
	TTL *Seconds `json:"ttl,omitempty"`
}

// RecordStatus is what the operator says about a record.
type RecordStatus struct {
	// Ready: every primary server of the zone has confirmed the record.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// The metadata.generation of the record that this status describes.
	//
	// +nullable
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// The name of the zone; an older form of zoneRef.zoneName.
	//
	// +nullable
	// +optional
	Zone string `json:"zone,omitempty"`

	// The DNSZone that has the record.
	//
	// +nullable
	// +optional
	ZoneRef *ZoneReference `json:"zoneRef,omitempty"`

	// A hash over the spec that was published.
	//
	// +nullable
	// +optional
	RecordHash string `json:"recordHash,omitempty"`

	// When the record was last published, RFC 3339.
	//
	// +nullable
	// +optional
	LastUpdated string `json:"lastUpdated,omitempty"`

	// The addresses with commas between them, for A and AAAA.
	//
	// +nullable
	// +optional
	Addresses string `json:"addresses,omitempty"`

	// The name that was published last.
	//
	// +nullable
	// +optional
	PublishedName string `json:"publishedName,omitempty"`
}
