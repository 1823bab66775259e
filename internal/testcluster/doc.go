// Package testcluster builds and runs a real Kubernetes control plane on loopback: etcd, kube-apiserver,
// kube-controller-manager and kubectl; and, where asked to, a real node. Tests, the demo and the benchmark share it;
// the product never imports it.
//
// The components are compiled once from the pinned modules in hack/cluster/k8s and hack/cluster/etcd and kept in the
// user's cache folder by version. A cluster keeps its data in memory where the machine has a large enough tmpfs, takes
// free ports, trusts only certificates that it made for itself, and is ended by process id.
//
// A node is containerd with crun, kubelet, kube-proxy and kube-scheduler, as root on Linux:
//
//	func TestMain(m *testing.M) {
//		os.Exit(testcluster.MainWith(m, testcluster.Options{Node: true, Images: []string{"operator.tar"}, CRDs: …}))
//	}
//
//	c := testcluster.ForTest(t)
//	err := c.Node().Import(ctx, "bind9.tar")       // archives in OCI's or Docker's format; no registry is ever asked
//	out, err := c.RunKubectl(ctx, "run", "ns1", "--image=zonefold/bind9:9.18")
//
// The host, so the test itself, reaches the addresses of pods and Services, those of Services through [Cluster.Service]
// alone; pods reach the host at c.Node().HostAddress(), and the API server as in every cluster. kubectl logs, exec and
// port-forward work. Secret and ConfigMap volumes are refreshed within seconds. There is no DNS in the cluster and no
// way out of it. The node has mounts, processes and a network of its own, which end with the program that started it,
// however that ends; two clusters of one machine do not meet. A control plane with a node listens at the node's end of
// the host instead of loopback.
//
// The package uses the standard library alone, so that starting a cluster never waits for a compile of client-go.
package testcluster
