// Package rig is what the benchmarks of the operator run on: a real control plane and the operator's own binary beside
// it, started for a benchmark and ended after it, a client that only the API server slows down, and what they all do
// with these: create objects, wait, profile, and ask a name server until it answers.
package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// A Rig has a folder from its beginning, and the rest from Start.
type Rig struct {
	// Dir is for files of servers; it is gone after the benchmark.
	Dir string
	// Progress is where Say writes.
	Progress io.Writer
	// Cluster is the control plane.
	Cluster *testcluster.Cluster
	// Kube is a client with all rights and without a limit of its own.
	Kube client.WithWatch
	// Kubeconfig is the operator's: all rights, unless the benchmark sets another.
	Kubeconfig string
	// Operator is nil while it does not run.
	Operator *testoperator.Process

	o       *Options
	began   time.Time
	program string // the operator
	log     *os.File
	pprof   string   // the operator's address for that, "" for none
	atEnd   []func() // the last one first
}

func newRig(o *Options, progress io.Writer) (*Rig, error) {
	dir, err := os.MkdirTemp("", "zonefold-bench")
	return &Rig{Dir: dir, o: o, Progress: progress, began: time.Now()}, err
}

// AtEnd has something be ended when the benchmark ends: after the operator and before the control plane, what was named
// last first.
func (r *Rig) AtEnd(end func()) { r.atEnd = append(r.atEnd, end) }

// Say tells whoever waits how far it is.
func (r *Rig) Say(format string, args ...any) {
	fmt.Fprintf(r.Progress, "%7.1f s  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// Start builds the operator and starts a control plane without a node that has the definitions of all objects. The
// client knows the types that are added to its scheme.
func (r *Rig) Start(ctx context.Context, types ...func(*runtime.Scheme) error) error {
	root, err := testoperator.ModuleRoot(ctx)
	if err != nil {
		return err
	}
	return r.StartCluster(ctx, testcluster.Options{CRDs: []string{filepath.Join(root, "config", "crd")}}, types...)
}

// StartCluster is Start with another control plane.
func (r *Rig) StartCluster(ctx context.Context, o testcluster.Options,
	types ...func(*runtime.Scheme) error) (err error) {
	if r.program, err = testoperator.Build(ctx, r.Dir); err != nil {
		return err
	}
	if r.o.Log != "" {
		if r.log, err = os.Create(r.o.Log); err != nil {
			return err
		}
	}
	o.Log = r.Progress
	if r.Cluster, err = testcluster.Start(ctx, o); err != nil {
		return err
	}
	r.Kubeconfig = r.Cluster.Kubeconfig()
	config, err := clientcmd.BuildConfigFromFlags("", r.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.UserAgent = -1, "zonefold-bench"
	log.SetLogger(logr.Discard()) // of the client
	scheme := runtime.NewScheme()
	for _, add := range types {
		if err := add(scheme); err != nil {
			return err
		}
	}
	r.Kube, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	return err
}

// Apply applies objects in YAML.
func (r *Rig) Apply(ctx context.Context, manifest string) error {
	_, err := r.Cluster.RunKubectlInput(ctx, strings.NewReader(manifest), "apply", "-f", "-")
	return err
}

// close ends everything.
func (r *Rig) close() error {
	r.StopOperator()
	for i := len(r.atEnd) - 1; i >= 0; i-- {
		r.atEnd[i]()
	}
	var err error
	if r.Cluster != nil {
		err = r.Cluster.Stop()
	}
	if r.log != nil {
		err = errors.Join(err, r.log.Close())
	}
	return errors.Join(err, os.RemoveAll(r.Dir))
}
