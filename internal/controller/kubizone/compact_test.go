package kubizone

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

func compactRecord(i int) *v1alpha1.Record {
	text := strings.Clone // of its own
	name := fmt.Sprintf("r-%d", i)
	return &v1alpha1.Record{
		TypeMeta: metav1.TypeMeta{Kind: text("Record"), APIVersion: text("kubi.zone/v1alpha1")},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: text("dns"), Labels: map[string]string{v1alpha1.ParentZoneLabel: text("example-org.dns")},
		},
		Spec: v1alpha1.RecordSpec{DomainName: name + ".example.org.", Type: "A", Class: "IN", RData: "192.0.2.1"},
		Status: v1alpha1.RecordStatus{FQDN: name + ".example.org.", ObservedGeneration: 1, Conditions: []metav1.Condition{{
			Type: text("Ready"), Status: "True", Reason: text("Ready"), Message: text("Served by bind."), ObservedGeneration: 1,
			LastTransitionTime: metav1.NewTime(time.Unix(1700000000, 0)),
		}}},
	}
}

func TestCompactingChangesNothingThatIsRead(t *testing.T) {
	compact := Compact()
	for i := range 3 {
		o := compactRecord(i)
		o.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		o.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "example.org/note": "of nobody's concern"}
		o.Labels["example.org/label"] = "likewise"
		got, err := compact(o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(compactRecord(i), got); diff != "" {
			t.Errorf("compacted (-want +got):\n%s", diff)
		}
	}
}

func TestCompactingKeepsWhatAnUpdateHasSaid(t *testing.T) {
	for _, c := range []struct {
		sentence, digest string
		want             map[string]string
	}{
		{"the message that has written a Record", "0123456789abcdef", map[string]string{
			zonefold.UpdateMessageAnnotation: "0123456789abcdef"}},
		{"no text of that name that somebody else wrote", strings.Repeat("0", maxDigest+1), map[string]string{}},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			o, of := compactRecord(1), compactRecord(2)
			o.Annotations = map[string]string{zonefold.UpdateMessageAnnotation: c.digest}
			o.Labels[zonefold.UpdateLabel] = zonefold.UpdateRFC2136
			compact := Compact()
			for _, r := range []*v1alpha1.Record{of, o} {
				if _, err := compact(r); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(c.want, o.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if o.Labels[zonefold.UpdateLabel] != zonefold.UpdateRFC2136 || of.Labels[zonefold.UpdateLabel] != "" {
				t.Errorf("the labels are %v, and those of a Record of somebody %v", o.Labels, of.Labels)
			}
		})
	}
}

// TestWhatNobodyReadsTakesNoMemory: an object may have a quarter of a megabyte of annotations, and any number of
// labels.
func TestWhatNobodyReadsTakesNoMemory(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "a", Namespace: "b", Annotations: map[string]string{},
		Labels: map[string]string{v1alpha1.ParentZoneLabel: "x.y"}}
	for i := range 1000 {
		meta.Annotations[fmt.Sprint("example.org/note", i)] = strings.Repeat("a", 250)
		meta.Labels[fmt.Sprint("example.org/label", i)] = "a"
	}
	meta.Annotations[corev1.LastAppliedConfigAnnotation] = "{}"
	for _, o := range []client.Object{&v1alpha1.Record{ObjectMeta: meta}, &v1alpha1.Zone{ObjectMeta: meta}} {
		o := o.DeepCopyObject().(client.Object)
		if _, err := Compact()(o); err != nil {
			t.Fatal(err)
		}
		if len(o.GetAnnotations()) > 0 || len(o.GetLabels()) != 1 || o.GetLabels()[v1alpha1.ParentZoneLabel] != "x.y" {
			t.Errorf("%T keeps %d annotations and %d labels", o, len(o.GetAnnotations()), len(o.GetLabels()))
		}
	}
}

func TestRecordsThatSayTheSameShareIt(t *testing.T) {
	compact := Compact()
	a, b, later, other := compactRecord(1), compactRecord(2), compactRecord(3), compactRecord(4)
	later.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Unix(1700000001, 0))
	other.Status.Conditions[0].Message = "Refused by bind."
	other.Labels[v1alpha1.ParentZoneLabel] = "another.dns"
	for _, o := range []*v1alpha1.Record{a, b, later, other} {
		if _, err := compact(o); err != nil {
			t.Fatal(err)
		}
	}
	if &a.Status.Conditions[0] != &b.Status.Conditions[0] {
		t.Error("equal conditions are kept twice")
	}
	first := func(o *v1alpha1.Record) *byte { return unsafe.StringData(o.Status.Conditions[0].Message) }
	if first(a) != first(later) {
		t.Error("equal messages of different times are kept twice")
	}
	if &a.Status.Conditions[0] == &other.Status.Conditions[0] || len(a.Labels) != 1 ||
		other.Status.Conditions[0].Message != "Refused by bind." {
		t.Errorf("different Records share what differs: %+v, %+v", a, other)
	}
}

func TestCompactingLetsOtherThingsPass(t *testing.T) {
	for _, o := range []any{"text", toolscache.DeletedFinalStateUnknown{Key: "a/b"},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}} {
		if got, err := Compact()(o); err != nil || !cmp.Equal(got, o) {
			t.Errorf("%v became %v, %v", o, got, err)
		}
	}
}
