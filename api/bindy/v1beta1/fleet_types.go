package v1beta1

// CommonSpec is what a provider and a cluster both say about their servers.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.primaryReplicas) || dyn(self.primaryReplicas) == null || !has(self.primary) || dyn(self.primary) == null || !has(self.primary.replicas) || dyn(self.primary.replicas) == null || self.primaryReplicas == self.primary.replicas`,message="primaryReplicas and primary.replicas are two forms of one field and differ; remove one of them"
// +kubebuilder:validation:XValidation:rule=`!has(self.secondaryReplicas) || dyn(self.secondaryReplicas) == null || !has(self.secondary) || dyn(self.secondary) == null || !has(self.secondary.replicas) || dyn(self.secondary.replicas) == null || self.secondaryReplicas == self.secondary.replicas`,message="secondaryReplicas and secondary.replicas are two forms of one field and differ; remove one of them"
type CommonSpec struct {
	// The version of BIND, which is the tag of its image. A change replaces the
	// pods one at a time. Default `9.18`.
	//
	// +kubebuilder:default="9.18"
	// +nullable
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9_][A-Za-z0-9_.-]*)?$`
	// +optional
	Version string `json:"version,omitempty"`

	// How many primary servers there are. Also accepted as `primary.replicas`.
	// Default 0.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +nullable
	// +optional
	PrimaryReplicas *int32 `json:"primaryReplicas,omitempty"`

	// How many secondary servers there are. Also accepted as
	// `secondary.replicas`. Default 0.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +nullable
	// +optional
	SecondaryReplicas *int32 `json:"secondaryReplicas,omitempty"`

	// What is particular to the primary servers.
	//
	// +nullable
	// +optional
	Primary *RoleConfig `json:"primary,omitempty"`

	// What is particular to the secondary servers.
	//
	// +nullable
	// +optional
	Secondary *RoleConfig `json:"secondary,omitempty"`

	// Where the image of BIND comes from.
	//
	// +nullable
	// +optional
	Image *ImageConfig `json:"image,omitempty"`

	// ConfigMaps that take the place of generated configuration.
	//
	// +nullable
	// +optional
	ConfigMapRefs *ConfigMapRefs `json:"configMapRefs,omitempty"`

	// The configuration of every server.
	//
	// +nullable
	// +optional
	Global *Bind9Config `json:"global,omitempty"`

	// Accepted but not used, as in the existing Bindy; the servers say so, reason
	// NotUsed. Name the Secret of a key in primary.rndcKey, secondary.rndcKey, or in
	// the rndcKey of an instance.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +nullable
	// +optional
	RNDCSecretRefs []RNDCSecretRef `json:"rndcSecretRefs,omitempty"`

	// Named lists of addresses and networks, which allowQuery and allowTransfer may
	// name. These have at most 1,024 entries together, with the entries of the named
	// lists in place of their names.
	//
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule=`self.all(name, name.matches('^[A-Za-z][A-Za-z0-9_-]{0,62}$') && !(name in ['any', 'none', 'localhost', 'localnets', 'key']))`,message="the names of lists begin with a letter and have at most 63 letters, digits, hyphens and underscores; any, none, localhost, localnets and key are taken"
	// +nullable
	// +optional
	ACLs map[string]ACL `json:"acls,omitempty"`

	// Volumes of the pods: only emptyDir, configMap, secret and
	// persistentVolumeClaim, and the objects' names begin with `bindy-`.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +nullable
	// +optional
	Volumes []Fragment `json:"volumes,omitempty"`

	// Where the volumes are mounted in the container of BIND: below /data/ or
	// /var/log/bind/.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +nullable
	// +optional
	VolumeMounts []Fragment `json:"volumeMounts,omitempty"`
}

// RoleConfig is what is particular to the servers of one role.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.rndcSecretRef) || dyn(self.rndcSecretRef) == null || !has(self.rndcKey) || dyn(self.rndcKey) == null || !has(self.rndcKey.secretRef) || dyn(self.rndcKey.secretRef) == null || (self.rndcSecretRef.name == self.rndcKey.secretRef.name && self.rndcSecretRef.algorithm == self.rndcKey.secretRef.algorithm && self.rndcSecretRef.keyNameKey == self.rndcKey.secretRef.keyNameKey && self.rndcSecretRef.secretKey == self.rndcKey.secretRef.secretKey)`,message="rndcSecretRef and rndcKey.secretRef are two forms of one field and differ; remove one of them"
type RoleConfig struct {
	// How many servers of this role there are; another form of primaryReplicas
	// and secondaryReplicas.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +nullable
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Labels that the role's Bind9Instances get too, for DNSZones to select them by.
	//
	// +kubebuilder:validation:MaxProperties=64
	// +nullable
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// What the Services of this role have beyond what is generated.
	//
	// +nullable
	// +optional
	Service *ServiceConfig `json:"service,omitempty"`

	// Who may copy zones besides the cluster's own servers; in place of the
	// global list.
	//
	// +nullable
	// +optional
	AllowTransfer ACL `json:"allowTransfer,omitempty"`

	// An older form of rndcKey.secretRef.
	//
	// +nullable
	// +optional
	RNDCSecretRef *RNDCSecretRef `json:"rndcSecretRef,omitempty"`

	// The key of the servers, and how it is replaced.
	//
	// +nullable
	// +optional
	RNDCKey *RNDCKeyConfig `json:"rndcKey,omitempty"`
}

// ServiceConfig is laid over the generated Service.
type ServiceConfig struct {
	// Annotations of the Service.
	//
	// +kubebuilder:validation:MaxProperties=64
	// +nullable
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Fields of a Service's spec. They are merged over the generated ones, ports
	// by their names and numbers; the selector stays.
	//
	// +optional
	Spec *Fragment `json:"spec,omitempty"`
}

// ImageConfig says where an image comes from.
type ImageConfig struct {
	// The image with its tag or digest. Default: the operator's own setting with
	// the version as its tag.
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

	// Names of Secrets in the pod's namespace.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +nullable
	// +optional
	ImagePullSecrets []string `json:"imagePullSecrets,omitempty"`
}

// ConfigMapRefs names ConfigMaps in the pod's namespace.
type ConfigMapRefs struct {
	// Its `named.conf` is BIND's main file.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	// +nullable
	// +optional
	NamedConf string `json:"namedConf,omitempty"`

	// Its `named.conf.options` takes the place of the generated options.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	// +nullable
	// +optional
	NamedConfOptions string `json:"namedConfOptions,omitempty"`

	// Its `named.conf.zones` is included as well.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	// +nullable
	// +optional
	NamedConfZones string `json:"namedConfZones,omitempty"`
}
