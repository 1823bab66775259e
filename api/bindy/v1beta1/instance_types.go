package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Bind9Instance is one BIND server: a Deployment, a Service, a ServiceAccount, a
// Secret with its key, and a ConfigMap where it is no part of a cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=b9;b9s
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterRef`
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.spec.role`
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Zones",type=integer,JSONPath=`.status.zonesCount`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')`,optionalOldSelf=true,message="the name is also that of a Service: it has at most 63 lower-case letters, digits and hyphens, begins with a letter and does not end with a hyphen"
type Bind9Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the server is.
	Spec Bind9InstanceSpec `json:"spec"`

	// What the operator found. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status Bind9InstanceStatus `json:"status,omitzero"`
}

// Bind9InstanceList is a list of Bind9Instances.
//
// +kubebuilder:object:root=true
type Bind9InstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Bind9Instance `json:"items"`
}

// Bind9InstanceSpec is what a user or a cluster says about a server.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.rndcSecretRef) || dyn(self.rndcSecretRef) == null || !has(self.rndcKey) || dyn(self.rndcKey) == null || !has(self.rndcKey.secretRef) || dyn(self.rndcKey.secretRef) == null || (self.rndcSecretRef.name == self.rndcKey.secretRef.name && self.rndcSecretRef.algorithm == self.rndcKey.secretRef.algorithm && self.rndcSecretRef.keyNameKey == self.rndcKey.secretRef.keyNameKey && self.rndcSecretRef.secretKey == self.rndcKey.secretRef.secretKey)`,message="rndcSecretRef and rndcKey.secretRef are two forms of one field and differ; remove one of them"
// +kubebuilder:validation:XValidation:rule=`!has(self.storage) || dyn(self.storage) == null || !has(self.storage.storageType) || dyn(self.storage.storageType) == null || self.storage.storageType != 'persistentVolumeClaim' || !has(self.replicas) || dyn(self.replicas) == null || self.replicas <= 1`,message="a persistentVolumeClaim holds the zones of one pod; set replicas to 1 or 0, or make several instances"
type Bind9InstanceSpec struct {
	// The Bind9Cluster of this namespace that the server is part of, else the
	// ClusterBind9Provider. Empty: it is part of none.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	// +nullable
	// +optional
	ClusterRef string `json:"clusterRef,omitempty"`

	// Primary or Secondary.
	Role Role `json:"role"`

	// How many pods the server has. They hold the same zones, each for itself.
	// Default 1.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=1
	// +nullable
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// The version of BIND. Default: the cluster's, else `9.18`.
	//
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9_][A-Za-z0-9_.-]*)?$`
	// +nullable
	// +optional
	Version string `json:"version,omitempty"`

	// Where the image of BIND comes from. Default: the cluster's.
	//
	// +nullable
	// +optional
	Image *ImageConfig `json:"image,omitempty"`

	// ConfigMaps that take the place of generated configuration.
	//
	// +nullable
	// +optional
	ConfigMapRefs *ConfigMapRefs `json:"configMapRefs,omitempty"`

	// The configuration of this server; it takes precedence over the cluster's.
	//
	// +nullable
	// +optional
	Config *Bind9Config `json:"config,omitempty"`

	// Accepted but not used, as in the existing Bindy; the server says so, reason
	// NotUsed. A secondary gets a zone from the zone's primaries in its own cluster,
	// or from all of them if there are none.
	//
	// +nullable
	// +optional
	PrimaryServers Addresses `json:"primaryServers,omitempty"`

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

	// An older form of rndcKey.secretRef.
	//
	// +nullable
	// +optional
	RNDCSecretRef *RNDCSecretRef `json:"rndcSecretRef,omitempty"`

	// The key of the server, and how it is replaced.
	//
	// +nullable
	// +optional
	RNDCKey *RNDCKeyConfig `json:"rndcKey,omitempty"`

	// What holds the server's zones. Default: an emptyDir volume.
	//
	// +nullable
	// +optional
	Storage *StorageConfig `json:"storage,omitempty"`

	// The sidecar.
	//
	// +nullable
	// +optional
	BindcarConfig *BindcarConfig `json:"bindcarConfig,omitempty"`
}

// Bind9InstanceStatus is what the operator says about a server.
type Bind9InstanceStatus struct {
	// The metadata.generation of the instance that this status describes.
	//
	// +nullable
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready: every pod runs the configuration that the spec asks for, and has its zones.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// The generation of the cluster or provider whose settings the server has.
	//
	// +nullable
	// +optional
	ObservedParentGeneration int64 `json:"observedParentGeneration,omitempty"`

	// The address of the Service.
	//
	// +nullable
	// +optional
	ServiceAddress string `json:"serviceAddress,omitempty"`

	// Where the server is reached. DNSZones choose by the type which of these
	// addresses their name servers get.
	//
	// +listType=atomic
	// +nullable
	// +optional
	Addresses []ServerAddress `json:"addresses,omitempty"`

	// The cluster or provider that clusterRef was found to name.
	//
	// +nullable
	// +optional
	ClusterRef *ParentReference `json:"clusterRef,omitempty"`

	// The zones that the server has, or may have: of DNSZones that select it, and of
	// Zones that a Backend puts on its cluster.
	//
	// +listType=atomic
	// +nullable
	// +optional
	Zones []InstanceZone `json:"zones,omitempty"`

	// How many zones are listed.
	//
	// +nullable
	// +optional
	ZonesCount int32 `json:"zonesCount,omitempty"`

	// How old the key is and when it is replaced, if it is replaced automatically.
	//
	// +nullable
	// +optional
	RNDCKeyRotation *RNDCKeyRotation `json:"rndcKeyRotation,omitempty"`
}

// ServerAddress is an address at which a server is reached.
type ServerAddress struct {
	// ClusterIP: that of the Service. LoadBalancer: an external one of the Service.
	// Node: that of a node that a ready pod runs on.
	Type AddressType `json:"type"`
	// The IP address.
	Address string `json:"address"`
}

// ParentReference names the object that a server is part of.
type ParentReference struct {
	// The API version, bindy.firestoned.io/v1beta1.
	APIVersion string `json:"apiVersion"`
	// Bind9Cluster or ClusterBind9Provider.
	Kind string `json:"kind"`
	// Its name.
	Name string `json:"name"`
	// Its namespace, where it has one.
	//
	// +nullable
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// InstanceZone names a zone on a server.
type InstanceZone struct {
	ZoneReference `json:",inline"`
	// The UID of the object. An earlier object of the same name is listed beside it until the servers have lost its
	// zone.
	//
	// +optional
	UID types.UID `json:"uid,omitempty"`
}

// ZoneReference names a DNSZone.
type ZoneReference struct {
	// The API version, bindy.firestoned.io/v1beta1.
	APIVersion string `json:"apiVersion"`
	// DNSZone.
	Kind string `json:"kind"`
	// The name of the object.
	Name string `json:"name"`
	// Its namespace.
	Namespace string `json:"namespace"`
	// The name of the zone.
	ZoneName string `json:"zoneName"`
	// Written by the existing Bindy.
	//
	// +nullable
	// +optional
	LastReconciledAt string `json:"lastReconciledAt,omitempty"`
}

// RNDCKeyRotation is the age of a key. Times are as in RFC 3339.
type RNDCKeyRotation struct {
	// When the key in use was created.
	CreatedAt string `json:"createdAt"`
	// When the key in use will be replaced.
	//
	// +nullable
	// +optional
	RotateAt string `json:"rotateAt,omitempty"`
	// When the key before the one in use was replaced.
	//
	// +nullable
	// +optional
	LastRotatedAt string `json:"lastRotatedAt,omitempty"`
	// How often the key was replaced.
	//
	// +nullable
	// +optional
	RotationCount int32 `json:"rotationCount,omitempty"`
}
