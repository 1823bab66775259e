// Package controller is what all dialects share of the way to the API server: the Writer, which writes when there is
// time for it (writer.go), the words of conditions (conditions.go), ceilings (ceilings.go), metrics, and what is waited
// for and watched. Below it, core keeps the World up to date, and delivery has its zones sent to servers. It knows no
// dialect.
package controller

// The lease of the leader.
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=zonefold-system,resources=leases,verbs=get;create;update;patch
