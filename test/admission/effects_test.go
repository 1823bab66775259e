package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// hashes are what the statuses of Zones say.
func (s *stage) hashes(namespace string) map[string]string {
	s.t.Helper()
	var zones unstructured.UnstructuredList
	zones.SetAPIVersion("kubi.zone/v1alpha1")
	zones.SetKind("ZoneList")
	if err := s.client.List(s.ctx, &zones, client.InNamespace(namespace)); err != nil {
		s.t.Fatal(err)
	}
	out := map[string]string{}
	for i := range zones.Items {
		out[zones.Items[i].GetName()] = fmt.Sprint(zones.Items[i].GetResourceVersion(), zones.Items[i].Object["status"])
	}
	return out
}

func TestADryRunLeavesNoTrace(t *testing.T) {
	s := newStage(t)
	s.namespace("dry")
	org := parse(
		`{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: dry, name: org}, spec: {domainName: dry.org., ` +
			anyone + `}}`)
	s.store(org)
	for i := range 20 {
		s.store(record("dry", fmt.Sprint("w", i), fmt.Sprintf("w%d.sub.dry.org.", i), "A", "192.0.2.1"))
	}
	s.judged(org)
	last := record("dry", "last", "last.dry.org.", "A", "192.0.2.1")
	s.store(last)
	s.judged(last)
	before, steps, since := "", 0.0, time.Now()
	s.eventually("the statuses rest", func() bool {
		hashes, taken := fmt.Sprint(s.hashes("dry")), s.metric("zonefold_settle_seconds_count")
		if hashes != before || taken != steps {
			before, steps, since = hashes, taken, time.Now()
		}
		return steps > 0 && time.Since(since) > 2*time.Second
	})
	for _, o := range []*unstructured.Unstructured{
		parse(
			`{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: dry, name: sub}, spec: {domainName: sub.dry.org.}}`),
		record("dry", "cut", "sub.dry.org.", "NS", "ns.example.net."),
		record("dry", "new", "new.dry.org.", "A", "192.0.2.1"),
		parse(
			`{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: dry, name: org}, spec: {domainName: other.org.}}`),
	} {
		s.said.take()
		s.eventually("something is said of "+o.GetName(), func() bool { // an answer that is late is none
			if err := s.put(o, true); err != nil {
				t.Fatal(err)
			}
			return len(s.said.take()) > 0
		})
	}
	if now := fmt.Sprint(s.hashes("dry")); now != before {
		t.Errorf("the zones were\n%s\nand are\n%s", before, now)
	}
	if now := s.metric("zonefold_settle_seconds_count"); now != steps {
		t.Errorf("the World took %v steps because of dry runs", now-steps)
	}
}

func (s *stage) metric(name string) float64 {
	s.t.Helper()
	all, err := s.operator.Metrics(name)
	if err != nil {
		s.t.Fatal(err)
	}
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum
}

