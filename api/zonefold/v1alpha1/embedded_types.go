package v1alpha1

// Embedded is the operator's own name server, which every replica of the
// operator is. It needs no settings to answer questions; these are for other
// name servers that follow it.
type Embedded struct {
	// Who may copy the zones (AXFR and IXFR). Whoever matches one of the entries
	// may; without entries nobody may.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Transfer []TransferRule `json:"transfer,omitempty"`

	// Name servers that are notified at once when a zone has changed (NOTIFY, RFC
	// 1996). Those that copy it need an entry in transfer too.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	Notify []NotifyTarget `json:"notify,omitempty"`

	// Who may change the zones by dynamic updates (RFC 2136), such as a DHCP
	// server or a client of the ACME protocol. What is added becomes Records of
	// a namespace, of which each key has one.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule=`self.all(a, self.all(b, a.__namespace__ == b.__namespace__ || a.keyName.lowerAscii() != b.keyName.lowerAscii() && a.keyName.lowerAscii() + '.' != b.keyName.lowerAscii()))`,message="a key stands for one namespace: give the entries of update for other namespaces keys with other names"
	// +optional
	Update []UpdateRule `json:"update,omitempty"`

	// Who may have names by the webhook protocol of external-dns, which the
	// operator serves with --external-dns-bind-address. What is wanted becomes
	// Records of a namespace, in Zones of all Backends that delegate names to it.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +optional
	ExternalDNS []ExternalDNSRule `json:"externalDNS,omitempty"`

	// Name of a catalog zone (RFC 9432) that lists the zones served here, as in
	// `catalog.example.`: a name server that follows it follows every zone. Only
	// those who may copy zones can see it. Choose a name that is no real zone's.
	//
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	CatalogZone string `json:"catalogZone,omitempty"`
}

// TransferRule lets somebody copy zones. What it names must hold together.
//
// +kubebuilder:validation:XValidation:rule=`has(self.addresses) || has(self.tsig)`,message="an entry of transfer names addresses, a tsig key, or both: it does not let everybody copy zones"
type TransferRule struct {
	// The addresses of the client: `192.0.2.1`, `2001:db8::/32`.
	//
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=50
	// +kubebuilder:validation:XValidation:rule=`self.all(a, isIP(a) || isCIDR(a))`,message="addresses are IP addresses or networks, such as 192.0.2.1 or 2001:db8::/32"
	// +optional
	Addresses []string `json:"addresses,omitempty"`

	// The key that the client signs with.
	//
	// +optional
	TSIG *TSIG `json:"tsig,omitempty"`
}

// NotifyTarget is a name server that is notified of changes.
type NotifyTarget struct {
	// Its IP address, with a port if that is not 53: `192.0.2.1`,
	// `192.0.2.1:5353`, `2001:db8::1`, `[2001:db8::1]:5353`.
	//
	// +kubebuilder:validation:MaxLength=60
	// +kubebuilder:validation:Pattern=`^(\[[0-9A-Fa-f:.]+\]:[0-9]{1,5}|[0-9.]+(:[0-9]{1,5})?|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)$`
	Address string `json:"address"`

	// The key that the message is signed with. Without it nothing is signed.
	//
	// +optional
	TSIG *TSIG `json:"tsig,omitempty"`
}

// UpdateRule lets the holder of a key change zones on behalf of a namespace.
type UpdateRule struct {
	// The key that updates are signed with.
	TSIG `json:",inline"`

	// The namespace that gets the Records. An update may have the names that the
	// namespace may have: Zones of other namespaces have to delegate them to it.
	// An update changes and deletes only Records that updates have made there.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// ExternalDNSRule lets an external-dns that has a token act for a namespace.
type ExternalDNSRule struct {
	// The Secret with the token, of at least 16 characters.
	SecretRef SecretKeyRef `json:"secretRef"`

	// The namespace that gets the Records. external-dns may have the names that
	// the namespace may have: Zones of other namespaces have to delegate them to
	// it. It changes and deletes only Records that it has made there.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}
