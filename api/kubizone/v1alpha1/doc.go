// Package v1alpha1 holds the kubi.zone API: Zone and Record, as the two
// Kubizone documents specify them.
//
// What is decided here is the shape of the objects and how they are read.
// Reading is tolerant: whatever an older schema let into the cluster decodes,
// because one object that does not would fail the list and the watch of all.
// What is wrong with a value is said later, by the admission and by the
// conditions of the object.
//
// +kubebuilder:object:generate=true
// +groupName=kubi.zone
package v1alpha1
