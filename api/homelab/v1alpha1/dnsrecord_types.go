package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DNSRecord is a record that the server of a DNSClass should have: all values of one type at one name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=dnsrecords,singular=dnsrecord,shortName=dnsrec
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="FQDN",type=string,JSONPath=`.status.fqdn`
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.spec.dnsClassRef.name`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Values",type=string,JSONPath=`.spec.values`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DNSRecord struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The record.
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

// DNSRecordSpec is what a user says about a record.
//
// +kubebuilder:validation:XValidation:rule=`self.type != 'CNAME' || size(self.values) == 1`,message="a CNAME has exactly one value"
// +kubebuilder:validation:XValidation:rule=`self.type != 'MX' || has(self.metadata) && has(self.metadata.priority)`,message="an MX record needs metadata.priority"
// +kubebuilder:validation:XValidation:rule=`self.type != 'SRV' || has(self.metadata) && has(self.metadata.priority) && has(self.metadata.weight) && has(self.metadata.port)`,message="an SRV record needs metadata.priority, metadata.weight and metadata.port"
type DNSRecordSpec struct {
	// The type of the record.
	Type RecordType `json:"type"`

	// The domain, such as `example.com`.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=254
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\\.?$')`,message="domain has labels of letters, digits, _ and, between these, -, separated by dots; write other letters as xn--…"
	Domain string `json:"domain"`

	// The name inside the domain, such as `www`; `@` is the domain itself. The first label may be `*`.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=254
	// +kubebuilder:validation:XValidation:rule=`self.matches('^(@|([*]|[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)([.][A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*[.]?)$')`,message="subdomain is @ or has labels of letters, digits, _ and, between these, -, separated by dots, of which the first may be *; write other letters as xn--…"
	Subdomain string `json:"subdomain"`

	// The class whose server should have the record.
	DNSClassRef DNSClassRef `json:"dnsClassRef"`

	// The values: addresses (A, AAAA), names (CNAME, exactly one; NS, PTR, MX and SRV), text (TXT, without quotes), or
	// `0 issue "ca.example"` (CAA).
	//
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=65535
	Values []string `json:"values"`

	// The TTL in seconds. Default: the defaultTTL of the class, else 300.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	TTL *int32 `json:"ttl,omitempty"`

	// Notes for people.
	//
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Description string `json:"description,omitempty"`

	// The numbers of MX (priority) and SRV records (all three).
	//
	// +optional
	Metadata *RecordMetadata `json:"metadata,omitempty"`
}

// RecordType is a type of records.
//
// +kubebuilder:validation:Enum=A;AAAA;CNAME;TXT;MX;SRV;NS;PTR;CAA
type RecordType string

// DNSClassRef names a DNSClass.
type DNSClassRef struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// RecordMetadata are numbers that belong to a record.
type RecordMetadata struct {
	// Of MX and SRV records; lower comes first.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Priority *int32 `json:"priority,omitempty"`

	// Of SRV records: the share among those of one priority.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Weight *int32 `json:"weight,omitempty"`

	// Of SRV records.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// DNSRecordStatus is what came of a record.
type DNSRecordStatus struct {
	// Ready says whether the server has the record as it is wanted.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Where the record stands.
	//
	// +kubebuilder:validation:Enum=Created;Updated;Deleted;Error;Pending
	// +optional
	State RecordState `json:"state,omitempty"`

	// When the server last took a change of the record.
	//
	// +optional
	LastSyncTime *metav1.Time `json:"lastSyncTime,omitempty"`

	// The full name, without a final dot.
	//
	// +optional
	FQDN string `json:"fqdn,omitempty"`

	// The generation of the spec that this status describes.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// What went wrong.
	//
	// +optional
	Error *RecordError `json:"error,omitempty"`

	// What the server has of this object, or may have. It is written before anything is sent, so that nothing is left
	// behind, whatever happens meanwhile. For a new object, an annotation says it until there is a status.
	//
	// +optional
	Applied *Applied `json:"applied,omitempty"`

	// What servers may still have under names, types or classes that the spec had before. It is removed.
	//
	// +listType=atomic
	// +optional
	Former []Applied `json:"former,omitempty"`
}

// RecordState is a word for where a record stands.
type RecordState string

// Where a record stands.
const (
	StatePending RecordState = "Pending" // nothing has been sent, or not answered
	StateCreated RecordState = "Created" // the server has it
	StateUpdated RecordState = "Updated" // the server has it, and had it otherwise before
	StateDeleted RecordState = "Deleted" // the server has it no more
	StateError   RecordState = "Error"   // see the condition; what the server had before may be there
)

// RecordError says what went wrong.
type RecordError struct {
	// The code of the server's answer, or one that says why there is none.
	Code string `json:"code"`

	// +optional
	Message string `json:"message,omitempty"`

	// Since when it is so.
	//
	// +optional
	Timestamp *metav1.Time `json:"timestamp,omitempty"`
}

// Applied is a record of a server.
type Applied struct {
	// The DNSClass.
	Class string `json:"class"`

	// The URL that it had.
	Server string `json:"server"`

	Type      string `json:"type"`
	Domain    string `json:"domain"`
	Subdomain string `json:"subdomain"`

	// Whether the server has confirmed the record at least once.
	//
	// +optional
	Confirmed bool `json:"confirmed,omitempty"`

	// A hash of the content that the server last confirmed; absent while nobody knows what it has.
	//
	// +optional
	Hash string `json:"hash,omitempty"`
}
