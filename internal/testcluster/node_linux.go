package testcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"syscall"
)

const nodesRunHere = true

// nodeLock keeps nodes of this machine from being made and removed at the same time.
const nodeLock = "/run/zonefold-node.lock"

// ownNamespaces gives the child mounts, processes and a network of its own. When it ends, so does every process in
// them, and the kernel removes the rest.
func ownNamespaces(attr *syscall.SysProcAttr) {
	attr.Cloneflags |= syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET
}

// makeNode makes the node's namespaces and network, before the control plane: the API server listens at the host's end.
func (c *Cluster) makeNode(ctx context.Context, opts Options) error {
	if err := nodeNeeds(os.Geteuid()); err != nil {
		return err
	}
	n := &Node{dir: c.file("node"), net: nodeNet{index: -1}}
	for _, dir := range []string{n.file("lib"), n.file("log")} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("removing an earlier node: %w", err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making the node's folder: %w", err)
		}
	}
	unlock, err := lockNodes(ctx, c)
	if err != nil {
		return err
	}
	defer unlock()
	sweepCgroups()
	n.init, err = start(launch{
		name: nodeLog, dir: c.dir, detach: opts.Detach, namespaces: true,
		args: []string{"/bin/sh", "-c", initScript, "sh", n.dir, c.programs[pauseName]},
	})
	if err != nil {
		return err
	}
	c.node = n
	if err := c.save(); err != nil {
		return err
	}
	wait, cancel := context.WithTimeoutCause(ctx, readyWithin, errTooLong)
	defer cancel()
	if err := n.init.ready(wait, func(context.Context) error {
		_,
			err := os.Stat(n.file("ready"))
		return err
	}); err != nil {
		return err
	}
	if err := n.connect(ctx); err != nil {
		return fmt.Errorf("connecting the node: %w", err)
	}
	if err := makeCgroups(n.cgroup()); err != nil {
		return err
	}
	return c.save()
}

// runNode starts what makes a node of the namespaces and waits until pods can run there.
func (c *Cluster) runNode(ctx context.Context, opts Options) error {
	n := c.node
	plugins, err := networkPlugins()
	if err != nil {
		return err
	}
	if err := n.configure(c, plugins); err != nil {
		return err
	}
	inside := func(name string, args ...string) launch {
		program := c.programs[name]
		if program == "" {
			program = name
		}
		return launch{name: name, dir: c.dir, detach: opts.Detach, args: n.inside(program, args...)}
	}
	if err := c.run(launch{name: schedulerName, dir: c.dir, detach: opts.Detach, args: []string{
		c.programs[schedulerName], "--kubeconfig=" + c.file("scheduler.kubeconfig"), "--leader-elect=false",
		"--secure-port=0",
	}}); err != nil {
		return err
	}
	if err := c.run(inside(containerdName, "--config", n.file("containerd.toml"))); err != nil {
		return err
	}
	if err := c.awaitProcess(ctx, containerdName, func(ctx context.Context) error {
		_, err := n.ctr(ctx, "version")
		return err
	}); err != nil {
		return err
	}
	if err := writeImage(n.file("pause.tar"), pauseImage, c.programs[pauseName]); err != nil {
		return err
	}
	if err := n.Import(ctx, append([]string{n.file("pause.tar")}, opts.Images...)...); err != nil {
		return err
	}
	c.kubelet = urgent(inside(kubeletName, "--config", n.file("kubelet.json"),
		"--kubeconfig", c.file("kubelet.kubeconfig"), "--hostname-override", nodeName, "--node-ip", n.net.node().String()))
	if err := c.run(c.kubelet); err != nil {
		return err
	}
	if err := c.run(urgent(inside(kubeProxyName, "--config", n.file("kube-proxy.json")))); err != nil {
		return err
	}
	if err := c.awaitProcess(ctx, kubeletName, c.nodeReady); err != nil {
		return err
	}
	// Through the Service, the API server is reached only when kube-proxy has done its work.
	return c.awaitReady(ctx, kubeProxyName, "https://"+n.net.api().String()+"/readyz")
}

// urgent lets a component go before others on a busy machine. A pod that leaves serves for some seconds: by their end,
// kubelet has to know, and kube-proxy to lead nobody to it any more.
func urgent(l launch) launch {
	l.args = append([]string{"nice", "--adjustment=-10"}, l.args...)
	return l
}

// RestartKubelet ends kubelet with SIGKILL and starts it again. Pods run on meanwhile.
func (c *Cluster) RestartKubelet(ctx context.Context) error {
	p := c.process(kubeletName)
	if p == nil || c.kubelet.name == "" {
		return errors.New("kubelet does not run, or was started by another program, which alone can restart it")
	}
	pids, err := children(p.Pid) // nsenter stays outside as its parent
	if err != nil {
		return fmt.Errorf("finding kubelet: %w", err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("ending kubelet (process %d): %w", pid, err)
		}
	}
	ended, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	if err := until(ended, func() bool { return !p.alive() }); err != nil {
		return fmt.Errorf("waiting for the end of kubelet: %w", err)
	}
	c.running = slices.DeleteFunc(c.running, func(q *process) bool { return q == p })
	return c.run(c.kubelet)
}

// stop ends all that runs in the node's namespaces and removes what the kernel does not remove with them.
func (n *Node) stop(c *Cluster) error {
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	unlock, err := lockNodes(ctx, c)
	if err != nil {
		return err
	}
	defer unlock()
	if err := n.init.kill(ctx); err != nil {
		return err
	}
	if n.net.index < 0 { // it never got a network
		return nil
	}
	if err := until(ctx, func() bool { _, err := net.InterfaceByName(n.net.link()); return err != nil }); err != nil {
		return fmt.Errorf("waiting for the end of the interface %s: %w", n.net.link(), err)
	}
	var last error
	if err := until(ctx, func() bool { last = removeCgroups(n.cgroup()); return last == nil }); err != nil {
		return fmt.Errorf("removing the node's cgroups: %w", errors.Join(err, last))
	}
	return nil
}

func lockNodes(ctx context.Context, c *Cluster) (unlock func(), err error) {
	return waitForLock(ctx, nodeLock, func(path string) {
		fmt.Fprintf(c.log, "another node is being made or removed; waiting for it (%s)\n", path)
	})
}
