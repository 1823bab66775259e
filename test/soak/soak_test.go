package soak_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

const (
	podPort     = 5353
	servicePort = 53
	// gapAtMost is how long a client that asks all servers may wait for an answer, on a machine that does much else.
	gapAtMost = 5 * time.Second
)

// TestRandomKills kills pods, sidecars, operators and the API server at random while records change. A client that asks
// every server all the time never gets a wrong answer, and in the end every server has what is wanted.
func TestRandomKills(t *testing.T) {
	number := *seed
	if number == 0 {
		number = rand.Uint64()
	}
	t.Logf("to kill and change in this order again: -seed=%d", number)
	random := func(part uint64) *rand.Rand { return rand.New(rand.NewPCG(number, part)) }
	f := newField(t)
	l := newLoad(f, newModel(), random(1))
	w := newWitness(l)
	k := &killer{field: f, witness: w, random: random(2), times: map[string]int{}}
	f.deploy(l)
	secret := f.transferKey()
	f.settle(w, secret)

	watching, end := context.WithCancel(f.ctx)
	var parts sync.WaitGroup
	t.Cleanup(func() { end(); parts.Wait() })
	w.askServices(watching, random(3))
	parts.Go(func() { w.run(watching, random(4)) })
	parts.Go(func() { w.copyAll(watching, random(5), secret) })
	f.eventually("a server answers", func(context.Context) error {
		if !w.answering("") {
			return fmt.Errorf("none does")
		}
		return nil
	})
	changes := f.harm(l, k)

	f.must(f.take(f.ctx, object("DNSZone", objectName(passing), nil)))
	began := time.Now()
	f.settle(w, secret)
	f.tell("all is right after %s", time.Since(began).Round(time.Millisecond))
	f.isGone(w)
	end()
	parts.Wait()
	w.report(k.times["api"]+k.times["kubelet"] == 0)
	t.Logf("%d changes; ended: %v; all was right %s after the last", changes, k.times,
		time.Since(began).Round(100*time.Millisecond))
	for _, kind := range k.kinds() {
		if k.times[kind] == 0 {
			f.Errorf("nothing of the kind %s was ended", kind)
		}
	}
	f.clear()
}

// deploy makes the fleet and its zones.
func (f *field) deploy(l *load) {
	f.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted"}}}
	f.must(f.client.Create(f.ctx, ns))
	f.must(f.put(f.ctx, object("Bind9Cluster", fleet,
		map[string]any{"primaryReplicas": int64(2), "secondaryReplicas": int64(servers - 2)})))
	f.must(l.begin(f.ctx))
	f.eventually("the key of transfers", func(ctx context.Context) error {
		return f.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: fleet + "-transfer-key"}, &corev1.Secret{})
	})
}

// harm kills and changes for as long as is asked for, and returns how much has changed.
func (f *field) harm(l *load, k *killer) (changes int) {
	f.Helper()
	ctx, end := context.WithTimeout(f.ctx, *lasting)
	defer end()
	var parts sync.WaitGroup
	var failed [2]error
	parts.Go(func() { changes, failed[0] = l.run(ctx) })
	parts.Go(func() { failed[1] = k.run(ctx, k.kinds()) })
	parts.Wait()
	for _, err := range failed {
		f.must(err)
	}
	return changes
}

// kinds are the kinds of kills that are asked for.
func (k *killer) kinds() []string {
	if *only != "" {
		return strings.Split(*only, ",")
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(k.kills())), func(kind string) bool { return kind == "kubelet" })
}

// settle waits until all say that they are ready, and every server has what is wanted.
func (f *field) settle(w *witness, secret key) {
	f.Helper()
	f.eventually("everything is ready", f.ready)
	f.eventually("every server has the same", func(ctx context.Context) error { return w.alike(ctx, secret) })
	f.eventually("everything is ready", f.ready)
}

