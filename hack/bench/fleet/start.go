package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testcluster/images"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	namespace = "bench"
	fleet     = "dns"
	patience  = 15 * time.Minute
)

// objects is what exists besides zones and records.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: ` + namespace + `}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: Bind9Cluster
metadata: {name: ` + fleet + `, namespace: ` + namespace + `}
spec: {primaryReplicas: %d, secondaryReplicas: %d}
`

// A bench is everything that is measured.
type bench struct {
	*rig.Rig
	o       *options
	servers []*server
	keys    keys
}

// start starts everything but the operator.
func (b *bench) start(ctx context.Context) error {
	b.Say("building the operator and images")
	archives, err := images.Archives(ctx, b.Progress)
	if err != nil {
		return err
	}
	if err := b.StartCluster(ctx, testcluster.Options{Node: true, Images: archives}, clientgoscheme.AddToScheme,
		v1beta1.AddToScheme); err != nil {
		return err
	}
	if err := b.install(ctx); err != nil {
		return err
	}
	return b.startFleet(ctx)
}

// install gives the cluster the chart, with the operator's rights, and ends its Pods.
func (b *bench) install(ctx context.Context) error {
	err := testoperator.InstallChart(ctx, b.Cluster)
	if err != nil {
		return err
	}
	if _, err := b.Cluster.RunKubectl(ctx, "scale", "-n", testoperator.Namespace, "deployment/zonefold-operator",
		"--replicas=0"); err != nil {
		return err
	}
	b.Kubeconfig, err = b.Cluster.KubeconfigFor(ctx, testoperator.Namespace, testoperator.ServiceAccount)
	return err
}

// startFleet has the operator make the servers.
func (b *bench) startFleet(ctx context.Context) error {
	b.Say("starting %d primaries and %d secondaries", b.o.primaries, b.o.secondaries)
	if err := b.Apply(ctx, fmt.Sprintf(objects, b.o.primaries, b.o.secondaries)); err != nil {
		return err
	}
	if err := b.startOperator(ctx); err != nil {
		return err
	}
	err := b.Until(ctx, patience, func() (bool, error) {
		var pods corev1.PodList
		if err := b.Kube.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
			return false, err
		}
		n := 0
		for i := range pods.Items {
			if podReady(&pods.Items[i]) {
				n++
			}
		}
		return n == b.o.primaries+b.o.secondaries, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the servers: %w", err)
	}
	return errors.Join(b.findServers(ctx), b.readKeys(ctx))
}

func podReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// startOperator returns when it has nothing to do any more.
func (b *bench) startOperator(ctx context.Context) error {
	err := b.StartOperator("--dialects", "bindy", "--bind9-image", images.BIND, "--bindcar-image", images.Bindcar,
		// a machine that does much else keeps it from renewing
		"--leader-elect-lease-duration", "2m", "--leader-elect-renew-deadline", "1m")
	if err != nil {
		return err
	}
	err = b.Until(ctx, patience, func() (bool, error) { // it leads, and knows what there is
		m, err := b.Operator.Metrics("zonefold_settle_seconds_count")
		return b.Operator.Ready() && figures.Sum(m, "zonefold_settle_seconds_count") > 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator: %w", err)
	}
	return b.quiet(ctx)
}
