// Package bindy carries out the dialect bindy.firestoned.io. It makes Bind9Clusters of ClusterBind9Providers,
// Bind9Instances of Bind9Clusters, and running name servers of Bind9Instances: each reconciler makes, watches and
// repairs its immediate children only. It delivers DNSZones and their records to these servers. It writes nothing while
// nothing has changed, and destroys nothing that runs because a spec cannot be understood.
package bindy
