package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	namespace = "bench"
	zoneName  = "bench.example."
	keyName   = "zonefold."
	keySecret = "Ym90aCBhcmUgb24gbG9vcGJhY2s=" // a key that nobody else meets
	keyType   = "hmac-sha256"
)

// objects is what exists besides the Records.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: ` + testoperator.Namespace + `}
---
apiVersion: v1
kind: Namespace
metadata: {name: ` + namespace + `}
---
apiVersion: v1
kind: Secret
metadata: {name: tsig, namespace: ` + testoperator.Namespace + `}
stringData: {secret: ` + keySecret + `}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: bind}
spec:
  default: true
  rfc2136:
    servers: ["%s"]
    tsig: {keyName: ` + keyName + `, secretRef: {name: tsig}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: bench, namespace: ` + namespace + `}
spec:
  domainName: ` + zoneName + `
  delegations:
  - namespace: ` + namespace + `
    records: [{pattern: "@"}, {pattern: "*"}]
`

// A rig is everything that is measured.
type rig struct {
	o        options
	progress io.Writer
	began    time.Time
	dir      string
	program  string // the operator
	log      *os.File
	cluster  *testcluster.Cluster
	bind     *nameserver.Server
	kube     client.WithWatch
	operator *testoperator.Process
	pprof    string // address, "" for none
}

// newRig starts the cluster and BIND and builds the operator. What it returns has to be closed, also when there is an error.
func newRig(ctx context.Context, o options, progress io.Writer) (*rig, error) {
	r := &rig{o: o, progress: progress, began: time.Now()}
	var err error
	if r.dir, err = os.MkdirTemp("", "zonefold-bench"); err != nil {
		return r, err
	}
	r.say("building the operator")
	if r.program, err = testoperator.Build(ctx, r.dir); err != nil {
		return r, err
	}
	root, err := testoperator.ModuleRoot(ctx)
	if err != nil {
		return r, err
	}
	r.cluster, err = testcluster.Start(ctx, testcluster.Options{Log: progress, CRDs: []string{filepath.Join(root, "config", "crd")}})
	if err != nil {
		return r, err
	}
	zone, err := dnsname.Parse(zoneName)
	if err != nil {
		return r, err
	}
	key, err := dnsname.Parse(keyName)
	if err != nil {
		return r, err
	}
	r.bind, err = nameserver.StartBIND(ctx, nameserver.Options{
		Dir: filepath.Join(r.dir, "bind"), Zones: []nameserver.Zone{{Name: zone}},
		Keys: []nameserver.TSIG{{Name: key, Algorithm: keyType, Secret: keySecret}},
	})
	if err != nil {
		return r, err
	}
	if o.log != "" {
		if r.log, err = os.Create(o.log); err != nil {
			return r, err
		}
	}
	return r, r.prepare(ctx)
}

// prepare makes a client that nothing but the API server slows down, and the objects.
func (r *rig) prepare(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", r.cluster.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS, config.UserAgent = -1, "zonefold-bench"
	scheme := runtime.NewScheme()
	if err := kubizone.AddToScheme(scheme); err != nil {
		return err
	}
	if r.kube, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	_, err = r.cluster.RunKubectlInput(ctx, strings.NewReader(fmt.Sprintf(objects, r.bind.Addr())), "apply", "-f", "-")
	return err
}

// close ends everything.
func (r *rig) close() error {
	r.stopOperator()
	if r.bind != nil {
		r.bind.Close()
	}
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

// startOperator returns when the empty zone is served.
func (r *rig) startOperator(ctx context.Context) error {
	o := testoperator.Options{Path: r.program, Kubeconfig: r.cluster.Kubeconfig()}
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
	err = r.until(ctx, time.Minute, func() (bool, error) {
		z, err := r.zone(ctx)
		return err == nil && r.operator.Ready() && figures.Ready(z.Status.Conditions, z.Generation), err
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator to serve the empty zone: %w", err)
	}
	return r.quiet(ctx)
}

func (r *rig) stopOperator() {
	if r.operator != nil {
		r.operator.Stop()
		r.operator = nil
	}
}

func (r *rig) zone(ctx context.Context) (*kubizone.Zone, error) {
	var z kubizone.Zone
	return &z, r.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "bench"}, &z)
}

// quiet waits until the operator has written nothing to the API server for three seconds.
func (r *rig) quiet(ctx context.Context) error {
	var last float64
	since := time.Now()
	err := r.until(ctx, 2*time.Minute, func() (bool, error) {
		now, err := r.operatorWrites()
		if err != nil || now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 3*time.Second, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator to have nothing to write: %w", err)
	}
	return nil
}

// until waits for what may take some time.
func (r *rig) until(ctx context.Context, patience time.Duration, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return figures.Until(ctx, r.operator, done)
}

func (r *rig) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "%7.1f s  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}
