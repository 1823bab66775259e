package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterBind9Provider makes a Bind9Cluster of its own name in each of its
// namespaces.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cb9p;cb9ps
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
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
type ClusterBind9ProviderSpec struct {
	// The namespaces that get a Bind9Cluster. One that leaves the list loses it.
	// Default: the operator's `--bindy-namespace`, which is dns-system.
	//
	// +listType=atomic
	// +nullable
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`

	// Another form of namespaces, for one.
	//
	// +nullable
	// +optional
	Namespace string `json:"namespace,omitempty"`

	CommonSpec `json:",inline"`
}

// ClusterBind9ProviderStatus is what the operator says about a provider.
type ClusterBind9ProviderStatus struct {
	// The metadata.generation of the provider that this status tells of.
	//
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
	// +optional
	InstanceCount int32 `json:"instanceCount,omitempty"`

	// How many of them are ready.
	//
	// +optional
	ReadyInstances int32 `json:"readyInstances,omitempty"`

	// Their names, as `namespace/name`.
	//
	// +listType=atomic
	// +optional
	Instances []string `json:"instances,omitempty"`
}
