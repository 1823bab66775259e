package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DNSRecord is one record set that an extension of Gardener puts into a hosted zone.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=dnsrecords,singular=dnsrecord,shortName=dns
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`,description="The DNS record provider type."
// +kubebuilder:printcolumn:name="Domain Name",type=string,JSONPath=`.spec.name`,description="The DNS record domain name."
// +kubebuilder:printcolumn:name="Record Type",type=string,JSONPath=`.spec.recordType`,description="The DNS record type (A, AAAA, CNAME, or TXT)."
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.lastOperation.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DNSRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The record set. It may not be changed any more when the object is being deleted.
	Spec DNSRecordSpec `json:"spec"`

	// What became of it. Only the operator writes it.
	//
	// +optional
	Status DNSRecordStatus `json:"status,omitzero"`
}

// DNSRecordList is a list of DNSRecords.
//
// +kubebuilder:object:root=true
type DNSRecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DNSRecord `json:"items"`
}

// DNSRecordSpec is what Gardener says about a record set.
type DNSRecordSpec struct {
	// The kind of DNS service, such as `aws-route53`.
	Type string `json:"type"`

	// What the record set is for: `garden`, `seed`, or `shoot`, which is the default.
	//
	// +kubebuilder:validation:XValidation:rule=`self == oldSelf`,message="Value is immutable"
	// +optional
	Class *Class `json:"class,omitempty"`

	// What else the kind of DNS service needs.
	//
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`

	// The Secret with the credentials.
	SecretRef SecretReference `json:"secretRef"`

	// The region of the service. Default: what the Secret says, else what is usual at the service.
	//
	// +optional
	Region *string `json:"region,omitempty"`

	// The hosted zone, as the service calls it. Default: `status.zone`, else the one with the longest name that `name`
	// ends with.
	//
	// +optional
	Zone *string `json:"zone,omitempty"`

	// The full name of the record set. It does not change.
	Name string `json:"name"`

	// The type of its records: A, AAAA, CNAME or TXT. It does not change.
	RecordType string `json:"recordType"`

	// Addresses (A, AAAA), one name (CNAME), or texts (TXT).
	Values []string `json:"values"`

	// The TTL in seconds. Default: 120.
	//
	// +optional
	TTL *int64 `json:"ttl,omitempty"`
}

// Class says what an object is for.
type Class string

// What objects are for.
const (
	ClassGarden Class = "garden"
	ClassSeed   Class = "seed"
	ClassShoot  Class = "shoot"
)

// SecretReference names a Secret.
//
// +structType=atomic
type SecretReference struct {
	// +optional
	Name string `json:"name,omitempty"`

	// Default: that of the DNSRecord.
	//
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// DNSRecordStatus is what came of a record set.
type DNSRecordStatus struct {
	// What the kind of DNS service says.
	//
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	ProviderStatus *runtime.RawExtension `json:"providerStatus,omitempty"`

	// Created says whether the service has ever had the record set.
	//
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`

	// What went wrong last; absent when nothing did since.
	//
	// +optional
	LastError *LastError `json:"lastError,omitempty"`

	// What was done last, or is being done.
	//
	// +optional
	LastOperation *LastOperation `json:"lastOperation,omitempty"`

	// The generation of the spec that this status describes.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// What the next operator in charge has to know. zonefold leaves it empty.
	//
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	State *runtime.RawExtension `json:"state,omitempty"`

	// Objects that the state refers to. zonefold leaves it empty.
	//
	// +optional
	Resources []NamedResourceReference `json:"resources,omitempty"`

	// The hosted zone that the record set is in, as the service calls it.
	//
	// +optional
	Zone *string `json:"zone,omitempty"`
}
