package v1beta1

// Bind9Config is the configuration of a server.
type Bind9Config struct {
	// Whether the server resolves other names: for the clients in allowQuery or,
	// without it, for the networks of its pod, which is BIND's default. Default
	// false.
	//
	// +nullable
	// +optional
	Recursion *bool `json:"recursion,omitempty"`

	// Who may ask. Entries are any, none, localhost, localnets, an address, a
	// network, `key NAME` or the name of a list in acls. A `!` before an entry
	// negates it. Default: everybody.
	//
	// +nullable
	// +optional
	AllowQuery ACL `json:"allowQuery,omitempty"`

	// Who may copy zones besides the cluster's own servers. Default: nobody.
	//
	// +nullable
	// +optional
	AllowTransfer ACL `json:"allowTransfer,omitempty"`

	// IP addresses of servers to which a server with recursion forwards queries.
	//
	// +nullable
	// +optional
	Forwarders Addresses `json:"forwarders,omitempty"`

	// The IPv4 addresses that the server listens on. Default: any.
	//
	// +nullable
	// +optional
	ListenOn ACL `json:"listenOn,omitempty"`

	// The IPv6 addresses that the server listens on. Default: any.
	//
	// +nullable
	// +optional
	ListenOnV6 ACL `json:"listenOnV6,omitempty"`

	// DNSSEC: validation of the answers of others, and signing of the server's zones.
	//
	// +nullable
	// +optional
	DNSSEC *DNSSECConfig `json:"dnssec,omitempty"`

	// An older form of rndcKey.secretRef.
	//
	// +nullable
	// +optional
	RNDCSecretRef *RNDCSecretRef `json:"rndcSecretRef,omitempty"`

	// The sidecar.
	//
	// +nullable
	// +optional
	BindcarConfig *BindcarConfig `json:"bindcarConfig,omitempty"`
}

// DNSSECConfig is the DNSSEC part of a server's configuration.
type DNSSECConfig struct {
	// Whether a server with recursion validates the answers of others.
	//
	// +nullable
	// +optional
	Validation *bool `json:"validation,omitempty"`

	// Signing of zones.
	//
	// +nullable
	// +optional
	Signing *DNSSECSigning `json:"signing,omitempty"`
}

// DNSSECSigning says how zones are signed.
type DNSSECSigning struct {
	// Whether zones are signed. Default false.
	//
	// +kubebuilder:default=false
	// +optional
	Enabled bool `json:"enabled,omitempty"`

	// The name of the policy.
	//
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`
	// +nullable
	// +optional
	Policy string `json:"policy,omitempty"`

	// The algorithm of the keys, such as ECDSAP256SHA256.
	//
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]{1,32}$`
	// +nullable
	// +optional
	Algorithm string `json:"algorithm,omitempty"`

	// How long a key-signing key is used, such as 365d or unlimited.
	//
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]{1,32}$`
	// +nullable
	// +optional
	KSKLifetime string `json:"kskLifetime,omitempty"`

	// How long a zone-signing key is used, such as 90d or unlimited.
	//
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]{1,32}$`
	// +nullable
	// +optional
	ZSKLifetime string `json:"zskLifetime,omitempty"`

	// Whether names that do not exist are denied by NSEC3 rather than NSEC.
	//
	// +nullable
	// +optional
	NSEC3 *bool `json:"nsec3,omitempty"`

	// Accepted, without effect: BIND makes salts itself, and RFC 9276 §3.1 wants
	// none.
	//
	// +kubebuilder:validation:Pattern=`^(-|([0-9A-Fa-f]{2}){0,255})$`
	// +nullable
	// +optional
	NSEC3Salt string `json:"nsec3Salt,omitempty"`

	// The iterations of NSEC3; RFC 9276 §3.1 wants 0.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=150
	// +nullable
	// +optional
	NSEC3Iterations *int32 `json:"nsec3Iterations,omitempty"`

	// Where the keys are kept.
	//
	// +nullable
	// +optional
	KeysFrom *DNSSECKeySource `json:"keysFrom,omitempty"`

	// Whether keys are created if there are none. With false, nothing is signed.
	//
	// +nullable
	// +optional
	AutoGenerate *bool `json:"autoGenerate,omitempty"`

	// Whether the keys are also written to a Secret. That does not work yet: with
	// true, nothing is signed.
	//
	// +nullable
	// +optional
	ExportToSecret *bool `json:"exportToSecret,omitempty"`
}

