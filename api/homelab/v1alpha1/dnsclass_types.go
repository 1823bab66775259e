package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DNSClass is a server that speaks the webhook protocol and has DNS records served.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,path=dnsclasses,singular=dnsclass,shortName=dnscl
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Server",type=string,JSONPath=`.spec.server`
// +kubebuilder:printcolumn:name="Health",type=string,JSONPath=`.status.health.status`
// +kubebuilder:printcolumn:name="Checked",type=date,JSONPath=`.status.lastHealthCheck`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DNSClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Where the server is, and how to talk to it.
	Spec DNSClassSpec `json:"spec"`

	// What the operator found. Only the operator writes it.
	//
	// +optional
	Status DNSClassStatus `json:"status,omitzero"`
}

// DNSClassList is a list of DNSClasses.
//
// +kubebuilder:object:root=true
type DNSClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DNSClass `json:"items"`
}

// DNSClassSpec is what an administrator says about a server.
type DNSClassSpec struct {
	// The URL of the server, http or https. A path is put before every path of the protocol, and is signed. When it
	// changes, all records are sent to the new server; the old one keeps what it has.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule=`self.matches('^https?://[^/?#@\\s]+(/[^?#\\s]*)?$')`,message="server is a URL such as http://HOST:PORT or https://HOST/PATH, without user, query and fragment"
	Server string `json:"server"`

	// The TTL, in seconds, of records without one. Default 300.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	DefaultTTL *int32 `json:"defaultTTL,omitempty"`

	// How long one call may take, in seconds. Default 30.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +optional
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// The secret that requests are signed with. Without it they are not signed.
	//
	// +optional
	HMACAuth *HMACAuth `json:"hmacAuth,omitempty"`

	// A Secret with the certificates (PEM) of the authorities that may vouch for an https server. Default: those that
	// the operator's system knows.
	//
	// +optional
	CABundleRef *CABundleRef `json:"caBundleRef,omitempty"`

	// Where the numbers of MX and SRV records are sent. Metadata: beside the values, as the protocol has it. Values: in
	// front of each value, as in "10 mail.example.com", for a server that knows no metadata. When it changes, these
	// records are sent again. Default Metadata.
	//
	// +optional
	NumbersIn NumbersIn `json:"numbersIn,omitempty"`

	// How many requests the server is sent at most, evenly spread. Health checks do not count. Without it, the only limit
	// is what the server demands with 429 and Retry-After, which always holds for the whole class.
	//
	// +optional
	RateLimit *RateLimit `json:"rateLimit,omitempty"`

	// Who may have which names of the class. Without it, everybody may have every name. Of several DNSRecords that ask
	// for one record, the oldest has it.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +optional
	Allowed []Allowance `json:"allowed,omitempty"`
}

// RateLimit is a number of requests in a time.
type RateLimit struct {
	// How many requests.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Requests int32 `json:"requests"`

	// In how many seconds. Default 1.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	// +optional
	Seconds int32 `json:"seconds,omitempty"`
}

// NumbersIn is a place for the numbers of MX and SRV records.
//
// +kubebuilder:validation:Enum=Metadata;Values
type NumbersIn string

// Places for numbers.
const (
	NumbersInMetadata NumbersIn = "Metadata"
	NumbersInValues   NumbersIn = "Values"
)

// HMACAuth says how requests are signed: with a Secret, or with a secret that everybody who may read DNSClasses sees.
//
// +kubebuilder:validation:XValidation:rule=`has(self.secretRef) != has(self.secret)`,message="hmacAuth has either secretRef or secret, and not both"
type HMACAuth struct {
	// The Secret that holds the shared secret.
	//
	// +optional
	SecretRef *SecretRef `json:"secretRef,omitempty"`

	// The shared secret itself. For tests only.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	Secret string `json:"secret,omitempty"`

	// The hash function.
	//
	// +kubebuilder:default=SHA256
	// +optional
	Algorithm Algorithm `json:"algorithm,omitempty"`
}

// Algorithm is a hash function of signatures.
//
// +kubebuilder:validation:Enum=SHA256;SHA512
type Algorithm string

// SecretRef names a key of a Secret.
type SecretRef struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// The key within the Secret. Its octets count as they are: a line feed at the end is one of them.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// CABundleRef names a key of a Secret with certificates.
type CABundleRef struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// The key within the Secret.
	//
	// +kubebuilder:default=ca.crt
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Key string `json:"key,omitempty"`
}

// Allowance lets namespaces have names.
type Allowance struct {
	// The namespaces. None: any namespace.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`

	// Patterns of the names, such as `www.example.com` or `*.example.com`. A `*` as the first label stands for one or
	// more labels, elsewhere for exactly one; inside a label it stands for any letters. None: every name.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	// +optional
	Names []string `json:"names,omitempty"`
}

// DNSClassStatus is what was found.
type DNSClassStatus struct {
	// Ready says whether the server is healthy. It is for information: records are sent in any case.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// When the server was last asked for its health.
	//
	// +optional
	LastHealthCheck *metav1.Time `json:"lastHealthCheck,omitempty"`

	// What it answered.
	//
	// +optional
	Health *Health `json:"health,omitempty"`

	// The generation of the spec that this status describes.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// Health is how a server is.
type Health struct {
	// +kubebuilder:validation:Enum=Healthy;Unhealthy;Unknown
	Status HealthStatus `json:"status"`

	// +optional
	LastCheck *metav1.Time `json:"lastCheck,omitempty"`

	// +optional
	Message string `json:"message,omitempty"`
}

// HealthStatus is a word for how a server is.
type HealthStatus string

// How a server is.
const (
	Healthy       HealthStatus = "Healthy"
	Unhealthy     HealthStatus = "Unhealthy"
	HealthUnknown HealthStatus = "Unknown"
)
