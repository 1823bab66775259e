// Package scenario tests the whole way: objects in a real API server, the operator's
// own binary, and real name servers that answer.
package scenario

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // of the client
	testcluster.AtOnce(4)
	code := testcluster.MainWith(m, testcluster.Options{
		ControllerManager: true, CRDs: []string{"../../config/crd"}, NodeGrace: nodeGrace,
		// Some clusters ask for the right to set finalizers before an owner may block its deletion.
		APIServerFlags: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
			"--delete-collection-workers=8"},
	})
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

func operator(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "zonefold-scenario"); built.err == nil { //nolint:usetesting // all tests share it
			built.path, built.err = testoperator.Build(context.Background(), built.dir)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

var key = nameserver.TSIG{Name: name("zonefold."), Algorithm: "hmac-sha256", Secret: "c2VjcmV0IGZvciB0ZXN0cyBvbmx5"}

// A stage is what the scenes of one test share: the cluster, which all tests have in
// common, and an operator of their own.
type stage struct {
	cluster *testcluster.Cluster
	client  client.Client
	watcher client.WithWatch // the same
	path    string           // of the operator
	role    string           // its kubeconfig
	op      *testoperator.Process
	lacks   string // what a test does not let the operator do, as the log names it

	log testoperator.Journal
}

// A scene is a test with names of its own: in everything that it says, "example" stands
// for a word that no other scene has, and a namespace "a" for one of its own.
type scene struct {
	*stage
	t      *testing.T
	ctx    context.Context
	word   string
	prefix string             // of namespaces and Backends
	bind   *nameserver.Server // the one of this test, if it has one
	beside bool               // its scenes run side by side
}

var scenes atomic.Int64

// newStage begins a test without any object of ours in the cluster and without an operator.
func newStage(t *testing.T) *scene {
	t.Helper()
	st := &stage{cluster: testcluster.ForTest(t), path: operator(t)}
	st.role = install(t, st.cluster)
	config, err := clientcmd.BuildConfigFromFlags("", st.cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, rbacv1.AddToScheme, kubizone.AddToScheme,
		zonefold.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	if st.watcher, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	st.client = st.watcher
	s := newScene(t, st)
	t.Cleanup(func() {
		if st.op != nil {
			st.op.Kill()
		}
		if line := st.complaint(); line != "" {
			t.Errorf("the operator lacks a right: %s", line)
		}
		if t.Failed() {
			text := st.log.String()
			t.Logf("the operator's log ends:\n%s", text[max(0, len(text)-6000):])
		}
		s.clear()
	})
	return s
}

func newScene(t *testing.T, st *stage) *scene {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	word := fmt.Sprintf("w%d", scenes.Add(1))
	return &scene{stage: st, t: t, ctx: ctx, word: word, prefix: word + "-"}
}

// sideBySide has the scenes that follow, up to the end of the test, run beside each other: they wait most of the time.
// None of them ends the operator, or looks at what it does for others.
func (s *scene) sideBySide() { s.beside = true }

// run plays a scene with names of its own in the same test.
func (s *scene) run(sentence string, play func(s *scene)) {
	s.t.Run(sentence, func(t *testing.T) {
		if s.beside {
			t.Parallel()
		}
		sub := newScene(t, s.stage)
		sub.bind = s.bind
		play(sub)
	})
}

// step goes on with the same names.
func (s *scene) step(sentence string, play func()) {
	s.t.Helper()
	outer := s.t
	defer func() { s.t = outer }()
	outer.Run(sentence, func(t *testing.T) {
		s.t = t
		play()
	})
}

// clear removes all objects of ours.
func (s *scene) clear() {
	ctx := context.Background()
	var zones kubizone.ZoneList
	if err := s.client.List(ctx, &zones); err != nil {
		s.t.Log(err)
	}
	var parts zonefold.ZoneSliceList
	if err := s.client.List(ctx, &parts); err != nil {
		s.t.Log(err)
	}
	var held []client.Object
	namespaces := map[string]bool{testoperator.Namespace: true}
	for i := range zones.Items {
		namespaces[zones.Items[i].Namespace] = true
		held = append(held, &zones.Items[i])
	}
	for i := range parts.Items {
		held = append(held, &parts.Items[i])
	}
	for _, o := range held {
		if len(o.GetFinalizers()) > 0 {
			_ = s.client.Patch(ctx, o, client.RawPatch("application/merge-patch+json",
				[]byte(`{"metadata":{"finalizers":null}}`)))
		}
	}
	var records kubizone.RecordList
	if err := s.client.List(ctx, &records, client.Limit(500)); err == nil {
		for _, r := range records.Items {
			namespaces[r.Namespace] = true
		}
	}
	var deletions sync.WaitGroup
	for ns := range namespaces {
		for _, o := range []client.Object{&kubizone.Zone{}, &kubizone.Record{}, &zonefold.ZoneSlice{}} {
			deletions.Go(func() { _ = s.client.DeleteAllOf(ctx, o, client.InNamespace(ns)) })
		}
	}
	deletions.Wait()
	_ = s.client.DeleteAllOf(ctx, &zonefold.Backend{})
	_ = s.client.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(testoperator.Namespace))
	_ = s.client.DeleteAllOf(ctx, &coordinationv1.Lease{}, client.InNamespace(testoperator.Namespace))
}

func (s *scene) ensureNamespace(name string, labels ...string) {
	s.t.Helper()
	ns := &corev1.Namespace{}
	ns.Name = name
	for i := 0; i+1 < len(labels); i += 2 {
		ns.Labels = map[string]string{labels[i]: labels[i+1]}
	}
	if err := s.client.Create(s.ctx, ns); err != nil && !apierrors.IsAlreadyExists(err) {
		s.t.Fatal(err)
	}
}

// start runs the operator with more flags, under its role and without election.
func (s *scene) start(args ...string) {
	s.t.Helper()
	s.startWith(testoperator.Options{Args: args, NoElection: true})
}

func (s *scene) startWith(o testoperator.Options) {
	s.t.Helper()
	p, err := s.launch(o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.op = p
}

// launch runs one more operator, which the test ends.
func (s *scene) launch(o testoperator.Options) (*testoperator.Process, error) {
	o.Path, o.Log = s.path, &s.log
	if o.Kubeconfig == "" {
		o.Kubeconfig = s.role
	}
	return testoperator.Start(o)
}

func (s *scene) kubectl(args ...string) string {
	s.t.Helper()
	out, err := s.cluster.RunKubectl(s.ctx, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *scene) kubectlQuiet(args ...string) {
	_, _ = s.cluster.RunKubectl(context.WithoutCancel(s.ctx), args...)
}

// startBIND starts a BIND with empty zones.
func (s *scene) startBIND(zones ...string) *nameserver.Server {
	s.t.Helper()
	server, err := nameserver.StartBIND(s.ctx, s.serverOptions(zones))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(server.Close)
	return server
}

// serverOptions are those of a server with empty zones.
func (s *scene) serverOptions(zones []string) nameserver.Options {
	opts := nameserver.Options{Dir: s.t.TempDir(), Keys: []nameserver.TSIG{key}}
	for _, z := range zones {
		opts.Zones = append(opts.Zones, nameserver.Zone{Name: name(s.text(z))})
	}
	return opts
}

// serve has the BIND of this test answer for more zones.
func (s *scene) serve(zones ...string) {
	s.t.Helper()
	for _, z := range zones {
		if err := s.bind.AddZone(s.ctx, nameserver.Zone{Name: name(s.text(z))}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// text puts the words of this scene into a text: "example" and, for its namespaces, "~".
func (s *scene) text(text string) string {
	return strings.NewReplacer("example", s.word, "~", s.prefix).Replace(text)
}

func name(s string) dnsname.Name {
	n, err := dnsname.Parse(s)
	if err != nil {
		panic(err)
	}
	return n
}
