// Package bindy is the infrastructure half of the dialect bindy.firestoned.io: it makes Bind9Clusters of
// ClusterBind9Providers, Bind9Instances of Bind9Clusters, and running name servers of Bind9Instances. Each reconciler
// makes, watches and repairs its immediate children only. Nothing is written while nothing has changed, and nothing
// that runs is destroyed because a spec cannot be understood.
package bindy
