package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CNAMERecord makes its name another name for its target. It cannot be beside
// other records, nor at the zone's own name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=cname
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.zoneRef.zoneName`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.target`
// +kubebuilder:printcolumn:name="TTL",type=integer,JSONPath=`.spec.ttl`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CNAMERecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The record.
	Spec CNAMERecordSpec `json:"spec"`

	// What the operator found and published. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status RecordStatus `json:"status,omitzero"`
}

// CNAMERecordList is a list of CNAMERecords.
//
// +kubebuilder:object:root=true
type CNAMERecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CNAMERecord `json:"items"`
}

// CNAMERecordSpec is what a user says about a CNAME record.
//
// +kubebuilder:validation:XValidation:rule=`self.name != '@'`,message="a CNAME cannot be at the zone's own name, where SOA and NS are (RFC 1034 §3.6.2)"
type CNAMERecordSpec struct {
	RecordMeta `json:",inline"`

	// The name that it stands for, fully qualified.
	Target Target `json:"target"`
}

// TXTRecord has text.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=txt
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.zoneRef.zoneName`
// +kubebuilder:printcolumn:name="TTL",type=integer,JSONPath=`.spec.ttl`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type TXTRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The record.
	Spec TXTRecordSpec `json:"spec"`

	// What the operator found and published. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status RecordStatus `json:"status,omitzero"`
}

// TXTRecordList is a list of TXTRecords.
//
// +kubebuilder:object:root=true
type TXTRecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TXTRecord `json:"items"`
}

// TXTRecordSpec is what a user says about a TXT record.
type TXTRecordSpec struct {
	RecordMeta `json:",inline"`

	// The strings of one TXT record. A string of more than 255 octets is split.
	//
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=65535
	// +kubebuilder:validation:items:Pattern=`^[^\x00-\x1f\x7f]*$`
	Text []string `json:"text"`
}
