package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PTRRecord has the name that an address belongs to (RFC 1035 §3.5); its zone is one
// of in-addr.arpa or ip6.arpa, where the record is named by the address backwards.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=ptr
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.zoneRef.zoneName`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.target`
// +kubebuilder:printcolumn:name="TTL",type=integer,JSONPath=`.spec.ttl`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PTRRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The record.
	Spec PTRRecordSpec `json:"spec"`

	// What the operator found and published. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status RecordStatus `json:"status,omitzero"`
}

// PTRRecordList is a list of PTRRecords.
//
// +kubebuilder:object:root=true
type PTRRecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PTRRecord `json:"items"`
}

// PTRRecordSpec is what a user says about a PTR record.
type PTRRecordSpec struct {
	RecordMeta `json:",inline"`

	// The name of the host, fully qualified.
	Target Target `json:"target"`
}
