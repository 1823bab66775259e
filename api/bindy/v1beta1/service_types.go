package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SRVRecord has a host and port of a service (RFC 2782).
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=srv
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.zoneRef.zoneName`
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec.target`
// +kubebuilder:printcolumn:name="Port",type=integer,JSONPath=`.spec.port`
// +kubebuilder:printcolumn:name="TTL",type=integer,JSONPath=`.spec.ttl`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type SRVRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The record.
	Spec SRVRecordSpec `json:"spec"`

	// What the operator found and published. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status RecordStatus `json:"status,omitzero"`
}

// SRVRecordList is a list of SRVRecords.
//
// +kubebuilder:object:root=true
type SRVRecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SRVRecord `json:"items"`
}

// SRVRecordSpec is what a user says about an SRV record.
type SRVRecordSpec struct {
	RecordMeta `json:",inline"`

	// The host with the lowest number is tried first.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Priority int32 `json:"priority"`

	// The share of this host among those with the same priority.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Weight int32 `json:"weight"`

	// The port of the service.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// The host, fully qualified; `.` if there is no such service.
	Target Target `json:"target"`
}

// CAARecord says who may issue certificates (RFC 8659).
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=caa
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.zoneRef.zoneName`
// +kubebuilder:printcolumn:name="Tag",type=string,JSONPath=`.spec.tag`
// +kubebuilder:printcolumn:name="Value",type=string,JSONPath=`.spec.value`
// +kubebuilder:printcolumn:name="TTL",type=integer,JSONPath=`.spec.ttl`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CAARecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The record.
	Spec CAARecordSpec `json:"spec"`

	// What the operator found and published. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status RecordStatus `json:"status,omitzero"`
}

// CAARecordList is a list of CAARecords.
//
// +kubebuilder:object:root=true
type CAARecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CAARecord `json:"items"`
}

// CAARecordSpec is what a user says about a CAA record.
type CAARecordSpec struct {
	RecordMeta `json:",inline"`

	// 128 makes the record critical; 0 does not.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	Flags int32 `json:"flags"`

	// issue, issuewild, iodef, or another tag of letters and digits.
	//
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]+$`
	Tag string `json:"tag"`

	// The value of the tag, such as letsencrypt.org.
	//
	// +kubebuilder:validation:MaxLength=65535
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]*$`
	Value string `json:"value"`
}
