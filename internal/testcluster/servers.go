package testcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const (
	etcdName              = "etcd"
	apiServerName         = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
	schedulerName         = "kube-scheduler"
	kubeletName           = "kubelet"
	kubeProxyName         = "kube-proxy"
	kubectlName           = "kubectl"
)

// startServers starts etcd and kube-apiserver on newly chosen ports and waits until both are ready.
func (c *Cluster) startServers(ctx context.Context, opts Options) error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	etcd, peer := "https://127.0.0.1:"+ports[0], "https://127.0.0.1:"+ports[1]
	c.server = "https://" + net.JoinHostPort(c.host(), ports[2])
	if err := c.run(c.etcdFlags(etcd, peer, opts)); err != nil {
		return err
	}
	if err := c.awaitReady(ctx, etcdName, etcd+"/health"); err != nil {
		return err
	}
	c.api = c.apiServerFlags(etcd, ports[2], opts)
	if err := c.run(c.api); err != nil {
		return err
	}
	return c.awaitReady(ctx, apiServerName, c.server+"/readyz")
}

func (c *Cluster) etcdFlags(client, peer string, opts Options) launch {
	crt, key, ca := c.file("server.crt"), c.file("server.key"), c.file("ca.crt")
	args := []string{
		c.programs[etcdName], "--name=zonefold", "--data-dir=" + c.file("etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=zonefold=" + peer,
		"--cert-file=" + crt, "--key-file=" + key, "--trusted-ca-file=" + ca, "--client-cert-auth",
		"--peer-cert-file=" + crt, "--peer-key-file=" + key, "--peer-trusted-ca-file=" + ca, "--peer-client-cert-auth",
		"--quota-backend-bytes=" + strconv.Itoa(8<<30), // the default of 2 GiB ends within a benchmark of 100,000 records
		"--logger=zap", "--log-level=warn",
		"--unsafe-no-fsync", // nothing here outlives the machine
	}
	return launch{name: etcdName, dir: c.dir, detach: opts.Detach, keep: c.lock, args: args}
}

func (c *Cluster) apiServerFlags(etcd, port string, opts Options) launch {
	args := []string{
		c.programs[apiServerName], "--etcd-servers=" + etcd,
		"--etcd-cafile=" + c.file("ca.crt"), "--etcd-certfile=" + c.file("server.crt"), "--etcd-keyfile=" + c.file(
			"server.key"),
		"--bind-address=" + c.host(), "--secure-port=" + port, "--advertise-address=" + c.host(),
		"--cert-dir=" + c.file("apiserver"), "--client-ca-file=" + c.file("ca.crt"),
		"--tls-cert-file=" + c.file("server.crt"), "--tls-private-key-file=" + c.file("server.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.file("service-account.key"), "--service-account-signing-key-file=" + c.file(
			"service-account.key"),
		"--authorization-mode=Node,RBAC", "--allow-privileged",
		"--requestheader-client-ca-file=" + c.file("front-proxy-ca.crt"), "--requestheader-allowed-names=" + frontProxyUser,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + c.file("front-proxy.crt"), "--proxy-client-key-file=" + c.file("front-proxy.key"),
		// a benchmark measures us, not the queue in front of it
		"--max-requests-inflight=3000", "--max-mutating-requests-inflight=1500",
	}
	if c.node != nil {
		// kubectl exec and logs go to kubelet
		args = append(args, "--service-cluster-ip-range="+c.node.net.services().String(),
			"--kubelet-client-certificate="+c.file("admin.crt"), "--kubelet-client-key="+c.file("admin.key"),
			"--kubelet-preferred-address-types=InternalIP")
	} else {
		args = append(args, "--service-cluster-ip-range=10.96.0.0/16",
			"--endpoint-reconciler-type=none") // it refuses to publish a loopback address and says so every ten seconds
	}
	if !opts.ControllerManager {
		// nobody makes the default ServiceAccounts that it asks for
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	return launch{name: apiServerName, dir: c.dir, detach: opts.Detach, args: append(args, opts.APIServerFlags...)}
}

func (c *Cluster) controllerManagerFlags(opts Options) launch {
	grace := cmp.Or(opts.NodeGrace, 10*time.Minute)
	return launch{name: controllerManagerName, dir: c.dir, detach: opts.Detach, args: []string{
		c.programs[controllerManagerName], "--kubeconfig=" + c.file("controller-manager.kubeconfig"),
		"--secure-port=0", "--leader-elect=false", "--use-service-account-credentials",
		"--service-account-private-key-file=" + c.file("service-account.key"), "--root-ca-file=" + c.file("ca.crt"),
		"--cluster-signing-cert-file=" + c.file("ca.crt"), "--cluster-signing-key-file=" + c.file("ca.key"),
		"--flex-volume-plugin-dir=" + c.file("flexvolume"), // it makes this folder, by default below /usr
		"--kube-api-qps=500", "--kube-api-burst=1000",
		// it tries again and again to write down loopback addresses of pods, which Endpoints may not have
		"--controllers=*,-endpoints-controller",
		"--node-monitor-grace-period=" + grace.String(), "--node-monitor-period=" + min(grace/5, 5*time.Second).String(),
	}}
}

// controllerManagerReady waits for the first thing that people miss when it does not work: the default ServiceAccount.
func (c *Cluster) controllerManagerReady(ctx context.Context) error {
	return c.awaitReady(ctx, controllerManagerName, c.server+"/api/v1/namespaces/default/serviceaccounts/default")
}

// awaitReady waits until a component runs and a page of it, or one that it causes, answers 200.
func (c *Cluster) awaitReady(ctx context.Context, name, url string) error {
	return c.awaitProcess(ctx, name, func(ctx context.Context) error { return c.ask(ctx, http.MethodGet, url, nil, nil) })
}

// awaitProcess waits until a component runs and a check of it succeeds.
func (c *Cluster) awaitProcess(ctx context.Context, name string, check func(context.Context) error) error {
	p := c.process(name)
	if p == nil {
		return fmt.Errorf("%s was not started", name)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyWithin, errTooLong)
	defer cancel()
	return p.ready(ctx, check)
}

// host is the address that the API server listens at: loopback, or where a node reaches the host.
func (c *Cluster) host() string {
	if c.node == nil {
		return "127.0.0.1"
	}
	return c.node.net.host().String()
}

// KillAPIServer ends kube-apiserver with SIGKILL and leaves everything else running.
func (c *Cluster) KillAPIServer(ctx context.Context) error {
	p := c.process(apiServerName)
	if p == nil {
		return errors.New("kube-apiserver does not run")
	}
	if err := p.kill(ctx); err != nil {
		return err
	}
	c.running = slices.DeleteFunc(c.running, func(q *process) bool { return q == p })
	return c.save()
}

// StartAPIServer starts kube-apiserver again, at the same address and with the same flags, after
// [Cluster.KillAPIServer].
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	if c.api.name == "" {
		return errors.New("the API server was started by another program, which alone can restart it")
	}
	if c.process(apiServerName) != nil {
		return errors.New("kube-apiserver runs already")
	}
	for attempt := 1; ; attempt++ {
		if err := c.run(c.api); err != nil {
			return err
		}
		err := c.awaitReady(ctx, apiServerName, c.server+"/readyz")
		if !portTaken(err) || attempt == startAttempts { // a client's own port may be in the way for a moment
			return err
		}
		if err := c.KillAPIServer(ctx); err != nil {
			return err
		}
	}
}

// RestartAPIServer ends kube-apiserver with SIGKILL, starts it at the same address and waits until it is ready.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	if err := c.KillAPIServer(ctx); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }

// freePorts asks the kernel for ports that are free now. They are all open at once, so that no two are the same.
func freePorts(n int) ([]string, error) {
	var ports []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port on loopback: %w", err)
		}
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, fmt.Errorf("looking for a free port on loopback: %w", err)
		}
		ports = append(ports, port)
	}
	return ports, nil
}
