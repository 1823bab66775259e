package gardener

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/gardener/gardener/extensions/pkg/controller/dnsrecord"
	"github.com/gardener/gardener/pkg/api/extensions/v1alpha1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/kubernetes/health"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestZonesAndTTLsAreGardeners compares which hosted zones names are found in, and which TTLs they get, with what
// Gardener's extensions do, for random names among zones that are parts of each other, and some that only look so.
func TestZonesAndTTLsAreGardeners(t *testing.T) {
	nested := []string{"z.example.", "a.z.example.", "b.a.z.example.", "xa.z.example.", "z2.example.", "c.c.z.example.",
		"1.z.example."}
	known := map[string]string{} // as Gardener's extensions have them: without the final dot
	for _, z := range append(nested, zones...) {
		known[strings.TrimSuffix(z, ".")] = z
	}
	for _, z := range nested {
		powerdnsCall(t, http.MethodPost, "/zones",
			fmt.Sprintf(`{"name":%q,"kind":"Native","nameservers":["ns.example."],"soa_edit_api":""}`, z))
		t.Cleanup(func() { powerdnsCall(t, http.MethodDelete, "/zones/"+z, "") })
	}
	startOperator(t)
	r := random(t)
	service := providers()[0]
	ns := newShoot(t, "zones")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "credentials"}, Data: service.secret}
	if err := here.client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	var objects []*extensionsv1alpha1.DNSRecord
	for i := range 150 {
		name := ""
		for range r.IntN(4) {
			name += pick(r, "a", "b", "c", "xa", "1") + "."
		}
		o := &extensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("r%d", i)}}
		o.Spec = goodSpec(fmt.Sprintf("n%d.%s%s", i, name, pick(r, "z.example", "z.example", "z2.example", "az.example",
			"example", "example.com")))
		o.Spec.SecretRef.Namespace = ns
		o.Spec.TTL = pick(r, nil, ptr.To[int64](0), ptr.To[int64](1), ptr.To(r.Int64N(math.MaxInt32)),
			ptr.To[int64](math.MaxInt32))
		request(o, "reconcile")
		if err := here.client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	for _, o := range objects {
		eventually(t, o.Spec.Name+" is judged", func() bool {
			if err := here.client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				t.Fatal(err)
			}
			return o.Status.LastError != nil || health.CheckExtensionObject(o) == nil
		})
		want := dnsrecord.FindZoneForName(known, o.Spec.Name)
		switch {
		case want == "":
			if o.Status.LastError == nil || len(o.Status.LastError.Codes) != 1 ||
				o.Status.LastError.Codes[0] != gardencorev1beta1.ErrorConfigurationProblem || o.Status.Zone != nil {
				t.Errorf("%s is in no zone, and its status says %+v", o.Spec.Name, o.Status)
			}
		case o.Status.LastError != nil:
			t.Errorf("%s: %s", o.Spec.Name, o.Status.LastError.Description)
		default:
			if got := ptr.Deref(o.Status.Zone, ""); got != want {
				t.Errorf("%s is in the zone %q, for Gardener in %q", o.Spec.Name, got, want)
			}
			service.want(t, o.Spec.Name, "A", fmt.Sprintf("%d 192.0.2.1", helper.GetDNSRecordTTL(o.Spec.TTL)))
		}
	}
	for _, o := range objects {
		if err := here.client.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range objects {
		eventually(t, o.Spec.Name+" is gone", func() bool {
			return here.client.Get(t.Context(), client.ObjectKeyFromObject(o), o) != nil
		})
	}
}
