package soak_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	namespace = "soak"
	fleet     = "dns"
	servers   = 4                // two primaries and two secondaries
	patience  = 4 * time.Minute  // for everything to be right at the end
	readiness = 10 * time.Second // for the API server to answer one request
)

// A field is where all of it happens.
type field struct {
	*testing.T
	ctx     context.Context
	cluster *testcluster.Cluster
	client  client.Client
	kept    string // the folder of logs

	mu    sync.Mutex
	story []string // what was killed, and when
	wrong []string // what failed
}

func newField(t *testing.T) *field {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), *lasting+2*patience)
	t.Cleanup(cancel)
	f := &field{T: t, ctx: ctx, cluster: testcluster.ForTest(t)}
	config, err := clientcmd.BuildConfigFromFlags("", f.cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Timeout, config.WarningHandler = -1, readiness, rest.NoWarnings{}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	if err := testoperator.InstallChart(ctx, f.cluster); err != nil {
		t.Fatal(err)
	}
	if f.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	f.keepLogs()
	return f
}

// tell writes down what was done, for who looks for the cause of a failure.
func (f *field) tell(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.story = append(f.story, time.Now().Format(clock)+" "+fmt.Sprintf(format, args...))
}

// Error is the test's, and is told once more behind everything that is shown of a failure: who sees only its end sees
// this.
func (f *field) Error(args ...any) {
	f.Helper()
	f.T.Error(args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrong = append(f.wrong, fmt.Sprint(args...))
}

// Errorf is Error with a format.
func (f *field) Errorf(format string, args ...any) {
	f.Helper()
	f.Error(fmt.Sprintf(format, args...))
}

// Fatalf is Errorf and the end of the test.
func (f *field) Fatalf(format string, args ...any) {
	f.Helper()
	f.Error(fmt.Sprintf(format, args...))
	f.FailNow()
}

// clock is how times are shown: in UTC they are those of the logs of containers.
const clock = "15:04:05.000"

// object is one of the dialect, in the namespace of the test.
func object(kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1beta1.GroupVersion.String(), "kind": kind,
		"metadata": map[string]any{"namespace": namespace, "name": name}, "spec": spec,
	}}
}

// insist does something with the API server until it succeeds or ctx ends.
func (f *field) insist(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if !pause(ctx, 100*time.Millisecond) {
			return fmt.Errorf("%w; the last time: %w", ctx.Err(), err)
		}
	}
}

// put is what a person does with kubectl apply, for as long as it takes.
func (f *field) put(ctx context.Context, o *unstructured.Unstructured) error {
	return f.insist(ctx, func(ctx context.Context) error {
		return f.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("person"),
			client.ForceOwnership)
	})
}

// take deletes an object, for as long as it takes.
func (f *field) take(ctx context.Context, o client.Object) error {
	return f.insist(ctx, func(ctx context.Context) error { return client.IgnoreNotFound(f.client.Delete(ctx, o)) })
}

// must ends the test if something that has to succeed did not.
func (f *field) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("%v", err)
	}
}

// eventually waits until check has nothing to complain of.
func (f *field) eventually(what string, check func(context.Context) error) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.ctx, patience)
	defer cancel()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			last = err
		}
		if !pause(ctx, 250*time.Millisecond) {
			f.Fatalf("%s: %v", what, last)
		}
	}
}

// pods are those of the fleet, or of the operator.
func (f *field) pods(ctx context.Context, namespace string) ([]corev1.Pod, error) {
	var all corev1.PodList
	err := f.client.List(ctx, &all, client.InNamespace(namespace))
	return all.Items, err
}

func isReady(conditions []metav1.Condition) error {
	for _, c := range conditions {
		if c.Type == v1beta1.ConditionReady {
			if c.Status != metav1.ConditionTrue {
				return fmt.Errorf("it says %s: %s", c.Reason, c.Message)
			}
			return nil
		}
	}
	return fmt.Errorf("it does not say whether it is ready")
}

// keepLogs keeps what containers print, also of pods that are gone, for as long as the test runs and beyond if it
// fails.
func (f *field) keepLogs() {
	var err error
	if f.kept, err = os.MkdirTemp(filepath.Dir(f.cluster.Dir()), "zonefold-soak-"); err != nil {
		// where links to the logs can be
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause(ctx, 100*time.Millisecond) {
			f.linkLogs()
		}
	}()
	f.Cleanup(func() {
		cancel()
		<-done
		f.report()
	})
}

// linkLogs gives each log a second name.
func (f *field) linkLogs() {
	from := filepath.Join(f.cluster.Dir(), "node", "log", "pods")
	logs, _ := filepath.Glob(filepath.Join(from, "*", "*", "*.log"))
	for _, log := range logs {
		if name, err := filepath.Rel(from, log); err == nil {
			_ = os.Link(log, filepath.Join(f.kept, strings.ReplaceAll(name, "/", "_"))) // it has one, or went just now
		}
	}
}

// report shows what has happened, if the test failed.
func (f *field) report() {
	if !f.Failed() {
		os.RemoveAll(f.kept)
		return
	}
	f.linkLogs()
	for _, name := range []string{"kube-apiserver.log", "kubelet.log", "kube-controller-manager.log"} {
		_ = os.Link(filepath.Join(f.cluster.Dir(), name), filepath.Join(f.kept, name))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, args := range [][]string{
		{"get", "pods", "-A", "-o", "wide"}, {"get", "dnszones,bind9instances", "-n", namespace, "-o", "yaml"},
	} {
		out, err := f.cluster.RunKubectl(ctx, args...)
		f.Logf("$ kubectl %s\n%s%v", strings.Join(args, " "), out[max(0, len(out)-20_000):], err)
	}
	f.Logf("the operator's warnings:\n%s", strings.Join(f.warnings(), ""))
	f.Logf("all logs are in %s", f.kept)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Logf("what was done:\n%s", strings.Join(f.story, "\n"))
	f.Logf("what is wrong:\n%s", strings.Join(f.wrong, "\n"))
}

// warnings are what operators have warned of, in order of time.
func (f *field) warnings() []string {
	var out []string
	files, _ := filepath.Glob(filepath.Join(f.kept, testoperator.Namespace+"_*"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return append(out, err.Error())
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "because it is being terminated") { // an event of the end
				continue
			}
			if strings.Contains(line, "WARN") || strings.Contains(line, "ERROR") || strings.Contains(line, "panic") {
				out = append(out, line)
			}
		}
	}
	slices.Sort(out)
	return out[max(0, len(out)-60):]
}

// pause waits, and reports whether to go on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
