package gardener

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/api/extensions/validation"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const randomObjects = 600

// startReviewer runs the operator with its admission, of which the API server is told.
func startReviewer(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(here.Webhooks)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		var c admissionregistrationv1.ValidatingWebhookConfiguration
		if err := yaml.Unmarshal([]byte(part), &c); err != nil {
			t.Fatal(err)
		}
		if c.Kind != "ValidatingWebhookConfiguration" {
			continue
		}
		for i := range c.Webhooks {
			url := "https://" + here.Admission + *c.Webhooks[i].ClientConfig.Service.Path
			c.Webhooks[i].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url}
		}
		c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		if err := here.client.Create(t.Context(), &c); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = here.client.Delete(context.Background(), &c) })
	}
	startOperator(t, "--gardener-admission", "--admission-bind-address="+here.Admission, "--admission-names=127.0.0.1")
	eventually(t, "the operator reviews objects", func() bool {
		o := &extensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "probe"}, Spec: goodSpec(
			"wrong name")}
		return here.client.Create(t.Context(), o, client.DryRunAll) != nil
	})
}

func goodSpec(name string) extensionsv1alpha1.DNSRecordSpec {
	s := extensionsv1alpha1.DNSRecordSpec{Name: name, RecordType: typeA, Values: []string{"192.0.2.1"}}
	s.Type, s.SecretRef.Name = "powerdns", "credentials"
	return s
}

// TestAdmissionIsGardeners compares what is stored with what Gardener's own validation would let through.
func TestAdmissionIsGardeners(t *testing.T) {
	startReviewer(t)
	r := random(t)
	t.Run("new objects", func(t *testing.T) {
		refused := 0
		for range randomObjects {
			o := randomRecord(r)
			want := validation.ValidateDNSRecord(o)
			got := here.client.Create(t.Context(), o.DeepCopy(), client.DryRunAll)
			if (len(want) > 0) != (got != nil) {
				t.Errorf("%s\nis answered with %v, by Gardener with %v", text(o), got, want.ToAggregate())
			}
			if got != nil {
				refused++
			}
		}
		if refused < randomObjects/10 || refused > randomObjects*9/10 {
			t.Errorf("%d of %d objects were refused: that proves little", refused, randomObjects)
		}
	})
	t.Run("changed objects", func(t *testing.T) {
		refused := 0
		for i := range randomObjects {
			if i%10 == 0 {
				newStored(t, r.Uint32(), i%20 == 0)
			}
			old := stored(t)
			o := old.DeepCopy()
			mutate(o, func() extensionsv1alpha1.DNSRecordSpec { return randomSpec(r) }, r.IntN)
			want := validation.ValidateDNSRecordUpdate(o, old)
			got := here.client.Update(t.Context(), o.DeepCopy(), client.DryRunAll)
			if (len(want) > 0) != (got != nil) {
				t.Errorf("%s\n(deleted: %v), changed to\n%s\nis answered with %v, by Gardener with %v", text(old),
					old.DeletionTimestamp != nil, text(o), got, want.ToAggregate())
			}
			if got != nil {
				refused++
			}
		}
		if refused < randomObjects/10 || refused > randomObjects*9/10 {
			t.Errorf("%d of %d changes were refused: that proves little", refused, randomObjects)
		}
	})
}

func text(o *extensionsv1alpha1.DNSRecord) string {
	out, err := yaml.Marshal(o.Spec)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

const storedName = "stored"

// newStored stores an object that the operator leaves alone, and has somebody delete it or not.
func newStored(t *testing.T, number uint32, deleted bool) {
	t.Helper()
	drop(t, "default", storedName)
	o := &extensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: storedName, Finalizers: []string{"example.com/hold"},
		Annotations: map[string]string{"gardener.cloud/operation": "wait-for-state"},
	}}
	o.Spec = goodSpec(fmt.Sprintf("n%d.example.com", number))
	if number%3 == 0 {
		o.Spec.Zone, o.Spec.TTL = ptr.To("Z"), ptr.To[int64](60)
	}
	if err := here.client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { drop(t, "default", storedName) })
	if deleted {
		if err := here.client.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func stored(t *testing.T) *extensionsv1alpha1.DNSRecord {
	t.Helper()
	o := &extensionsv1alpha1.DNSRecord{}
	if err := here.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: storedName}, o); err != nil {
		t.Fatal(err)
	}
	return o
}

// drop deletes an object without anybody's consent.
func drop(t *testing.T, namespace, name string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	o := &extensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if here.client.Get(ctx, client.ObjectKeyFromObject(o), o) != nil {
		return
	}
	err := here.client.Patch(ctx, o, client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"finalizers":null}}`)))
	if err == nil {
		err = here.client.Delete(ctx, o)
	}
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
}

// mutate changes one field or two, or none.
func mutate(o *extensionsv1alpha1.DNSRecord, spec func() extensionsv1alpha1.DNSRecordSpec, intN func(int) int) {
	for range intN(3) {
		other := spec()
		switch intN(9) {
		case 0:
			o.Spec.Type = other.Type
		case 1:
			o.Spec.SecretRef = other.SecretRef
		case 2:
			o.Spec.Region = other.Region
		case 3:
			o.Spec.Zone = other.Zone
		case 4:
			o.Spec.Name = other.Name
		case 5:
			o.Spec.RecordType = other.RecordType
		case 6:
			o.Spec.Values = other.Values
		case 7:
			o.Spec.TTL = other.TTL
		case 8:
			o.Labels = map[string]string{"a": "b"}
		}
	}
}