// ready complains of what does not say that it is ready.
func (f *field) ready(ctx context.Context) error {
	for _, kind := range []string{"Bind9Cluster", "Bind9Instance", "DNSZone", "ARecord", "AAAARecord", "CNAMERecord",
		"TXTRecord", "MXRecord", "SRVRecord"} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(kind + "List"))
		if err := f.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, o := range list.Items {
			if zone, _, _ := unstructured.NestedString(o.Object, "spec", "zone"); zone == passing {
				continue
			}
			status, _, _ := unstructured.NestedMap(o.Object, "status")
			var typed struct {
				ObservedGeneration int64              `json:"observedGeneration"`
				Conditions         []metav1.Condition `json:"conditions"`
			}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(status, &typed); err != nil {
				return err
			}
			if err := isReady(typed.Conditions); err != nil {
				return fmt.Errorf("%s %s: %w", kind, o.GetName(), err)
			}
			if typed.ObservedGeneration != o.GetGeneration() {
				return fmt.Errorf("%s %s tells of generation %d and not %d", kind, o.GetName(), typed.ObservedGeneration,
					o.GetGeneration())
			}
		}
	}
	return nil
}

// askServices begins to ask the Service of each instance.
func (w *witness) askServices(ctx context.Context, random *rand.Rand) {
	w.Helper()
	var all corev1.ServiceList
	w.must(w.client.List(w.ctx, &all, client.InNamespace(namespace)))
	for _, s := range all.Items {
		at, err := w.cluster.Service(w.ctx, s.Namespace, s.Name)
		w.must(err)
		w.mu.Lock()
		w.ask(ctx, &target{name: "Service " + s.Name, id: "Service " + s.Name, at: at.At(servicePort), service: true},
			random.Uint64())
		w.mu.Unlock()
	}
}

// isGone waits until no server knows the zone that comes and goes.
func (f *field) isGone(w *witness) {
	f.Helper()
	f.eventually("a zone that was deleted is gone", func(ctx context.Context) error {
		pods, err := f.pods(ctx, namespace)
		for _, p := range pods {
			at, parseErr := netip.ParseAddr(p.Status.PodIP)
			if parseErr != nil {
				return parseErr
			}
			answer := exchange(ctx, netip.AddrPortFrom(at, podPort), "tcp", question{passing, dns.TypeSOA})
			if answer == nil || answer.Rcode != dns.RcodeRefused {
				return fmt.Errorf("%s answers %v", p.Name, answer)
			}
		}
		return err
	})
}

// report complains of what no server should have said, and of silence. While the API server comes and goes, nobody
// tells Services where to lead; what clients get through them says something about pods only where it stays.
func (w *witness) report(routed bool) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, lie := range w.lies[:min(len(w.lies), 30)] {
		w.Error(lie)
	}
	w.Logf("%d answers and %d copies; %d wrong; the longest time without an answer of any pod was %s, after %s, and "+
		"through any Service %s, after %s",
		w.answers, w.copies, len(w.lies), w.pods.longest.Round(time.Millisecond), w.pods.from.Format(clock),
		w.through.longest.Round(time.Millisecond), w.through.from.Format(clock))
	if w.pods.longest > gapAtMost {
		w.Errorf("for %s no pod answered", w.pods.longest)
	}
	if routed && w.through.longest > gapAtMost {
		w.Errorf("for %s nobody answered through a Service", w.through.longest)
	}
	if w.copies == 0 || w.answers < 1000 {
		w.Error("too little was asked to show anything")
	}
}

// clear removes everything, and waits until nothing is left over.
func (f *field) clear() {
	f.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	f.must(f.take(f.ctx, ns))
	f.eventually("nothing is left over", func(ctx context.Context) error {
		err := f.client.Get(ctx, client.ObjectKeyFromObject(ns), ns)
		if err == nil {
			err = fmt.Errorf("the namespace is there: %v", ns.Status.Conditions)
		}
		return client.IgnoreNotFound(err)
	})
}
