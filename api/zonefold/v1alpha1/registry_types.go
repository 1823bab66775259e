package v1alpha1

// Registry is how external-dns notes which sets of a zone it owns, by its flags.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.dynamoDB) || !(has(self.prefix) || has(self.suffix) || has(self.wildcardReplacement) || has(self.encryptionKeyRef))`,message="prefix, suffix, wildcardReplacement and encryptionKeyRef are those of a TXT registry; give it an entry of its own"
// +kubebuilder:validation:XValidation:rule=`!(has(self.prefix) && has(self.suffix))`,message="external-dns has either a prefix or a suffix"
// +kubebuilder:validation:XValidation:rule=`!has(self.write) || !self.write || has(self.owner)`,message="a registry is written as an owner: name it"
type Registry struct {
	// The owner (`--txt-owner-id`) whose place zonefold takes: its sets that
	// objects ask for become zonefold's, without a change of what is answered;
	// the others stay. Without it, nothing of any owner is taken.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^[ !#-+.-~-]+$`
	// +optional
	Owner string `json:"owner,omitempty"`

	// Whether zonefold keeps the registry for all of its sets, as that owner, so
	// that its external-dns can go on at any time. Default false: what the
	// registry says of a set goes when the set becomes zonefold's.
	//
	// +optional
	Write bool `json:"write,omitempty"`

	// What the names in the registry begin with: `--txt-prefix`. It may have
	// `%{record_type}` in it.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Prefix string `json:"prefix,omitempty"`

	// What the first label of the names in the registry ends with:
	// `--txt-suffix`. It may have `%{record_type}` in it.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Suffix string `json:"suffix,omitempty"`

	// What stands for `*` in the names in the registry:
	// `--txt-wildcard-replacement`.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	WildcardReplacement string `json:"wildcardReplacement,omitempty"`

	// The key that the registry is encrypted with: `--txt-encrypt-aes-key`, as 32
	// characters or in base64. With it, what is written is encrypted.
	//
	// +optional
	EncryptionKeyRef *SecretKeyRef `json:"encryptionKeyRef,omitempty"`

	// The registry is a table of Amazon DynamoDB (`--registry=dynamodb`), and not
	// TXT records of the zone.
	//
	// +optional
	DynamoDB *DynamoDB `json:"dynamoDB,omitempty"`
}

// DynamoDB is a table that external-dns keeps its registry in. A Backend has one
// at most.
type DynamoDB struct {
	// The name of the table: `--dynamodb-table`.
	//
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_.-]+$`
	// +kubebuilder:default=external-dns
	// +optional
	Table string `json:"table,omitempty"`

	// The region of the table: `--dynamodb-region`. Default: that of a provider
	// aws-route53, else the Secret's, else that of the operator's surroundings if
	// these have the credentials.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Region string `json:"region,omitempty"`

	// The URL of the service. Default: that of the region.
	//
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https?://`
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// The credentials, with the keys that the provider aws-route53 reads. Default:
	// those of such a provider, else those of the operator's surroundings.
	//
	// +optional
	SecretRef *SecretRef `json:"secretRef,omitempty"`
}
