//go:build unix && !linux

package testcluster

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// dieWithParent does nothing: only Linux has a parent-death signal. A killed test leaves its cluster behind here.
func dieWithParent(*syscall.SysProcAttr) {}

// processStart is the start time of a process as ps tells it.
func processStart(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", err
	}
	if started := strings.TrimSpace(string(out)); started != "" {
		return started, nil
	}
	return "", errors.New("the process has ended")
}

func baseFolder() string { return os.TempDir() }

const (
	nodesRunHere   = false
	containerdName = "containerd"
)

func ownNamespaces(*syscall.SysProcAttr) {}

func (c *Cluster) makeNode(context.Context, Options) error {
	return errors.New(
		"a node needs the namespaces and cgroups of Linux; on this system, use a Linux machine or a virtual one")
}

func (c *Cluster) runNode(context.Context, Options) error { return nil }

// RestartKubelet ends kubelet and starts it again, where there is one.
func (c *Cluster) RestartKubelet(context.Context) error { return errors.New("there is no kubelet") }

func (n *Node) stop(*Cluster) error { return nil }

func (n *Node) cgroup() string { return "" }
