package testcluster

import (
	"fmt"
	"os"
)

type object = map[string]any

// initScript makes the node's namespaces what containerd and kubelet expect, out of the machine's sight, and stays as
// their first process. Its argument is the node's folder; the next one is pause.
//
// Where version 1 of cgroups is mounted with an empty version 2 beside it, programs take it for version 2.
const initScript = `set -e
mount --make-rprivate /
if test -e /sys/fs/cgroup/unified/cgroup.procs; then umount /sys/fs/cgroup/unified; fi
mount -t proc proc /proc
mount -t tmpfs -o mode=755 run /run
mount --bind "$1/lib" /var/lib
mount --bind "$1/log" /var/log
echo 1 >/proc/sys/net/ipv4/ip_forward
touch "$1/ready"
exec "$2"
`

// containerdConfig asks for no privilege that the machine may lack, and leaves the machine's AppArmor and its /opt
// alone. Debian's runc 1.1 does not work on every kernel on which crun does.
const containerdConfig = `version = 2
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  restrict_oom_score_adj = true
  disable_apparmor = true
  disable_tcp_service = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %q
    conf_dir = %q
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "crun"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun.options]
        BinaryName = "crun"
`

// configure writes what containerd, kubelet and kube-proxy read.
func (n *Node) configure(c *Cluster, plugins string) error {
	text := fmt.Sprintf(containerdConfig, pauseImage, plugins, n.file("cni"))
	if err := os.WriteFile(n.file("containerd.toml"), []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing containerd's configuration: %w", err)
	}
	if err := os.MkdirAll(n.file("cni"), 0o755); err != nil {
		return fmt.Errorf("making the folder of the network's configuration: %w", err)
	}
	for file, value := range map[string]object{
		"cni/10-zonefold.conflist": n.networkConfig(), "kubelet.json": n.kubeletConfig(c),
		"kube-proxy.json": n.kubeProxyConfig(c),
	} {
		if err := writeJSON(n.file(file), value); err != nil {
			return fmt.Errorf("configuring the node: %w", err)
		}
	}
	return nil
}

// networkConfig joins each pod to the node by a link of its own, so that what a pod sends to a Service is routed even
// when another pod of the node answers; on a bridge that would need a kernel module.
func (n *Node) networkConfig() object {
	return object{"cniVersion": "0.4.0", "name": "zonefold", "plugins": []object{{
		"type": "ptp", "ipMasq": false,
		"ipam": object{
			"type": "host-local", "ranges": [][]object{{{"subnet": n.net.pods().String()}}},
			"routes": []object{{"dst": "0.0.0.0/0"}},
		},
	}}}
}

// kubeletConfig has kubelet refresh Secret and ConfigMap volumes within seconds, and never clean up images, which
// nothing could bring back.
func (n *Node) kubeletConfig(c *Cluster) object {
	never := object{}
	for _, signal := range []string{"memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available",
		"imagefs.inodesFree"} {
		never[signal] = "0%"
	}
	return object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"address": n.net.node().String(), "healthzBindAddress": "127.0.0.1",
		"authentication":           object{"x509": object{"clientCAFile": c.file("ca.crt")}},
		"containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
		"cgroupDriver":             "cgroupfs", "failCgroupV1": false, "cgroupRoot": "/" + n.cgroup(),
		"enforceNodeAllocatable": []string{},
		"failSwapOn":             false, "resolvConf": "", "syncFrequency": "5s",
		"volumePluginDir": "/var/lib/kubelet/volumeplugins",
		"evictionHard":    never, "imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
		"serializeImagePulls": false, "makeIPTablesUtilChains": false,
		"kubeAPIQPS": 500, "kubeAPIBurst": 1000, // many pods at once report their readiness through one client
	}
}

// kubeProxyConfig leaves the limits of connection tracking alone: a network namespace may not set them.
func (n *Node) kubeProxyConfig(c *Cluster) object {
	return object{
		"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
		"mode": "nftables", "clusterCIDR": n.net.pods().String(), "hostnameOverride": nodeName,
		"clientConnection":   object{"kubeconfig": c.file("kube-proxy.kubeconfig")},
		"conntrack":          object{"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
		"metricsBindAddress": "127.0.0.1:10249", "healthzBindAddress": "127.0.0.1:10256",
	}
}
