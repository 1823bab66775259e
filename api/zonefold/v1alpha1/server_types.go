package v1alpha1

// RFC2136 delivers by dynamic updates.
type RFC2136 struct {
	// The primary servers. Each gets every change, and a zone is served when all
	// have confirmed it. `host`, `host:port`, `[IPv6]:port` or an IPv6 address;
	// host is an address or a name. The port is 53 by default.
	//
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=261
	// +kubebuilder:validation:items:Pattern=`^(\[[0-9A-Fa-f:.]+(%[0-9A-Za-z_.-]+)?\](:[0-9]{1,5})?|[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*|[0-9A-Za-z_.-]+(:[0-9]{1,5})?)$`
	Servers []string `json:"servers"`

	// The key that signs updates and transfers. Without it nothing is signed,
	// and the servers must accept the operator's address.
	//
	// +optional
	TSIG *TSIG `json:"tsig,omitempty"`

	// Distinguishes the contents that one server holds for one zone, such as the
	// views of BIND, where the key chooses. Two Backends that name one server
	// and the same view (or none) are one target.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	View string `json:"view,omitempty"`
}

// TSIG is a key shared with a name server (RFC 8945).
type TSIG struct {
	// Name of the key, as the server knows it. The trailing dot may be missing.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	KeyName string `json:"keyName"`

	// The algorithm. Default `hmac-sha256`.
	//
	// +kubebuilder:validation:Enum=hmac-sha224;hmac-sha256;hmac-sha384;hmac-sha512
	// +kubebuilder:default=hmac-sha256
	// +optional
	Algorithm string `json:"algorithm,omitempty"`

	// The key itself, in base64 as in the server's configuration: 16 octets or
	// more.
	SecretRef SecretKeyRef `json:"secretRef"`
}

// PowerDNS delivers by the HTTP API of the PowerDNS Authoritative Server.
type PowerDNS struct {
	// Address of the API, without `/api/v1`: `https://pdns.example.org:8081`.
	//
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://[^\s/?#@]+(/[^\s?#]*)?$`
	URL string `json:"url"`

	// The server behind the API. Default `localhost`, which is what PowerDNS
	// calls itself.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:default=localhost
	// +optional
	ServerID string `json:"serverID,omitempty"`

	// The API key.
	SecretRef SecretKeyRef `json:"secretRef"`

	// The authorities that may have signed the API's certificate, as
	// certificates in PEM. Default: those of the operator's system.
	//
	// +kubebuilder:validation:MaxLength=262144
	// +kubebuilder:validation:XValidation:rule=`self.contains('-----BEGIN CERTIFICATE-----')`,message="caBundle must be certificates in PEM: text with -----BEGIN CERTIFICATE-----"
	// +optional
	CABundle string `json:"caBundle,omitempty"`

	// The kind of the zones that are created. Zones that exist keep theirs.
	// Primary is PowerDNS' newer word for Master. Default `Native`.
	//
	// +kubebuilder:validation:Enum=Native;Master;Primary
	// +kubebuilder:default=Native
	// +optional
	ZoneKind string `json:"zoneKind,omitempty"`
}

// SecretKeyRef names one value of a Secret. A Secret outside of the operator's
// namespace must have the label zonefold.dev/credentials: "true", or it is not
// read.
type SecretKeyRef struct {
	// Name of the Secret.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Secret. Default: the operator's.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// The key in the Secret's data. Default: the only one; with several, it must
	// be named.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Key string `json:"key,omitempty"`
}

// SecretRef names a Secret. One outside of the operator's namespace must have
// the label zonefold.dev/credentials: "true", or it is not read.
type SecretRef struct {
	// Name of the Secret.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Secret. Default: the operator's.
	//
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
}