// DNSSECKeySource is where DNSSEC keys are.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.secretRef) || dyn(self.secretRef) == null || self.secretRef.name.startsWith('bindy-')`,message="keysFrom names a Secret that is not meant for name servers; names of those begin with bindy-"
type DNSSECKeySource struct {
	// A Secret with the key files. It is not used yet: with it, nothing is signed.
	//
	// +nullable
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`

	// The spec of a PersistentVolumeClaim. Each primary without storage of its own
	// gets one, for its keys and zones.
	//
	// +nullable
	// +optional
	PersistentVolume *Fragment `json:"persistentVolume,omitempty"`
}

// SecretReference names a Secret.
type SecretReference struct {
	// Name of the Secret.
	Name ObjectName `json:"name"`

	// Namespace of the Secret. Pods can only use Secrets of their own namespace,
	// so it is that one or left out.
	//
	// +kubebuilder:validation:MaxLength=63
	// +nullable
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// RNDCAlgorithm is the algorithm of a key.
//
// +kubebuilder:validation:Enum=hmac-sha1;hmac-sha224;hmac-sha256;hmac-sha384;hmac-sha512
type RNDCAlgorithm string

// DefaultRNDCAlgorithm is the algorithm of generated keys.
const DefaultRNDCAlgorithm RNDCAlgorithm = "hmac-sha256"

// RNDCSecretRef names a Secret with a key that somebody else made. Where the
// key is not under the entries key-name and secret, the Secret has to have the
// label zonefold.dev/credentials=true, or a name that begins with `bindy-`.
type RNDCSecretRef struct {
	// Name of the Secret, in the namespace of the servers.
	Name ObjectName `json:"name"`

	// The algorithm of the key. hmac-sha1 is accepted here and refused in use.
	// Default `hmac-sha256`.
	//
	// +kubebuilder:default=hmac-sha256
	// +optional
	Algorithm RNDCAlgorithm `json:"algorithm,omitempty"`

	// Which entry of the Secret has the name of the key. Default `key-name`.
	//
	// +kubebuilder:default=key-name
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	// +optional
	KeyNameKey string `json:"keyNameKey,omitempty"`

	// Which entry of the Secret has the key in base64. Default `secret`.
	//
	// +kubebuilder:default=secret
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	// +optional
	SecretKey string `json:"secretKey,omitempty"`
}

// RNDCKeyConfig says where the key of a server comes from and how it is replaced.
type RNDCKeyConfig struct {
	// Whether the operator replaces the key automatically. Default false.
	//
	// +kubebuilder:default=false
	// +optional
	AutoRotate bool `json:"autoRotate,omitempty"`

	// The age at which a key is replaced: 1h to 8760h, in h, d or w. Default `720h`.
	//
	// +kubebuilder:default="720h"
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:XValidation:rule=`self.matches('^(([1-9][0-9]{0,2}|[1-7][0-9]{3}|8[0-6][0-9]{2}|87[0-5][0-9]|8760)h|([1-9][0-9]?|[12][0-9]{2}|3[0-5][0-9]|36[0-5])d|([1-9]|[1-4][0-9]|5[0-2])w)$')`,message="rotateAfter is a time of 1h to 8760h in hours, days or weeks, such as 720h, 30d or 4w"
	// +optional
	RotateAfter string `json:"rotateAfter,omitempty"`

	// A Secret with the key, which somebody else made and replaces.
	//
	// +nullable
	// +optional
	SecretRef *RNDCSecretRef `json:"secretRef,omitempty"`

	// Accepted but not used: the operator generates the key. To have one of your
	// own, make a Secret and name it in secretRef.
	//
	// +nullable
	// +optional
	Secret *RNDCSecret `json:"secret,omitempty"`

	// The algorithm of generated keys. Default `hmac-sha256`.
	//
	// +kubebuilder:default=hmac-sha256
	// +optional
	Algorithm RNDCAlgorithm `json:"algorithm,omitempty"`
}

// RNDCSecret is the text of a Secret.
type RNDCSecret struct {
	// Name, labels and annotations.
	Metadata RNDCSecretMetadata `json:"metadata"`

	// The type of the Secret. Default `Opaque`.
	//
	// +kubebuilder:default=Opaque
	// +optional
	Type string `json:"type,omitempty"`

	// Entries in plain text.
	//
	// +kubebuilder:validation:MaxProperties=64
	// +nullable
	// +optional
	StringData map[string]string `json:"stringData,omitempty"`

	// Entries in base64.
	//
	// +kubebuilder:validation:MaxProperties=64
	// +nullable
	// +optional
	Data map[string]string `json:"data,omitempty"`
}

// RNDCSecretMetadata are metadata of a Secret.
type RNDCSecretMetadata struct {
	// Name of the Secret.
	Name ObjectName `json:"name"`

	// Labels of the Secret.
	//
	// +kubebuilder:validation:MaxProperties=64
	// +nullable
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of the Secret.
	//
	// +kubebuilder:validation:MaxProperties=64
	// +nullable
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// BindcarConfig is the configuration of the sidecar.
type BindcarConfig struct {
	// The sidecar's image: one of zonefold's. That of the existing Bindy is refused,
	// and a pod with it under another name is never ready. Default: the operator's
	// own setting.
	//
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`
	// +nullable
	// +optional
	Image string `json:"image,omitempty"`

	// Always, IfNotPresent or Never.
	//
	// +kubebuilder:validation:Pattern=`^(Always|IfNotPresent|Never)$`
	// +nullable
	// +optional
	ImagePullPolicy string `json:"imagePullPolicy,omitempty"`

	// The resources of the container, as in a Pod.
	//
	// +nullable
	// +optional
	Resources *Fragment `json:"resources,omitempty"`

	// The port that the sidecar listens on. The Service's ports stay. Default 8080.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:validation:XValidation:rule=`!(self in [5353, 9530])`,message="BIND itself listens on the ports 5353 and 9530; choose another one for bindcar"
	// +nullable
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Fields of the Service's spec, merged over the generated ones.
	//
	// +nullable
	// +optional
	ServiceSpec *Fragment `json:"serviceSpec,omitempty"`

	// error, warn, info, debug or trace. Default `info`.
	//
	// +kubebuilder:validation:Pattern=`^(error|warn|info|debug|trace)$`
	// +nullable
	// +optional
	LogLevel string `json:"logLevel,omitempty"`

	// Further environment variables of the container, as in a Pod; names of Secrets and
	// ConfigMaps begin with `bindy-`.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +nullable
	// +optional
	EnvVars []Fragment `json:"envVars,omitempty"`
}

