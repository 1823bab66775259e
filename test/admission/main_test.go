// Package admission tests what the API server answers to those who store objects, with the operator as it runs in a
// cluster and the chart's own configuration.
package admission

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	code := testcluster.MainWith(m, testcluster.Options{ControllerManager: true, CRDs: []string{"../../config/crd"}})
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built is the operator's binary, made once for all tests.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// warnings are those of the API server.
type warnings struct {
	mu   sync.Mutex
	said []string
}

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := w.said
	w.said = nil
	return said
}

// A stage is a cluster with the chart's rights and configuration, and an operator that reviews objects.
type stage struct {
	t        *testing.T
	ctx      context.Context
	cluster  *testcluster.Cluster
	client   client.Client
	said     *warnings
	operator *testoperator.Process
	log      *testoperator.Journal
	address  string
	token    string // the kubeconfig of the operator's ServiceAccount
	count    int
}

func newStage(t *testing.T, flags ...string) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	s := &stage{t: t, ctx: ctx, cluster: testcluster.ForTest(t), said: &warnings{}, log: &testoperator.Journal{}}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "zonefold-admission"); built.err == nil { //nolint:usetesting // all tests share it
			built.path, built.err = testoperator.Build(context.Background(), built.dir)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", s.cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.WarningHandler = -1, rest.WarningHandler(s.said)
	if s.client, err = client.New(config, client.Options{Scheme: clientgoscheme.Scheme}); err != nil {
		t.Fatal(err)
	}
	s.address = freeAddress(t)
	s.install()
	if s.token, err = s.cluster.KubeconfigFor(ctx, testoperator.Namespace, testoperator.ServiceAccount); err != nil {
		t.Fatal(err)
	}
	// That of an earlier test is trusted until it ends, which may be in months.
	certificate := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: testoperator.Namespace,
		Name: "zonefold-admission"}}
	if err := client.IgnoreNotFound(s.client.Delete(ctx, certificate)); err != nil {
		t.Fatal(err)
	}
	// Those of an earlier test may have grants, and then serve nobody else.
	backends := parse("{apiVersion: zonefold.dev/v1alpha1, kind: Backend}")
	if err := s.client.DeleteAllOf(ctx, backends); err != nil {
		t.Fatal(err)
	}
	s.start(flags...)
	return s
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// install applies what the chart brings for admission, with all dialects on, and has the API server ask over loopback.
func (s *stage) install() {
	s.t.Helper()
	out, err := testoperator.Helm(s.ctx, "template", "zonefold", "charts/zonefold", "-n", testoperator.Namespace,
		"--set", "dialects.bindy=true,dialects.homelab=true,dialects.gardener=true,"+
			"gardenerExtension.admission=true,gardenerExtension.seed=true",
		"-s", "templates/rbac.yaml", "-s", "templates/serviceaccount.yaml", "-s", "templates/webhook.yaml")
	if err != nil {
		s.t.Fatalf("rendering the chart: %v", err)
	}
	s.store(&corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: testoperator.Namespace}})
	for text := range strings.SplitSeq(out, "\n---\n") {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil || o.GetKind() == "" {
			continue
		}
		if o.GetKind() != "ValidatingWebhookConfiguration" {
			s.store(&o)
			continue
		}
		var c admissionregistrationv1.ValidatingWebhookConfiguration
		if err := yaml.Unmarshal([]byte(text), &c); err != nil {
			s.t.Fatal(err)
		}
		for i := range c.Webhooks {
			at := c.Webhooks[i].ClientConfig.Service
			url := "https://" + s.address + *at.Path
			c.Webhooks[i].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url}
		}
		s.store(&c)
		s.t.Cleanup(func() { _ = s.client.Delete(context.WithoutCancel(s.ctx), &c) })
	}
}

// store applies an object as it is.
func (s *stage) store(o client.Object) {
	s.t.Helper()
	err := s.client.Create(s.ctx, o)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		s.t.Fatal(err)
	}
}

func (s *stage) start(flags ...string) {
	s.t.Helper()
	var err error
	s.operator, err = testoperator.Start(testoperator.Options{
		Path: built.path, Kubeconfig: s.token, Log: s.log,
		Args: append([]string{"--dialects=kubizone,bindy,homelab", "--admission-bind-address=" + s.address,
			"--admission-names=127.0.0.1"}, flags...),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		s.operator.Stop()
		if s.t.Failed() {
			s.t.Logf("the operator says\n%s", s.log)
		}
	})
	s.eventually("the operator reviews objects, and leads", func() bool {
		select {
		case <-s.operator.Done():
			s.t.Fatalf("the operator has ended:\n%s", s.log)
		default:
		}
		probe := record("default", "probe", "probe.invalid.", "A", "192.0.2.1")
		s.said.take()
		err := s.client.Create(s.ctx, probe, client.DryRunAll)
		return err == nil && strings.Contains(strings.Join(s.said.take(), " "), "NoZone")
	})
}

func record(namespace, name, domain, kind, rdata string) *unstructured.Unstructured {
	return parse(fmt.Sprintf("{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {namespace: %s, name: %s}, spec: "+
		"{domainName: %q, type: %s, rdata: %q}}",
		namespace, name, domain, kind, rdata))
}

func parse(text string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		panic(fmt.Sprintf("%v in\n%s", err, text))
	}
	return o
}

func (s *stage) eventually(what string, ok func() bool) {
	s.t.Helper()
	for began := time.Now(); !ok(); began = time.Now() {
		select {
		case <-s.ctx.Done():
			s.t.Fatalf("%s: it did not come about; the operator says\n%s", what, s.log)
		case <-time.After(testcluster.Pace(time.Since(began))):
		}
	}
}

// namespace makes a namespace and returns its name.
func (s *stage) namespace(name string) string {
	s.t.Helper()
	s.store(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return name
}

// judged waits until the operator has said something about an object as it is.
func (s *stage) judged(o *unstructured.Unstructured) {
	s.t.Helper()
	s.eventually(o.GetKind()+" "+o.GetName()+" is judged", func() bool {
		if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(o), o); err != nil {
			s.t.Fatal(err)
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			if m, ok := c.(map[string]any); ok && m["observedGeneration"] == o.GetGeneration() {
				return true
			}
		}
		return false
	})
}
