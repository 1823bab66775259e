// Package v1alpha1 holds the part of extensions.gardener.cloud that zonefold works with: DNSRecord, by which Gardener
// asks an extension for one record set. It is our own type, of the fields of Gardener's: objects of Gardener apply
// unchanged, and its own CustomResourceDefinition serves as well as ours.
//
// +kubebuilder:object:generate=true
// +groupName=extensions.gardener.cloud
package v1alpha1
