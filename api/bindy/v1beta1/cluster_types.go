package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Bind9Cluster makes Bind9Instances: `<name>-primary-0` and so on, and
// `<name>-secondary-0` and so on.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=b9c;b9cs
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name="Primary",type=integer,JSONPath=`.status.primaryReplicas`
// +kubebuilder:printcolumn:name="Secondary",type=integer,JSONPath=`.status.secondaryReplicas`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$')`,optionalOldSelf=true,message="the name becomes part of the names of Services: it has at most 50 lower-case letters, digits and hyphens, begins with a letter and does not end with a hyphen"
type Bind9Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the cluster is.
	//
	// +optional
	Spec Bind9ClusterSpec `json:"spec,omitzero"`

	// What the operator found. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status Bind9ClusterStatus `json:"status,omitzero"`
}

// Bind9ClusterList is a list of Bind9Clusters.
//
// +kubebuilder:object:root=true
type Bind9ClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Bind9Cluster `json:"items"`
}

// Bind9ClusterSpec is what a user says about a cluster.
type Bind9ClusterSpec struct {
	CommonSpec `json:",inline"`
}

// Bind9ClusterStatus is what the operator says about a cluster.
type Bind9ClusterStatus struct {
	// The metadata.generation of the cluster that this status describes.
	//
	// +nullable
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready: every instance is.
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// How many Bind9Instances the cluster has.
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

	// The names of the Bind9Instances.
	//
	// +listType=atomic
	// +nullable
	// +optional
	Instances []string `json:"instances,omitempty"`
}
