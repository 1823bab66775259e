package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DNSEndpoint asks for record sets.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=dnsendpoints,singular=dnsendpoint,shortName=dnsep
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=https://github.com/kubernetes-sigs/external-dns/pull/2007"
type DNSEndpoint struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DNSEndpointSpec   `json:"spec,omitempty"`
	Status DNSEndpointStatus `json:"status,omitzero"`
}

// DNSEndpointList is a list of DNSEndpoints.
//
// +kubebuilder:object:root=true
type DNSEndpointList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DNSEndpoint `json:"items"`
}

// DNSEndpointSpec says which record sets.
type DNSEndpointSpec struct {
	Endpoints []Endpoint `json:"endpoints,omitempty"`
}

// Endpoint is one record set.
type Endpoint struct {
	// DNSName is the name of the set; a final dot may be missing.
	DNSName string `json:"dnsName,omitempty"`
	// Targets are the data of the records: addresses, names (whose final dot may be missing), or what the type has.
	Targets []string `json:"targets,omitempty"`
	// RecordType is the type of the records.
	RecordType string `json:"recordType,omitempty"`
	// RecordTTL is in seconds; 0: that of the zone.
	RecordTTL int64 `json:"recordTTL,omitempty"`
	// SetIdentifier tells several sets of one name and type from each other, at providers that have such.
	SetIdentifier string `json:"setIdentifier,omitempty"`
	// ProviderSpecific are settings of one provider.
	ProviderSpecific []ProviderSpecificProperty `json:"providerSpecific,omitempty"`
	// Labels are external-dns' own notes about the set.
	Labels map[string]string `json:"labels,omitempty"`
}

// ProviderSpecificProperty is a setting of one provider.
type ProviderSpecificProperty struct {
	Name  string `json:"name,omitempty"`
	Value string `json:"value,omitempty"`
}

// DNSEndpointStatus is written by external-dns alone.
type DNSEndpointStatus struct {
	// ObservedGeneration is the generation that external-dns has seen last.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}
