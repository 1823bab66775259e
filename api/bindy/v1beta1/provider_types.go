package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterBind9Provider makes a Bind9Cluster of its own name in each of its
// namespaces.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cb9p;cb9ps
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name="Primary",type=integer,JSONPath=`.status.primaryReplicas`
// +kubebuilder:printcolumn:name="Secondary",type=integer,JSONPath=`.status.secondaryReplicas`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$')`,optionalOldSelf=true,message="the name becomes part of the names of Services: it has at most 50 lower-case letters, digits and hyphens, begins with a letter and does not end with a hyphen"
type ClusterBind9Provider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Where clusters are made, and what they are.
	//
	// +optional
	Spec ClusterBind9ProviderSpec `json:"spec,omitzero"`

	// What the operator found. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status ClusterBind9ProviderStatus `json:"status,omitzero"`
}

// ClusterBind9ProviderList is a list of ClusterBind9Providers.
//
// +kubebuilder:object:root=true
type ClusterBind9ProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterBind9Provider `json:"items"`
}

// ClusterBind9ProviderSpec is what a user says about a provider.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.namespace) || dyn(self.namespace) == null || size(self.namespace) == 0 || !has(self.namespaces) || dyn(self.namespaces) == null || self.namespaces.all(n, n == self.namespace)`,message="namespace and namespaces are two forms of one field and differ; remove one of them"
type ClusterBind9ProviderSpec struct {
	// The namespaces that get a Bind9Cluster. One that leaves the list loses it.
	// Default: the operator's `--bindy-namespace`, which is dns-system.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +nullable
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`

	// Another form of namespaces, for one.
	//
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +nullable
	// +optional
	Namespace string `json:"namespace,omitempty"`

	CommonSpec `json:",inline"`
}

// ClusterBind9ProviderStatus is what the operator says about a provider.
type ClusterBind9ProviderStatus struct {
	// The metadata.generation of the provider that this status describes.
	//
	// +nullable
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready: every cluster in every namespace is.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// How many Bind9Instances the provider's clusters have.
	//
	// +nullable
	// +optional
	InstanceCount int32 `json:"instanceCount,omitempty"`

	// How many of the Bind9Instances are ready.
	//
	// +nullable
	// +optional
	ReadyInstances int32 `json:"readyInstances,omitempty"`

	// How many primary servers the spec asks for, in whichever form.
	//
	// +nullable
	// +optional
	PrimaryReplicas *int32 `json:"primaryReplicas,omitempty"`

	// How many secondary servers the spec asks for, in whichever form.
	//
	// +nullable
	// +optional
	SecondaryReplicas *int32 `json:"secondaryReplicas,omitempty"`

	// The Bind9Instances, as `namespace/name`.
	//
	// +listType=atomic
	// +nullable
	// +optional
	Instances []string `json:"instances,omitempty"`
}
