// Package v1alpha1 holds the part of externaldns.k8s.io that zonefold reads: DNSEndpoint, with which people and
// programs ask external-dns for record sets. It is our own type, of the fields of external-dns': its own
// CustomResourceDefinition serves as well as ours.
//
// +kubebuilder:object:generate=true
// +groupName=externaldns.k8s.io
package v1alpha1
