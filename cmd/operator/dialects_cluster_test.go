package main

import (
	"context"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil //nolint:reassign // one of them sleeps in the bubble of a life, by the clock of another one
	debug.SetGCPercent(1200)        // a life needs little memory, and leaves much that it needed
	os.Exit(testcluster.Main(m))    // without any definition
}

// A cluster has the definitions and the rights of the dialect bindy alone.
type cluster struct {
	*testcluster.Cluster
	ctx        context.Context
	operator   string
	kubeconfig string
	log        *testoperator.Journal
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience)
	t.Cleanup(cancel)
	c := &cluster{Cluster: testcluster.ForTest(t), ctx: ctx, log: &testoperator.Journal{}}
	var err error
	if c.operator, err = testoperator.Build(ctx, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{
		"clusterbind9providers", "bind9clusters", "bind9instances", "dnszones",
		// as the existing Bindy has them
		"arecords", "aaaarecords", "cnamerecords", "txtrecords", "mxrecords", "nsrecords", "srvrecords", "caarecords",
	} {
		if err := c.InstallCRDs(ctx, "../../config/crd/bindy.firestoned.io_"+kind+".yaml"); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{
		"create namespace " + testoperator.Namespace,
		"create serviceaccount " + testoperator.ServiceAccount + " -n " + testoperator.Namespace,
		"create role leader -n " + testoperator.Namespace + " --verb=get,create,update,patch --resource=leases",
		"create rolebinding leader -n " + testoperator.Namespace + " --role=leader --serviceaccount=" +
			testoperator.Namespace + ":" + testoperator.ServiceAccount,
		"apply -f ../../config/rbac/bindy.yaml",
		"create clusterrolebinding bindy --clusterrole=zonefold-operator --serviceaccount=" + testoperator.Namespace + ":" +
			testoperator.ServiceAccount,
	} {
		c.kubectl(t, args)
	}
	if c.kubeconfig, err = c.KubeconfigFor(ctx, testoperator.Namespace, testoperator.ServiceAccount); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cluster) kubectl(t *testing.T, args string) string {
	t.Helper()
	out, err := c.RunKubectl(c.ctx, strings.Fields(args)...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *cluster) start(t *testing.T, kubeconfig string, args ...string) *testoperator.Process {
	t.Helper()
	p, err := testoperator.Start(testoperator.Options{Path: c.operator, Kubeconfig: kubeconfig, Args: args, Log: c.log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func (c *cluster) eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); began = time.Now() {
		select {
		case <-c.ctx.Done():
			t.Fatalf("%s did not come about; the log is\n%s", what, c.log.String())
		case <-time.After(testcluster.Pace(time.Since(began))):
		}
	}
}

func TestADialectThatIsOffNeedsNothing(t *testing.T) {
	c := newCluster(t)
	lacking := c.start(t, c.Kubeconfig(), "--dialects=kubizone,bindy")
	<-lacking.Done()
	const want = "the dialect kubi.zone cannot work: the CustomResourceDefinition zones.kubi.zone is not installed; " +
		"apply zonefold's from config/crd, or remove kubizone from --dialects"
	if text := c.log.String(); !strings.Contains(text, want) {
		t.Errorf("an operator that lacks a definition says\n%s", text)
	}

	c.log = &testoperator.Journal{}
	op := c.start(t, c.kubeconfig, "--dialects=bindy") // with the rights of this dialect alone
	c.eventually(t, "readiness", op.Ready)
	c.kubectl(t, "create namespace dns-system")
	manifest := strings.NewReader(
		`{"apiVersion":"bindy.firestoned.io/v1beta1","kind":"ClusterBind9Provider","metadata":{"name":"global"},"spec":{"primaryReplicas":1,"secondaryReplicas":1}}`)
	if _, err := c.RunKubectlInput(c.ctx, manifest, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	c.eventually(t, "the instances", func() bool {
		out := c.kubectl(t, "get bind9instances -n dns-system -o name")
		return strings.Contains(out, "global-primary-0") && strings.Contains(out, "global-secondary-0")
	})
	if text := c.log.String(); strings.Contains(text, "is forbidden") || strings.Contains(text, "kubi.zone") {
		t.Errorf("the operator does more than its dialect:\n%s", text)
	}
	if text := c.log.String(); !strings.Contains(text, "PTRRecords are ignored") {
		t.Errorf("the operator does not say what it lacks:\n%s", text)
	}
	op.Stop()
	if holder := c.kubectl(t, "get lease zonefold-operator -n "+testoperator.Namespace+
		" -o jsonpath={.spec.holderIdentity}"); holder != "" {
		t.Errorf("the lease is not given up: %s holds it", holder)
	}
	c.homelab(t)
}
