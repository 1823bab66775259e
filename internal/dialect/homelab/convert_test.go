package homelab_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/zone"
)

// TestAsManyValuesAsTheProtocolHas is about every World, that of the command line as well.
func TestAsManyValuesAsTheProtocolHas(t *testing.T) {
	w := zone.New(zone.Options{})
	w.PutZone(homelab.ConvertClass(&v1alpha1.DNSClass{ObjectMeta: metav1.ObjectMeta{Name: "dns"},
		Spec: v1alpha1.DNSClassSpec{Server: "http://dns:7100"}}))
	put := func(name string, values int) zone.ID {
		priority := int32(10)
		r := &v1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
		r.Spec = v1alpha1.DNSRecordSpec{Type: "MX", Domain: "example.com", Subdomain: "@",
			Metadata: &v1alpha1.RecordMetadata{Priority: &priority}}
		r.Spec.DNSClassRef.Name = "dns"
		for i := range values {
			r.Spec.Values = append(r.Spec.Values, fmt.Sprintf("%s%d.example.net", name, i))
		}
		claim, _ := homelab.ConvertRecord(r)
		w.PutClaim(claim)
		w.Settle()
		return claim.ID
	}
	if v, _ := w.Verdict(put("a", dnshook.MaxValues)); !v.Accepted {
		t.Errorf("one with as many values as the protocol has is refused: %s", v.Message)
	}
	if v, _ := w.Verdict(put("b", 1)); v.Accepted || v.Reason != zone.SetFull {
		t.Errorf("one more is %+v", v)
	}
}
