package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ARecord has IPv4 addresses.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=a
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.zoneRef.zoneName`
// +kubebuilder:printcolumn:name="Addresses",type=string,JSONPath=`.status.addresses`
// +kubebuilder:printcolumn:name="TTL",type=integer,JSONPath=`.spec.ttl`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ARecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The record.
	Spec ARecordSpec `json:"spec"`

	// What the operator found and published. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status RecordStatus `json:"status,omitzero"`
}

// ARecordList is a list of ARecords.
//
// +kubebuilder:object:root=true
type ARecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ARecord `json:"items"`
}

// ARecordSpec is what a user says about an A record.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.ipv4) && dyn(self.ipv4) != null) || (has(self.ipv4Address) && dyn(self.ipv4Address) != null) || (has(self.ipv4Addresses) && dyn(self.ipv4Addresses) != null)`,message="the record needs an address: set ipv4 (or ipv4Address or ipv4Addresses, which are other forms of it)"
// +kubebuilder:validation:XValidation:rule=`!has(self.ipv4) || dyn(self.ipv4) == null || !has(self.ipv4Address) || dyn(self.ipv4Address) == null || !isIP(self.ipv4) || !isIP(self.ipv4Address) || ip(self.ipv4) == ip(self.ipv4Address)`,message="ipv4 and ipv4Address are two forms of one field and differ; remove one of them"
// +kubebuilder:validation:XValidation:rule=`!has(self.ipv4) || dyn(self.ipv4) == null || !has(self.ipv4Addresses) || dyn(self.ipv4Addresses) == null || !isIP(self.ipv4) || self.ipv4Addresses.all(a, isIP(a) && ip(a) == ip(self.ipv4))`,message="ipv4 and ipv4Addresses are two forms of one field and differ; remove one of them"
// +kubebuilder:validation:XValidation:rule=`!has(self.ipv4Address) || dyn(self.ipv4Address) == null || !has(self.ipv4Addresses) || dyn(self.ipv4Addresses) == null || !isIP(self.ipv4Address) || self.ipv4Addresses.all(a, isIP(a) && ip(a) == ip(self.ipv4Address))`,message="ipv4Address and ipv4Addresses are two forms of one field and differ; remove one of them"
type ARecordSpec struct {
	RecordMeta `json:",inline"`

	// The address.
	//
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule=`isIP(self) && ip(self).family() == 4`,message="the address must be an IPv4 address such as 192.0.2.1"
	// +nullable
	// +optional
	IPv4 string `json:"ipv4,omitempty"`

	// Another form of ipv4.
	//
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule=`isIP(self) && ip(self).family() == 4`,message="the address must be an IPv4 address such as 192.0.2.1"
	// +nullable
	// +optional
	IPv4Address string `json:"ipv4Address,omitempty"`

	// Another form of ipv4, for up to 100 addresses, the most that BIND accepts.
	//
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=15
	// +kubebuilder:validation:XValidation:rule=`self.all(a, isIP(a) && ip(a).family() == 4)`,message="the addresses must be IPv4 addresses such as 192.0.2.1"
	// +nullable
	// +optional
	IPv4Addresses []string `json:"ipv4Addresses,omitempty"`
}

// AAAARecord has IPv6 addresses.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=aaaa
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.zoneRef.zoneName`
// +kubebuilder:printcolumn:name="Addresses",type=string,JSONPath=`.status.addresses`
// +kubebuilder:printcolumn:name="TTL",type=integer,JSONPath=`.spec.ttl`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type AAAARecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The record.
	Spec AAAARecordSpec `json:"spec"`

	// What the operator found and published. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status RecordStatus `json:"status,omitzero"`
}

// AAAARecordList is a list of AAAARecords.
//
// +kubebuilder:object:root=true
type AAAARecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AAAARecord `json:"items"`
}

// AAAARecordSpec is what a user says about an AAAA record.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.ipv6) && dyn(self.ipv6) != null) || (has(self.ipv6Address) && dyn(self.ipv6Address) != null) || (has(self.ipv6Addresses) && dyn(self.ipv6Addresses) != null)`,message="the record needs an address: set ipv6 (or ipv6Address or ipv6Addresses, which are other forms of it)"
// +kubebuilder:validation:XValidation:rule=`!has(self.ipv6) || dyn(self.ipv6) == null || !has(self.ipv6Address) || dyn(self.ipv6Address) == null || !isIP(self.ipv6) || !isIP(self.ipv6Address) || ip(self.ipv6) == ip(self.ipv6Address)`,message="ipv6 and ipv6Address are two forms of one field and differ; remove one of them"
// +kubebuilder:validation:XValidation:rule=`!has(self.ipv6) || dyn(self.ipv6) == null || !has(self.ipv6Addresses) || dyn(self.ipv6Addresses) == null || !isIP(self.ipv6) || self.ipv6Addresses.all(a, isIP(a) && ip(a) == ip(self.ipv6))`,message="ipv6 and ipv6Addresses are two forms of one field and differ; remove one of them"
// +kubebuilder:validation:XValidation:rule=`!has(self.ipv6Address) || dyn(self.ipv6Address) == null || !has(self.ipv6Addresses) || dyn(self.ipv6Addresses) == null || !isIP(self.ipv6Address) || self.ipv6Addresses.all(a, isIP(a) && ip(a) == ip(self.ipv6Address))`,message="ipv6Address and ipv6Addresses are two forms of one field and differ; remove one of them"
type AAAARecordSpec struct {
	RecordMeta `json:",inline"`

	// The address.
	//
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule=`isIP(self) && ip(self).family() == 6`,message="the address must be an IPv6 address such as 2001:db8::1"
	// +nullable
	// +optional
	IPv6 string `json:"ipv6,omitempty"`

	// Another form of ipv6.
	//
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule=`isIP(self) && ip(self).family() == 6`,message="the address must be an IPv6 address such as 2001:db8::1"
	// +nullable
	// +optional
	IPv6Address string `json:"ipv6Address,omitempty"`

	// Another form of ipv6, for up to 100 addresses, the most that BIND accepts.
	//
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=45
	// +kubebuilder:validation:XValidation:rule=`self.all(a, isIP(a) && ip(a).family() == 6)`,message="the addresses must be IPv6 addresses such as 2001:db8::1"
	// +nullable
	// +optional
	IPv6Addresses []string `json:"ipv6Addresses,omitempty"`
}
