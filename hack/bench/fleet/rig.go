package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testcluster/images"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	namespace = "bench"
	fleet     = "dns"
	// auditEvery is how often zones are read back in a run with an idle phase.
	auditEvery = 2 * time.Minute
	patience   = 15 * time.Minute
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

// A rig is everything that is measured.
type rig struct {
	o          options
	progress   io.Writer
	began      time.Time
	dir        string
	program    string // the operator
	log        *os.File
	cluster    *testcluster.Cluster
	kubeconfig string // of the operator's ServiceAccount
	kube       client.WithWatch
	operator   *testoperator.Process
	pprof      string // address, "" for none
	servers    []*server
	keys       keys
}

// newRig starts everything but the operator. What it returns has to be closed, also when there is an error.
func newRig(ctx context.Context, o options, progress io.Writer) (*rig, error) {
	r := &rig{o: o, progress: progress, began: time.Now()}
	var err error
	if r.dir, err = os.MkdirTemp("", "zonefold-bench"); err != nil {
		return r, err
	}
	r.say("building the operator and images")
	if r.program, err = testoperator.Build(ctx, r.dir); err != nil {
		return r, err
	}
	archives, err := images.Archives(ctx, progress)
	if err != nil {
		return r, err
	}
	if o.log != "" {
		if r.log, err = os.Create(o.log); err != nil {
			return r, err
		}
	}
	if r.cluster, err = testcluster.Start(ctx, testcluster.Options{Log: progress, Node: true, Images: archives}); err != nil {
		return r, err
	}
	if err := r.install(ctx); err != nil {
		return r, err
	}
	return r, r.startFleet(ctx)
}

// install gives the cluster the chart, with the operator's rights, ends its Pods, and makes a client that nothing but the API server
// slows down.
func (r *rig) install(ctx context.Context) error {
	err := testoperator.InstallChart(ctx, r.cluster)
	if err != nil {
		return err
	}
	if _, err := r.cluster.RunKubectl(ctx, "scale", "-n", testoperator.Namespace, "deployment/zonefold-operator", "--replicas=0"); err != nil {
		return err
	}
	if r.kubeconfig, err = r.cluster.KubeconfigFor(ctx, testoperator.Namespace, testoperator.ServiceAccount); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", r.cluster.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS, config.UserAgent = -1, "zonefold-bench"
	log.SetLogger(logr.Discard()) // of the client
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		return err
	}
	r.kube, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	return err
}

// startFleet has the operator make the servers.
func (r *rig) startFleet(ctx context.Context) error {
	r.say("starting %d primaries and %d secondaries", r.o.primaries, r.o.secondaries)
	_, err := r.cluster.RunKubectlInput(ctx, strings.NewReader(fmt.Sprintf(objects, r.o.primaries, r.o.secondaries)), "apply", "-f", "-")
	if err != nil {
		return err
	}
	if err := r.startOperator(ctx); err != nil {
		return err
	}
	err = r.until(ctx, func() (bool, error) {
		var pods corev1.PodList
		if err := r.kube.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
			return false, err
		}
		n := 0
		for i := range pods.Items {
			if podReady(&pods.Items[i]) {
				n++
			}
		}
		return n == r.o.primaries+r.o.secondaries, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the servers: %w", err)
	}
	return errors.Join(r.findServers(ctx), r.readKeys(ctx))
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
func (r *rig) startOperator(ctx context.Context) error {
	o := testoperator.Options{Path: r.program, Kubeconfig: r.kubeconfig, Args: []string{
		"--dialects", "bindy", "--bind9-image", images.BIND, "--bindcar-image", images.Bindcar,
		"--leader-elect-lease-duration", "2m", "--leader-elect-renew-deadline", "1m", // a machine that does much else keeps it from renewing
	}}
	if r.log != nil {
		o.Log = r.log
	}
	if r.o.idle > 0 {
		o.Args = append(o.Args, "--audit-interval", auditEvery.String())
	}
	if r.o.profile != "" {
		var err error
		if r.pprof, err = figures.FreeAddress(); err != nil {
			return err
		}
		o.Args = append(o.Args, "--pprof-bind-address", r.pprof)
	}
	var err error
	if r.operator, err = testoperator.Start(o); err != nil {
		return err
	}
	err = r.until(ctx, func() (bool, error) { // it leads, and knows what there is
		m, err := r.operator.Metrics("zonefold_settle_seconds_count")
		return r.operator.Ready() && figures.Sum(m, "zonefold_settle_seconds_count") > 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator: %w", err)
	}
	return r.quiet(ctx)
}

func (r *rig) stopOperator() {
	if r.operator != nil {
		r.operator.Stop()
		r.operator = nil
	}
}

// close ends everything.
func (r *rig) close() error {
	r.stopOperator()
	var err error
	if r.cluster != nil {
		err = r.cluster.Stop()
	}
	if r.log != nil {
		err = errors.Join(err, r.log.Close())
	}
	if r.dir != "" {
		err = errors.Join(err, os.RemoveAll(r.dir))
	}
	return err
}

func (r *rig) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "%7.1f s  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}
