// Package attack tries what attackers try: tenants with rights in their namespaces alone, hostile servers, strangers on
// the network, and somebody with the operator's own token. It runs the operator's binary under the chart's rights and
// policies, beside a real API server. SECURITY.md has the list of attempts, which is this package's.
package attack

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	dir, err := os.MkdirTemp("", "zonefold-attack-")
	if err != nil {
		panic(err)
	}
	flags, err := admissionFlags(dir)
	if err != nil {
		panic(err)
	}
	reviewers = dir
	code := testcluster.MainWith(m, testcluster.Options{ControllerManager: true, CRDs: []string{"../../config/crd"},
		APIServerFlags: flags})
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// reviewers is the folder with the authority of who may ask for reviews, as ca.crt.
var reviewers string

// A site is a cluster with the chart's rights and policies, an operator with all dialects, and the people of the
// attempts.
type site struct {
	*testing.T
	ctx     context.Context
	cluster *testcluster.Cluster
	admin   client.Client
	mallory client.Client // may do in the namespace mallory what examples/tenant gives, and nothing elsewhere
	log     *testoperator.Journal

	operator                         *testoperator.Process
	token                            string // the kubeconfig of the operator's ServiceAccount
	dns, admission, metrics, webhook string // the operator's addresses
}

// The people: victim has a Zone and servers, partner has a part of that Zone, mallory wants them.
const (
	victim  = "victim"
	partner = "partner"
	mallory = "mallory"
)

// newSite starts an operator.
func newSite(t *testing.T, flags ...string) *site {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	s := &site{T: t, ctx: ctx, cluster: testcluster.ForTest(t), log: &testoperator.Journal{}}
	s.admin = s.clientOf(s.cluster.Kubeconfig())
	s.dns, s.admission, s.metrics, s.webhook = freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)
	s.install()
	s.settle()
	var err error
	s.token, err = s.cluster.KubeconfigFor(ctx, testoperator.Namespace, testoperator.ServiceAccount)
	s.must(err)
	s.operate(flags...)
	return s
}

// clientOf speaks as a kubeconfig says.
func (s *site) clientOf(kubeconfig string) client.Client {
	s.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	s.must(err)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	c, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	s.must(err)
	return c
}

// tenant makes a namespace with a ServiceAccount that has a tenant's rights there, and speaks as it.
func (s *site) tenant(name string) client.Client {
	s.Helper()
	for _, o := range objects(fmt.Sprintf(`
{apiVersion: v1, kind: Namespace, metadata: {name: %[1]s}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: %[1]s, name: tenant}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: %[1]s, name: tenant}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: zonefold-tenant}
subjects: [{kind: ServiceAccount, namespace: %[1]s, name: tenant}]`, name)) {
		s.store(o)
	}
	kubeconfig, err := s.cluster.KubeconfigFor(s.ctx, name, "tenant")
	s.must(err)
	return s.clientOf(kubeconfig)
}

// settle makes the people.
func (s *site) settle() {
	s.Helper()
	role, err := os.ReadFile("../../examples/tenant/role.yaml")
	s.must(err)
	for _, o := range objects(string(role)) {
		s.store(o)
	}
	s.tenant(victim)
	s.tenant(partner)
	s.mallory = s.tenant(mallory)
}

// operate starts the operator and waits until it reviews objects, and leads.
func (s *site) operate(flags ...string) {
	s.Helper()
	path, err := testoperator.Build(s.ctx, s.TempDir())
	s.must(err)
	s.operator, err = testoperator.Start(testoperator.Options{
		Path: path, Kubeconfig: s.token, Log: s.log,
		Args: append([]string{
			"--dialects=kubizone,bindy,homelab,gardener", "--dns-bind-address=" + s.dns,
			"--external-dns-bind-address=" + s.webhook,
			"--admission-bind-address=" + s.admission, "--admission-names=127.0.0.1", "--gardener-admission",
			"--admission-client-ca-file=" + filepath.Join(reviewers, "ca.crt"), "--admission-client-names=" + reviewClient,
			"--secrets-namespaces=" + strings.Join([]string{victim, partner, mallory}, ","),
			"--metrics-bind-address=" + s.metrics, "--metrics-protected",
			"--read-memory=128Mi", // a quarter of the chart's limit
		}, flags...),
	})
	s.must(err)
	s.Cleanup(func() {
		s.operator.Stop()
		if s.Failed() {
			text := s.log.String()
			s.Logf("the operator's log ends:\n%s", text[max(0, len(text)-8000):])
		}
	})
	s.eventually("the operator is ready", func() string {
		select {
		case <-s.operator.Done():
			s.Fatalf("the operator has ended:\n%s", s.log)
		default:
		}
		if !s.operator.Ready() {
			return "it is not"
		}
		return ""
	})
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

// objects reads manifests.
func objects(text string) (all []*unstructured.Unstructured) {
	for part := range strings.SplitSeq(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(part), &o.Object); err != nil {
			panic(fmt.Sprintf("%v in\n%s", err, part))
		}
		if o.GetKind() != "" {
			all = append(all, o)
		}
	}
	return all
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// store creates an object as the administrator, if it is not there.
func (s *site) store(o client.Object) {
	s.Helper()
	if err := s.admin.Create(s.ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
		s.Fatalf("%s %s: %v", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
	}
}

// eventually waits until nothing is wrong.
func (s *site) eventually(what string, wrong func() string) {
	s.Helper()
	for {
		began := time.Now()
		trouble := wrong()
		if trouble == "" {
			return
		}
		select {
		case <-s.ctx.Done():
			s.Fatalf("%s: %s", what, trouble)
		case <-time.After(testcluster.Pace(time.Since(began))):
		}
	}
}