func TestWithoutAnOperatorNothingLocksUp(t *testing.T) {
	s := newStage(t)
	s.namespace("down")
	org := parse(
		`{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: down, name: org}, spec: {domainName: down.org., ` + anyone + `}}`)
	www := record("down", "www", "www.down.org.", "A", "192.0.2.1")
	s.store(org)
	s.store(www)
	s.judged(www)
	class :=
		parse(
			`{apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSClass, metadata: {name: down}, spec: {server: "http://127.0.0.1:1"}}`)
	hooked := parse(`{apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSRecord, metadata: {namespace: down, name: hooked},
		spec: {dnsClassRef: {name: down}, type: A, domain: down.org, subdomain: hooked, values: [192.0.2.1]}}`)
	s.store(class)
	s.store(hooked)
	s.judged(hooked)
	s.operator.Stop()

	if err := s.client.Create(s.ctx, record("down", "bad", "bad.down.org.", "A", "not an address")); err != nil {
		t.Errorf("creating: %v", err)
	}
	www = record("down", "www", "www.down.org.", "A", "192.0.2.2")
	if err := s.put(www, false); err != nil {
		t.Errorf("updating: %v", err)
	}
	if err := s.client.Delete(s.ctx, www); err != nil {
		t.Errorf("deleting: %v", err)
	}
	held := record("down", "held", "held.down.org.", "A", "192.0.2.1")
	held.SetFinalizers([]string{"example.org/held"})
	s.store(held)
	if err := s.client.Delete(s.ctx, held); err != nil {
		t.Errorf("deleting what has a finalizer: %v", err)
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := s.client.Patch(s.ctx, held, patch); err != nil {
		t.Errorf("removing a finalizer: %v", err)
	}
	astray := parse(`{apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSRecord, metadata: {namespace: down, name: astray},
		spec: {dnsClassRef: {name: none}, type: A, domain: down.org, subdomain: astray, values: [no address]}}`)
	if err := s.client.Create(s.ctx, astray); err != nil {
		t.Errorf("creating a DNSRecord: %v", err)
	}
	if err := s.client.Patch(s.ctx, hooked, client.RawPatch("application/merge-patch+json",
		[]byte(`{"spec":{"ttl":60}}`))); err != nil {
		t.Errorf("changing a DNSRecord: %v", err)
	}
	for _, o := range []*unstructured.Unstructured{hooked, class} {
		if err := s.client.Delete(s.ctx, o); err != nil {
			t.Errorf("deleting a %s: %v", o.GetKind(), err)
		}
	}
	for _, o := range []*unstructured.Unstructured{org, hooked, class} {
		if err := s.client.Patch(s.ctx, o, patch); client.IgnoreNotFound(err) != nil {
			t.Errorf("removing a finalizer of ours from a %s: %v", o.GetKind(), err)
		}
	}
	if err := s.client.Delete(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "down"}}); err != nil {
		t.Errorf("deleting the namespace: %v", err)
	}
	s.eventually("the namespace is gone", func() bool {
		return apierrors.IsNotFound(s.client.Get(s.ctx, client.ObjectKey{Name: "down"}, &corev1.Namespace{}))
	})
}

func TestWhatWasStoredBeforeMayStayAndGo(t *testing.T) {
	s := newStage(t)
	s.operator.Stop()
	s.namespace("old")
	bad := record("old", "bad", "bad.old.org.", "A", "not an address")
	held := record("old", "held", "held.old.org.", "A", "not an address")
	held.SetFinalizers([]string{"example.org/held"})
	zone := parse(`{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: old, name: org}, spec: {domainName: old.org.,
		delegations: [{namespaces: [x], until: tomorrow}]}}`)
	for _, o := range []client.Object{bad, held, zone} {
		s.store(o)
	}
	s.start()
	s.judged(bad) // the controllers are right without admission
	reason, _, _ := unstructured.NestedSlice(bad.Object, "status", "conditions")
	if !strings.Contains(fmt.Sprint(reason), "InvalidData") {
		t.Errorf("a bad Record is told %v", reason)
	}

	bad.SetLabels(map[string]string{"a": "b"})
	if err := s.client.Update(s.ctx, bad); err != nil {
		t.Errorf("labelling it: %v", err)
	}
	s.said.take()
	ttl := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"ttl":60}}`))
	if err := s.client.Patch(s.ctx, bad, ttl); err != nil {
		t.Errorf("changing something else: %v", err)
	}
	if said := s.said.take(); len(said) != 1 || !strings.Contains(said[0], "has rdata that cannot be read") {
		t.Errorf("changing something else is told %q", said)
	}
	if err := s.client.Patch(s.ctx, zone, ttl); err != nil {
		t.Errorf("changing something else of a Zone: %v", err)
	}
	worse := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"rdata":"no address either"}}`))
	if err := s.client.Patch(s.ctx, bad, worse); err == nil || !strings.Contains(err.Error(),
		"has rdata that cannot be read") {
		t.Errorf("a new fault is answered %v", err)
	}
	if err := s.client.Delete(s.ctx, held); err != nil {
		t.Errorf("deleting: %v", err)
	}
	if err := s.client.Patch(s.ctx, held, client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Errorf("removing the finalizer: %v", err)
	}
	s.eventually("the Record is gone", func() bool {
		return apierrors.IsNotFound(s.client.Get(s.ctx, client.ObjectKeyFromObject(held), held))
	})
}

