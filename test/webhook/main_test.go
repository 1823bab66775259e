// Package webhook tests the whole way of a DNSRecord: a real API server, the operator's own binary with the rights that
// the chart gives it, the reference server of the protocol as a program of its own, and a real BIND that answers.
package webhook

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the client
	code := testcluster.MainWith(m, testcluster.Options{ControllerManager: true, CRDs: []string{"../../config/crd"}})
	if common.dir != "" {
		_ = os.RemoveAll(common.dir)
	}
	os.Exit(code)
}

// common is what all tests share: the binaries, and what the chart makes of the cluster.
var common struct {
	once           sync.Once
	dir            string
	operator, hook string
	role           string // kubeconfig of the operator's ServiceAccount
	client         client.Client
	err            error
}

// prepare makes what all tests share.
func prepare(t *testing.T) {
	t.Helper()
	cluster := testcluster.ForTest(t)
	common.once.Do(func() { common.err = install(context.Background(), cluster) })
	if common.err != nil {
		t.Fatal(common.err)
	}
}

func install(ctx context.Context, cluster *testcluster.Cluster) (err error) {
	if common.dir, err = os.MkdirTemp("", "zonefold-webhook"); err != nil {
		return err
	}
	if common.operator, err = testoperator.Build(ctx, common.dir); err != nil {
		return err
	}
	if common.hook, err = testoperator.BuildHook(ctx, common.dir); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig())
	if err != nil {
		return err
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	if common.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if err := grant(ctx); err != nil {
		return err
	}
	common.role, err = cluster.KubeconfigFor(ctx, testoperator.Namespace, testoperator.ServiceAccount)
	return err
}

// grant gives the operator the rights of the chart for this dialect, and for Zones that a class serves. That it needs
// no more for DNSRecords is tested with the operator.
func grant(ctx context.Context) error {
	out, err := testoperator.Helm(ctx, "template", "zonefold", "charts/zonefold", "-n", testoperator.Namespace,
		"--set", "dialects.kubizone=true,dialects.homelab=true", "-s", "templates/rbac.yaml", "-s",
		"templates/serviceaccount.yaml")
	if err != nil {
		return err
	}
	ns := &corev1.Namespace{}
	ns.Name = testoperator.Namespace
	if err := common.client.Create(ctx, ns); err != nil {
		return err
	}
	for text := range strings.SplitSeq(out, "\n---\n") {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil || o.GetKind() == "" {
			continue
		}
		if err := common.client.Create(ctx, &o); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}