// StorageType says what holds a server's zones.
//
// +kubebuilder:validation:Enum=emptyDir;persistentVolumeClaim
type StorageType string

// The kinds of storage.
const (
	StorageEmptyDir StorageType = "emptyDir"
	StorageClaim    StorageType = "persistentVolumeClaim"
)

// StorageConfig is what holds a server's zones.
type StorageConfig struct {
	// emptyDir (the default) loses the zones with the pod, and the operator
	// writes them again; persistentVolumeClaim keeps them, and allows at most one
	// replica.
	//
	// +kubebuilder:default=emptyDir
	// +optional
	StorageType StorageType `json:"storageType,omitempty"`

	// An emptyDir volume, as in a Pod.
	//
	// +nullable
	// +optional
	EmptyDir *Fragment `json:"emptyDir,omitempty"`

	// The claim.
	//
	// +nullable
	// +optional
	PersistentVolumeClaim *ClaimConfig `json:"persistentVolumeClaim,omitempty"`
}

// ClaimConfig is a PersistentVolumeClaim.
type ClaimConfig struct {
	// The name of an existing claim, which begins with `bindy-`. Without it, the operator creates a claim for
	// the instance.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	// +nullable
	// +optional
	ClaimName string `json:"claimName,omitempty"`

	// The storage class. Default: the cluster's.
	//
	// +kubebuilder:validation:MaxLength=253
	// +nullable
	// +optional
	StorageClassName *string `json:"storageClassName,omitempty"`

	// How much storage, such as 1Gi. Default `1Gi`.
	//
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))`,message="size is an amount of storage such as 1Gi"
	// +nullable
	// +optional
	Size string `json:"size,omitempty"`

	// How the volume is mounted. Default ReadWriteOnce.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:Enum=ReadWriteOnce;ReadWriteOncePod;ReadWriteMany;ReadOnlyMany
	// +nullable
	// +optional
	AccessModes []string `json:"accessModes,omitempty"`
}
