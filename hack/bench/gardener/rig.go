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

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// The accounts are also the namespaces of their objects.
const (
	free    = "free"
	limited = "limited"
)

const (
	domain   = "bench.example"
	burst    = 5 // as at Route 53
	insync   = time.Second
	quiet    = 20 * time.Second // in which an operator that has nothing to do shows it
	patience = 30 * time.Minute
)

// objects is what exists besides the DNSRecords.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: ` + testoperator.Namespace + `}
---
apiVersion: v1
kind: Namespace
metadata: {name: free}
---
apiVersion: v1
kind: Namespace
metadata: {name: limited}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: free}
stringData: {server: %q, apiKey: %q}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: limited}
stringData: {accessKeyID: %q, secretAccessKey: %q}
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
	powerdns *nameserver.PowerDNS
	route53  *route53test.Server
	zoneIDs  []string // of Route 53
	kube     client.Client
	operator *testoperator.Process

	changed int            // single changes so far
	single  map[int]string // what they have made of which record
}

// half is how many DNSRecords each account has.
func (r *rig) half() int { return r.o.n / 2 }

// newRig starts everything. What it returns has to be closed, also when there is an error.
func newRig(ctx context.Context, o options, progress io.Writer) (*rig, error) {
	r := &rig{o: o, progress: progress, began: time.Now(), single: map[int]string{}}
	var err error
	if r.dir, err = os.MkdirTemp("", "zonefold-bench"); err != nil {
		return r, err
	}
	r.say("building the operator")
	if r.program, err = testoperator.Build(ctx, r.dir); err != nil {
		return r, err
	}
	if r.zone, err = dnsname.Parse(domain + "."); err != nil {
		return r, err
	}
	r.powerdns, err = nameserver.StartPowerDNS(ctx, nameserver.Options{
		Dir: filepath.Join(r.dir, "powerdns"), Zones: []nameserver.Zone{{Name: r.zone}}, Extra: "cache-ttl=0\nquery-cache-ttl=0\nnegquery-cache-ttl=0",
	})
	if err != nil {
		return r, err
	}
	r.route53, err = route53test.Start(ctx, route53test.Options{Now: time.Now, Delay: insync, Rate: o.rate, Burst: burst})
	if err != nil {
		return r, err
	}
	if o.log != "" {
		if r.log, err = os.Create(o.log); err != nil {
			return r, err
		}
	}
	root, err := testoperator.ModuleRoot(ctx)
	if err != nil {
		return r, err
	}
	r.cluster, err = testcluster.Start(ctx, testcluster.Options{Log: progress, CRDs: []string{filepath.Join(root, "config", "crd")}})
	if err != nil {
		return r, err
	}
	if err := r.prepare(ctx); err != nil {
		return r, err
	}
	return r, r.startOperator(ctx)
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
	account := r.route53.NewAccount()
	user := account.NewUser("zonefold")
	for i := range r.o.zones {
		r.zoneIDs = append(r.zoneIDs, account.AddZone(r.zoneName(i)+".", false))
	}
	text := fmt.Sprintf(objects, r.powerdns.URL, r.powerdns.APIKey, user.AccessKeyID, user.SecretAccessKey)
	_, err = r.cluster.RunKubectlInput(ctx, strings.NewReader(text), "apply", "-f", "-")
	return err
}

func (r *rig) startOperator(ctx context.Context) error {
	o := testoperator.Options{Path: r.program, Kubeconfig: r.cluster.Kubeconfig(), Args: []string{"--dialects", "gardener", "--gardener-endpoints", "aws-route53=" + r.route53.URL}}
	if r.log != nil {
		o.Log = r.log
	}
	var err error
	if r.operator, err = testoperator.Start(o); err != nil {
		return err
	}
	return r.until(ctx, func() (bool, error) { return r.operator.Ready(), nil })
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
	if r.powerdns != nil {
		r.powerdns.Close()
	}
	var err error
	if r.route53 != nil {
		err = r.route53.Stop()
	}
	if r.cluster != nil {
		err = errors.Join(err, r.cluster.Stop())
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
