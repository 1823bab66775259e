// Package v1alpha1 holds zonefold's own API, zonefold.dev: Backend, a place
// that zones are delivered to, ZoneSlice, a part of the content of a zone that
// is too large for the status of its Zone, and ZoneRevision, a part of the
// history of a Zone.
//
// +kubebuilder:object:generate=true
// +groupName=zonefold.dev
package v1alpha1
