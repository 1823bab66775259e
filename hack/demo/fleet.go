package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testcluster/images"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	fleetExample = "examples/bindy"
	fleetSpace   = "dns" // the namespace of the example
)

// playFleet shows name servers that run in Pods.
func (s *stage) playFleet(ctx context.Context, exit bool) error {
	s.say("zonefold runs fleets of BIND name servers in Pods, and delivers zones to them. This demo takes a Kubernetes " +
		"cluster with a")
	s.say("real node, installs zonefold with its chart, and has it run and fill the servers of %s. It needs Linux and",
		fleetExample)
	s.say("root. Everything is removed at the end.")
	for _, act := range []func(context.Context) error{
		s.startNode, s.installChart, s.applyFleet, s.showFleet,
		s.applyZone, s.digServers, s.showConflict, s.changeFleet, s.killPrimary,
		s.scaleFleet, s.rollFleet,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	if exit {
		return nil
	}
	s.chapter("Yours", "All of it keeps running. In another terminal, set up kubectl with the two lines of part 1 and "+
		"try the commands above,",
		"or edit "+fleetExample+" and apply it again. Ctrl-C ends and removes everything.")
	<-ctx.Done()
	return nil
}

// startNode makes the images and starts a cluster whose Pods run.
func (s *stage) startNode(ctx context.Context) error {
	s.chapter("A Kubernetes cluster with a node", "A control plane, containerd, kubelet and kube-proxy in namespaces of "+
		"their own; images of the operator, of its sidecar and of BIND,",
		"made from this repository and this machine's Debian packages. The first time takes about fifteen minutes.")
	if _, err := os.Stat(fleetExample); err != nil {
		return fmt.Errorf("%w: run the demo in the repository's folder", err)
	}
	archives, err := images.Archives(ctx, lines{s})
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "zonefold-demo-"); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	if s.cluster, err = testcluster.Start(ctx, testcluster.Options{Log: lines{s}, Node: true,
		Images: archives}); err != nil {
		return err
	}
	s.sayHowToUse()
	return nil
}

// installChart installs zonefold as people do.
func (s *stage) installChart(ctx context.Context) error {
	s.chapter("zonefold", "The chart with the dialect bindy on. The images are those of part 1.")
	_, tag, _ := strings.Cut(images.Operator, ":")
	args := []string{"upgrade", "--install", "zonefold", "charts/zonefold", "-n", testoperator.Namespace,
		"--create-namespace",
		"--set", "dialects.bindy=true,image.tag=" + tag + ",bindy.bind9Image=" + images.BIND + ",bindy.bindcarImage=" +
			images.Bindcar}
	s.command(append([]string{"helm"}, args...)...)
	if _, err := testoperator.Helm(ctx, append(args, "--kubeconfig", s.cluster.Kubeconfig())...); err != nil {
		return fmt.Errorf("installing the chart: %w", err)
	}
	return s.kubectl(ctx, "rollout", "status", "-n", testoperator.Namespace, "deployment/zonefold-operator",
		"--timeout="+patience.String())
}

// handMade is a volume for the one server that asks for one: there is nothing in this cluster that makes any.
const handMade = `apiVersion: v1
kind: PersistentVolume
metadata:
  name: by-hand
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  hostPath: {path: %s}
`

// applyFleet applies the example and waits until every server is ready.
func (s *stage) applyFleet(ctx context.Context) error {
	s.chapter("Name servers", "A provider with two primaries and one secondary, a cluster of one's own, and a server "+
		"whose zones are on a volume: see "+fleetExample+".")
	volume := filepath.Join(s.dir, "volume")
	if err := errors.Join(os.Mkdir(volume, 0o755), os.Chown(volume, 101, 101), os.Chmod(s.dir, 0o755)); err != nil {
		// 101 is BIND's user in its image
		return fmt.Errorf("making a volume: %w", err)
	}
	if err := s.applyFile(ctx, "volume.yaml", fmt.Sprintf(handMade, volume)); err != nil {
		return err
	}
	for _, file := range []string{"00-namespace.yaml", "10-fleet.yaml"} {
		if err := s.kubectl(ctx, "apply", "-f", filepath.Join(fleetExample, file)); err != nil {
			return err
		}
	}
	s.say("Ready means: every Pod of every server is, with the configuration that is asked for.")
	return s.awaitFleet(ctx)
}

// awaitFleet waits until all servers are ready.
func (s *stage) awaitFleet(ctx context.Context) error {
	if err := s.kubectl(ctx, "wait", "--for=condition=Ready", "clusterbind9providers/global-dns",
		"--timeout="+patience.String()); err != nil {
		return err
	}
	return s.kubectl(ctx, "wait", "--for=condition=Ready", "-n", fleetSpace, "bind9clusters,bind9instances", "--all",
		"--timeout="+patience.String())
}

func (s *stage) showFleet(ctx context.Context) error {
	s.chapter("What became of them", "Each server has a Deployment, a Service, a Secret with its key. The Pods run as "+
		"nobody in particular, with nothing to write to but their zones.")
	return s.kubectl(ctx, "get", "clusterbind9providers,bind9clusters,bind9instances,pods,services", "-n", fleetSpace)
}
