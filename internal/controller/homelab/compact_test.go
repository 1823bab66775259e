package homelab

import (
	"strings"
	"testing"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// TestWhatNobodyReadsTakesNoMemory: an object may have a quarter of a megabyte of annotations, and any number of
// labels.
func TestWhatNobodyReadsTakesNoMemory(t *testing.T) {
	var r v1alpha1.DNSRecord
	r.Annotations = map[string]string{v1alpha1.DeletionPolicyAnnotation: v1alpha1.DeletionPolicyOrphan,
		"example.org/note": "x"}
	r.Labels = map[string]string{"example.org/label": "x"}
	if _, err := CacheOptions(nil).DefaultTransform(&r); err != nil {
		t.Fatal(err)
	}
	if len(r.Annotations) != 1 || r.Annotations[v1alpha1.DeletionPolicyAnnotation] == "" || len(r.Labels) > 0 {
		t.Errorf("it keeps %v and %v", r.Annotations, r.Labels)
	}
}

// TestTheMarkGoesWithTheFirstStatus: until there is one, the mark is all that tells where a record may be.
func TestTheMarkGoesWithTheFirstStatus(t *testing.T) {
	transform := CacheOptions(nil).DefaultTransform
	for _, begun := range []bool{false, true} {
		r := &v1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			v1alpha1.AppliedAnnotation: "dns A example.com www"}}}
		if begun {
			r.Status.State = v1alpha1.StatePending
		}
		if _, err := transform(r); err != nil {
			t.Fatal(err)
		}
		if kept := markOf(r) != nil; kept == begun {
			t.Errorf("with a status: %t; it is kept: %t", begun, kept)
		}
	}
}

// TestWhatManyRecordsHaveInCommonTakesItsMemoryOnce looks where the texts are, and how long the lists.
func TestWhatManyRecordsHaveInCommonTakesItsMemoryOnce(t *testing.T) {
	transform := CacheOptions(nil).DefaultTransform
	text := strings.Clone
	var all []*v1alpha1.DNSRecord
	for range 2 {
		r := &v1alpha1.DNSRecord{
			ObjectMeta: metav1.ObjectMeta{Namespace: text("team"),
				Finalizers: append(make([]string, 0, 4), text(v1alpha1.Finalizer))},
			Spec: v1alpha1.DNSRecordSpec{Domain: text("example.com"), Subdomain: text("www"),
				Values: append(make([]string, 0, 4), "192.0.2.1")},
			Status: v1alpha1.DNSRecordStatus{
				Conditions: append(make([]metav1.Condition, 0, 4), metav1.Condition{Type: "Ready", Reason: text("RecordCreated")}),
				Applied:    &v1alpha1.Applied{Server: text("http://dns:7100"), Domain: text("example.com"), Subdomain: text("www")},
			},
		}
		if _, err := transform(r); err != nil {
			t.Fatal(err)
		}
		if cap(r.Spec.Values) != 1 || cap(r.Status.Conditions) != 1 || cap(r.Finalizers) != 1 {
			t.Errorf("its lists have room for %d, %d and %d", cap(r.Spec.Values), cap(r.Status.Conditions), cap(r.Finalizers))
		}
		all = append(all, r)
	}
	one, two := all[0], all[1]
	for _, c := range []struct{ what, one, two string }{
		{"namespace", one.Namespace, two.Namespace},
		{"domain", one.Spec.Domain, two.Spec.Domain},
		{"domain that was applied", one.Spec.Domain, two.Status.Applied.Domain},
		{"subdomain that was applied", one.Spec.Subdomain, one.Status.Applied.Subdomain},
		{"server", one.Status.Applied.Server, two.Status.Applied.Server},
		{"reason", one.Status.Conditions[0].Reason, two.Status.Conditions[0].Reason},
		{"finalizer", one.Finalizers[0], two.Finalizers[0]},
	} {
		if c.one != c.two || unsafe.StringData(c.one) != unsafe.StringData(c.two) {
			t.Errorf("the %s is there twice: %q and %q", c.what, c.one, c.two)
		}
	}
}
