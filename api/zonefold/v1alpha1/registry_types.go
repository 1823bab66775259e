package v1alpha1

// Registry is how external-dns notes in a zone which sets it owns, by its flags.
//
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
}