func TestTheCertificateIsRenewedWhileRequestsFlow(t *testing.T) {
	s := newStage(t, "--admission-certificate-lifetime=15s")
	s.namespace("flow")
	s.strict()
	first, seen := s.secret(), map[string]bool{}
	var asked, failed atomic.Int64
	var clients sync.WaitGroup
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	for i := range 4 {
		clients.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				asked.Add(1)
				err := s.client.Create(s.ctx, record("flow", fmt.Sprintf("r%d", i), "www.flow.org.", "A", "nonsense"),
					client.DryRunAll)
				if err == nil || !strings.Contains(err.Error(), "has rdata that cannot be read") {
					failed.Add(1)
					t.Errorf("while the certificate is renewed: %v", err)
				}
			}
		})
	}
	s.eventually("two renewals", func() bool {
		seen[string(s.secret().Data["tls.crt"])] = true
		return len(seen) == 3
	})
	// The one that was first is not trusted any more when it has come to its end.
	s.eventually("the first one is forgotten", func() bool {
		return !strings.Contains(string(s.secret().Data["ca.crt"]), string(first.Data["tls.crt"]))
	})
	stop()
	clients.Wait()
	t.Logf("%d requests, %d failed, during %d certificates", asked.Load(), failed.Load(), len(seen))
}

// strict has the API server refuse what nobody reviews, so that a failure is seen.
func (s *stage) strict() {
	s.t.Helper()
	s.eventually("the configuration is strict", func() bool {
		var c admissionregistrationv1.ValidatingWebhookConfiguration
		if err := s.client.Get(s.ctx, client.ObjectKey{Name: "zonefold"}, &c); err != nil {
			s.t.Fatal(err)
		}
		fail := admissionregistrationv1.Fail
		for i := range c.Webhooks {
			c.Webhooks[i].FailurePolicy = &fail
		}
		return s.client.Update(s.ctx, &c) == nil
	})
}

func (s *stage) secret() *corev1.Secret {
	s.t.Helper()
	var secret corev1.Secret
	if err := s.client.Get(s.ctx, client.ObjectKey{Namespace: testoperator.Namespace, Name: "zonefold-admission"},
		&secret); err != nil {
		s.t.Fatal(err)
	}
	return &secret
}

func TestReviewsAreQuickAndTakeLargeObjects(t *testing.T) {
	s := newStage(t)
	s.namespace("big")
	s.strict()
	org := parse(
		`{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: big, name: org}, spec: {domainName: big.org., ` +
			anyone + `}}`)
	s.store(org)
	s.judged(org)
	var rules []any
	for i := range 1000 { // as many as the schema allows
		rules = append(rules, map[string]any{
			"namespaces": []any{strings.Repeat("n", 60)},
			"records":    []any{map[string]any{"pattern": fmt.Sprintf("%s-%d", strings.Repeat("a", 55), i)}},
		})
	}
	large :=
		parse(
			`{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: big, name: large}, spec: {domainName: large.org.}}`)
	if err := unstructured.SetNestedSlice(large.Object, rules, "spec", "delegations"); err != nil {
		t.Fatal(err)
	}
	change := func(patch string) func() error {
		return func() error {
			return s.client.Patch(s.ctx, large, client.RawPatch(types.MergePatchType, []byte(patch)))
		}
	}
	s.reviewed("a large Zone", func() error { return s.client.Create(s.ctx, large) })
	s.reviewed("labelling a large Zone", change(`{"metadata":{"labels":{"a":"b"}}}`))
	s.reviewed("changing a large Zone", change(`{"spec":{"ttl":60}}`))
	s.latencies("with", 300)
	s.operator.Stop()
	if err := s.client.Delete(s.ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "zonefold"}}); err != nil {
		t.Fatal(err)
	}
	s.eventually("nobody is asked", func() bool {
		return s.client.Create(s.ctx, record("big", "bad", "www.big.org.", "A", "nonsense"), client.DryRunAll) == nil
	})
	s.latencies("without", 300)
}

// reviewed writes something that is to pass its review. A machine that does much else may have the API server wait for
// longer than it waits for any, and the author try again.
func (s *stage) reviewed(what string, write func() error) {
	s.t.Helper()
	s.eventually(what, func() bool {
		err := write()
		if err != nil && !apierrors.IsInternalError(err) {
			s.t.Fatalf("%s: %.200v", what, err)
		}
		return err == nil
	})
}

// latencies measures dry runs of one Record, one after another.
func (s *stage) latencies(what string, n int) {
	s.t.Helper()
	var took []time.Duration
	for i := range n {
		began := time.Now()
		if err := s.client.Create(s.ctx, record("big", fmt.Sprint("r", i), fmt.Sprintf("r%d.big.org.", i), "A", "192.0.2.1"),
			client.DryRunAll); err != nil {
			s.t.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	s.t.Logf("creating a Record %s reviews: p50 %s, p99 %s", what, took[n/2], took[n*99/100])
}
