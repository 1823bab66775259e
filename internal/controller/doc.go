// Package controller is the shell that all dialects share: the Core, which keeps the
// World up to date (core.go), the Deliveries, which have the zones sent to the
// Backends that they belong to (delivery.go, sync.go, zonefeed.go; what came of it: report.go, outcome.go), the Writer,
// which writes to the API server when there is time for it (writer.go), and the words of conditions (conditions.go). It
// decides nothing about DNS and knows no dialect.
package controller

// The lease of the leader.
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=zonefold-system,resources=leases,verbs=get;create;update;patch
