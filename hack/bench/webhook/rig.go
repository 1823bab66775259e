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

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	namespace = "bench"
	className = "bench"
	domain    = "bench.example"
	keyName   = "hook"
	keySecret = "Ym90aCBhcmUgb24gbG9vcGJhY2s=" // a key that nobody else meets
	keyType   = "hmac-sha256"
	secret    = "between the operator and the server"
	patience  = 15 * time.Minute
)

// objects is what exists besides the DNSRecords.
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
metadata: {name: hmac, namespace: ` + namespace + `}
stringData: {secret: ` + secret + `}
---
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata: {name: ` + className + `}
spec:
  server: %s
  hmacAuth:
    secretRef: {name: hmac, namespace: ` + namespace + `, key: secret}
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
	zone     dnsname.Name
	bind     *nameserver.Server
	hook     *testoperator.Hook
	kube     client.Client
	operator *testoperator.Process
}

// newRig starts everything but the operator. What it returns has to be closed, also when there is an error.
func newRig(ctx context.Context, o options, progress io.Writer) (*rig, error) {
	r := &rig{o: o, progress: progress, began: time.Now()}
	var err error
	if r.dir, err = os.MkdirTemp("", "zonefold-bench"); err != nil {
		return r, err
	}
	r.say("building the operator and dnshook")
	if r.program, err = testoperator.Build(ctx, r.dir); err != nil {
		return r, err
	}
	if err := r.startServers(ctx); err != nil {
		return r, err
	}
	root, err := testoperator.ModuleRoot(ctx)
	if err != nil {
		return r, err
	}
	if o.log != "" {
		if r.log, err = os.Create(o.log); err != nil {
			return r, err
		}
	}
	r.cluster, err = testcluster.Start(ctx, testcluster.Options{Log: progress, CRDs: []string{filepath.Join(root, "config", "crd")}})
	if err != nil {
		return r, err
	}
	return r, r.prepare(ctx)
}

// startServers starts BIND, and dnshook before it.
func (r *rig) startServers(ctx context.Context) error {
	program, err := testoperator.BuildHook(ctx, r.dir)
	if err != nil {
		return err
	}
	if r.zone, err = dnsname.Parse(domain + "."); err != nil {
		return err
	}
	key, err := dnsname.Parse(keyName + ".")
	if err != nil {
		return err
	}
	r.bind, err = nameserver.StartBIND(ctx, nameserver.Options{
		Dir: filepath.Join(r.dir, "bind"), Zones: []nameserver.Zone{{Name: r.zone}},
		Keys: []nameserver.TSIG{{Name: key, Algorithm: keyType, Secret: keySecret}},
	})
	if err != nil {
		return err
	}
	tsig, hmac := filepath.Join(r.dir, "tsig"), filepath.Join(r.dir, "hmac")
	if err := errors.Join(os.WriteFile(tsig, []byte(keySecret), 0o600), os.WriteFile(hmac, []byte(secret), 0o600)); err != nil {
		return err
	}
	r.hook, err = testoperator.StartHook(program, nil,
		"--zone", domain, "--rfc2136", r.bind.Addr(), "--tsig-name", keyName, "--tsig-secret-file", tsig, "--secret-file", hmac)
	return err
}

// prepare makes a client that nothing but the API server slows down, and the objects.
func (r *rig) prepare(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", r.cluster.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS, config.UserAgent = -1, "zonefold-bench"
	log.SetLogger(logr.Discard()) // of the client
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	if r.kube, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	_, err = r.cluster.RunKubectlInput(ctx, strings.NewReader(fmt.Sprintf(objects, r.hook.URL)), "apply", "-f", "-")
	return err
}

// startOperator returns when the server was found to be healthy.
func (r *rig) startOperator(ctx context.Context) error {
	o := testoperator.Options{Path: r.program, Kubeconfig: r.cluster.Kubeconfig(), Args: []string{"--dialects", "homelab"}}
	if r.log != nil {
		o.Log = r.log
	}
	var err error
	if r.operator, err = testoperator.Start(o); err != nil {
		return err
	}
	err = r.until(ctx, func() (bool, error) {
		var c v1alpha1.DNSClass
		err := r.kube.Get(ctx, client.ObjectKey{Name: className}, &c)
		return r.operator.Ready() && figures.Ready(c.Status.Conditions, c.Generation), err
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator to find the server healthy: %w", err)
	}
	return nil
}

// startMarks installs the chart's policy for new DNSRecords, and returns when the API server follows it.
func (r *rig) startMarks(ctx context.Context) error {
	if !r.o.marks {
		return nil
	}
	manifest, err := testoperator.Template(ctx, "dialects.homelab=true,homelab.marks=true", "marks.yaml")
	if err != nil {
		return err
	}
	if _, err := r.cluster.RunKubectlInput(ctx, strings.NewReader(manifest), "apply", "-f", "-"); err != nil {
		return err
	}
	return r.until(ctx, func() (bool, error) {
		o := record(0)
		err := r.kube.Create(ctx, o, client.DryRunAll)
		return len(o.Finalizers) > 0, err
	})
}

// until waits for what takes no longer than patience.
func (r *rig) until(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return figures.Until(ctx, r.operator, done)
}

// close ends everything.
func (r *rig) close() error {
	if r.operator != nil {
		r.operator.Stop()
	}
	if r.hook != nil {
		r.hook.Stop()
	}
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

func (r *rig) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "%7.1f s  %s\n", time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}
