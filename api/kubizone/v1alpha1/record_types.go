package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Record is one record of the DNS. The Zone with the longest name that encloses
// the record and allows it adopts it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=kr
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Domain Name",type=string,JSONPath=`.spec.domainName`
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.spec.class`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Data",type=string,JSONPath=`.spec.rdata`
// +kubebuilder:printcolumn:name="FQDN",type=string,JSONPath=`.status.fqdn`
// +kubebuilder:printcolumn:name="Parent",type=string,JSONPath=`.metadata.labels.kubi\.zone/parent-zone`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Record struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The record.
	Spec RecordSpec `json:"spec"`

	// What the operator found and published. Only the operator writes it, as a
	// whole.
	//
	// +structType=atomic
	// +nullable
	// +optional
	Status RecordStatus `json:"status,omitzero"`
}

// RecordList is a list of Records.
//
// +kubebuilder:object:root=true
type RecordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Record `json:"items"`
}

// RecordSpec is what a user says about a record.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.domainName) || self.domainName.matches(r'(^|[^\\])(\\\\)*\.$') || (has(self.zoneRef) && self.zoneRef != null)`,message="domainName is relative, so zoneRef must name the Zone; to make it fully qualified, end it with a dot"
type RecordSpec struct {
	// Either a fully qualified name with a trailing dot (`www.example.org.`), or
	// a partial name (`www`) to which the name of the Zone is added; `@` is the
	// Zone's own name. A partial name needs zoneRef. Escapes of RFC 1035 §5.1,
	// Unicode labels, `_` and, as the first label, `*` are accepted. Reasons not
	// to be accepted: InvalidName, NoZone (no accepted Zone encloses the name),
	// NotDelegated, NameHeld (by another namespace), Conflict (with an older
	// CNAME or DNAME).
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	DomainName string `json:"domainName"`

	// The Zone that should adopt the record. Its delegations decide; if they
	// refuse, no other Zone adopts it. Without it, the Zone is found by name.
	// Reasons not to be accepted: ReferenceNotFound, ParentUnresolved,
	// ParentNotAccepted, OutOfZone, NotDelegated.
	//
	// +nullable
	// +optional
	ZoneRef *ZoneRef `json:"zoneRef,omitempty"`

	// The record type: one of the listed mnemonics or `TYPE` and a number
	// (RFC 3597). Types that nobody may write (SOA, signatures and what only
	// occurs in messages) are refused, reason InvalidType.
	Type RecordType `json:"type"`

	// The class. Default `IN`. A record whose class is not its zone's is refused,
	// reason ClassMismatch.
	//
	// +kubebuilder:validation:Enum=IN;CH;HS
	// +kubebuilder:default=IN
	// +optional
	Class string `json:"class,omitempty"`

	// The time-to-live in seconds. 0 forbids caching. Default: the zone's ttl.
	// Records of one name and type have one, that of the oldest; the others get a
	// warning, reason TTLDiffers.
	//
	// +nullable
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	TTL *Number `json:"ttl,omitempty"`

	// The data in the presentation form of master files, on one line; names in
	// it are fully qualified. `\# length hex` (RFC 3597) is accepted for every
	// type. What cannot be parsed is refused, reason InvalidData.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=262144
	RData string `json:"rdata"`

	// Unread is what could not be read. It is not written back.
	Unread Unread `json:"-"`
}

// ClassOrDefault returns the class, IN where there is none.
func (s RecordSpec) ClassOrDefault() string {
	if s.Class == "" {
		return "IN"
	}
	return s.Class
}

// RecordType is a record type: a mnemonic in upper case, or TYPE and a number
// (RFC 3597).
//
// +kubebuilder:validation:Pattern=`^(A|AAAA|AFSDB|APL|CAA|CDNSKEY|CDS|CERT|CNAME|CSYNC|DHCID|DLV|DNAME|DNSKEY|DS|EUI48|EUI64|HINFO|HIP|HTTPS|IPSECKEY|KEY|KX|LOC|MX|NAPTR|NS|NSEC|NSEC3|NSEC3PARAM|OPENPGPKEY|PTR|RRSIG|RP|SIG|SMIMEA|SOA|SRV|SSHFP|SVCB|TA|TKEY|TLSA|TSIG|TXT|URI|ZONEMD|TYPE[0-9]{1,5})$`
type RecordType string

// DelegatedType is a record type in a delegation rule, in upper or lower case,
// as the first Kubizone took it.
//
// +kubebuilder:validation:Pattern=`(?i)^(A|AAAA|AFSDB|APL|CAA|CDNSKEY|CDS|CERT|CNAME|CSYNC|DHCID|DLV|DNAME|DNSKEY|DS|EUI48|EUI64|HINFO|HIP|HTTPS|IPSECKEY|KEY|KX|LOC|MX|NAPTR|NS|NSEC|NSEC3|NSEC3PARAM|OPENPGPKEY|PTR|RRSIG|RP|SIG|SMIMEA|SOA|SRV|SSHFP|SVCB|TA|TKEY|TLSA|TSIG|TXT|URI|ZONEMD|TYPE[0-9]{1,5})$`
type DelegatedType string

// RecordStatus is what the operator says about a record.
type RecordStatus struct {
	// The record's fully qualified name, in lower case and with a trailing dot.
	// It is set before the delegation is judged, so it does not mean that a Zone
	// adopted the record; the label kubi.zone/parent-zone says which did.
	//
	// +optional
	FQDN string `json:"fqdn,omitempty"`

	// The metadata.generation of the Record that this status describes.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Accepted: a zone has adopted the record. Served: every Backend of the zone
	// has confirmed it; not for a record that a zone cut or DNAME hides, reason
	// Occluded. Ready: both. Warning, where there is one: something about an
	// accepted record deserves a look.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Unread is what could not be read. It is not written back.
	Unread Unread `json:"-"`
}
