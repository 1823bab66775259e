// Package v1beta1 holds the bindy.firestoned.io API: a fleet of BIND 9 servers
// (ClusterBind9Provider, Bind9Cluster, Bind9Instance), the zones on it (DNSZone)
// and nine kinds of records: those that the Bindy document specifies, and
// PTRRecord. What the existing Bindy calls differently is accepted as well; the
// accessors resolve these aliases, and say where two of them contradict each other.
//
// Parts of Pods and Services are Fragments: kept as they are written and checked
// where they are used, so that the definitions stay small.
//
// +kubebuilder:object:generate=true
// +groupName=bindy.firestoned.io
package v1beta1
