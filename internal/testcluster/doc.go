// Package testcluster builds and runs a real Kubernetes control plane on loopback: etcd, kube-apiserver,
// kube-controller-manager and kubectl. Tests, the demo and the benchmark share it; the product never imports it.
//
// The components are compiled once from the pinned modules in hack/cluster/k8s and hack/cluster/etcd and kept in the
// user's cache folder by version. A cluster keeps its data in memory where the machine has a large enough tmpfs, takes free
// ports, trusts only certificates that it made for itself, and is ended by process id.
//
// The package uses the standard library alone, so that starting a cluster never waits for a compile of client-go.
package testcluster
