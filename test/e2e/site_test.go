package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// patience is how long one test may take on a machine that does much else.
const patience = 6 * time.Minute

// restricted has a namespace refuse every pod that could do more than it needs.
const restricted = "pod-security.kubernetes.io/enforce"

// A site is what a test has: the cluster that all share, and a word in the names of everything that is this test's.
type site struct {
	*testing.T
	ctx        context.Context
	cluster    *testcluster.Cluster
	client     client.WithWatch
	word       string
	namespaces []string
}

var sites atomic.Int32

// installed is the operator, which all tests share.
var installed struct {
	once sync.Once
	err  error
}

// newSite begins a test that runs beside others.
func newSite(t *testing.T) *site {
	t.Helper()
	t.Parallel()
	return siteFor(t)
}

// siteFor begins a test that runs alone, before the others: it does something to what all share, or counts answers that
// did not come in time, which on a busy machine says nothing of the operator.
func siteFor(t *testing.T) *site {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience+*idle)
	t.Cleanup(cancel)
	s := &site{T: t, ctx: ctx, cluster: testcluster.ForTest(t), word: fmt.Sprintf("e%d", sites.Add(1))}
	config, err := clientcmd.BuildConfigFromFlags("", s.cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta1.AddToScheme,
		kubizone.AddToScheme, zonefold.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	installed.once.Do(func() { installed.err = testoperator.InstallChart(s.ctx, s.cluster) })
	if installed.err != nil {
		t.Fatal(installed.err)
	}
	if s.client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.leave)
	return s
}

// leave says what there is if the test failed, and begins to remove it.
func (s *site) leave() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), time.Minute)
	defer cancel()
	if s.Failed() {
		s.report(ctx)
	}
	for _, list := range []client.ObjectList{&v1beta1.ClusterBind9ProviderList{}} {
		if err := s.client.List(ctx, list); err != nil {
			s.Log(err)
		}
		for _, p := range list.(*v1beta1.ClusterBind9ProviderList).Items {
			if s.isOurs(p.Name) {
				_ = s.client.Delete(ctx, &p)
			}
		}
	}
	for _, name := range s.namespaces {
		_ = s.client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
}

// report logs the objects, events and logs of a test that failed.
func (s *site) report(ctx context.Context) {
	say := func(args ...string) {
		out, err := s.cluster.RunKubectl(ctx, args...)
		s.Logf("$ kubectl %s\n%s", strings.Join(args, " "), out)
		if err != nil {
			s.Log(err)
		}
	}
	say("get", "clusterbind9providers,bind9clusters,bind9instances", "-A", "-o", "wide")
	for _, name := range s.namespaces {
		say("get", "all,secrets,configmaps,pdb", "-n", name, "-o", "wide")
		say("get", "bind9clusters,bind9instances,dnszones,arecords,txtrecords", "-n", name, "-o",
			`jsonpath={range .items[*]}{.metadata.name}: {.status.conditions}{"\n"}{end}`)
		say("describe", "pods", "-n", name)
		say("get", "events", "-n", name, "--sort-by=.lastTimestamp")
		say("logs", "-n", name, "-l", "app=bind9", "--all-containers", "--prefix", "--tail=40", "--max-log-requests=50")
	}
	out, err := s.cluster.RunKubectl(ctx, "logs", "-n", testoperator.Namespace, "-l",
		"app.kubernetes.io/name=zonefold-operator", "--prefix", "--tail=-1")
	if err != nil {
		s.Log(err)
	}
	var about []string
	for line := range strings.Lines(out) {
		if strings.Contains(line, s.word+"-") || strings.Contains(line, `"`+s.word+`"`) || strings.Contains(line, "panic") {
			about = append(about, line)
		}
	}
	s.Logf("the operator's log about it:\n%s", strings.Join(about[max(0, len(about)-60):], ""))
	var last strings.Builder
	writes := s.writes()
	for _, w := range writes[max(0, len(writes)-60):] {
		fmt.Fprintf(&last, "%s %s\n", w.At.Format(time.StampMilli), w)
	}
	s.Logf("the operator's last writes about it:\n%s", &last)
}

func (s *site) isOurs(name string) bool { return name == s.word || strings.HasPrefix(name, s.word+"-") }

// namespace makes a namespace of this test and returns its name.
func (s *site) namespace(name string) string {
	s.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.word + "-" + name,
		Labels: map[string]string{restricted: "restricted"}}}
	if err := s.client.Create(s.ctx, ns); err != nil {
		s.Fatal(err)
	}
	s.namespaces = append(s.namespaces, ns.Name)
	return ns.Name
}

// apply is what a person does with kubectl apply.
func (s *site) apply(manifest string, args ...any) {
	s.Helper()
	for document := range strings.SplitSeq(fmt.Sprintf(manifest, args...), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &object.Object); err != nil {
			s.Fatalf("%v in\n%s", err, document)
		}
		if err := s.client.Apply(s.ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("person"),
			client.ForceOwnership); err != nil {
			s.Fatal(err)
		}
	}
}

// patch is what a person does with kubectl patch.
func (s *site) patch(object client.Object, body string) {
	s.Helper()
	if err := s.client.Patch(s.ctx, object, client.RawPatch(types.MergePatchType, []byte(body)),
		client.FieldOwner("person")); err != nil {
		s.Fatal(err)
	}
}

func (s *site) remove(object client.Object) {
	s.Helper()
	if err := s.client.Delete(s.ctx, object); err != nil {
		s.Fatal(err)
	}
}

// get reads an object by what its metadata say, and reports whether it is there.
func (s *site) get(object client.Object) bool {
	s.Helper()
	err := s.client.Get(s.ctx, client.ObjectKeyFromObject(object), object)
	if client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	return err == nil
}

// must reads an object that has to be there.
func must[T client.Object](s *site, object T, namespace, name string) T {
	s.Helper()
	object.SetNamespace(namespace)
	object.SetName(name)
	if !s.get(object) {
		s.Fatalf("there is no %T %s/%s", object, namespace, name)
	}
	return object
}

// eventually waits until check has nothing to complain of.
func (s *site) eventually(what string, check func() string) {
	s.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		complaint := check()
		if complaint == "" {
			return
		}
		select {
		case <-s.ctx.Done():
			s.Fatalf("%s: %s", what, complaint)
		case <-tick.C:
		}
	}
}
