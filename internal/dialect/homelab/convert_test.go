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
	w := worldOfMail()
	many := make([]string, dnshook.MaxValues)
	for i := range many {
		many[i] = fmt.Sprintf("a%d.example.net", i)
	}
	if v := w.put("a", many...); !v.Accepted {
		t.Errorf("one with as many values as the protocol has is refused: %s", v.Message)
	}
	if v := w.put("b", "b.example.net"); v.Accepted || v.Reason != zone.SetFull {
		t.Errorf("one more is %+v", v)
	}
}

func TestNoMailAtAllStandsAlone(t *testing.T) {
	for _, c := range []struct{ sentence, older, younger string }{
		{"beside a mail server", "mail.example.com", "."},
		{"a mail server beside it", ".", "mail.example.com"},
	} {
		w := worldOfMail()
		if v := w.put("a", c.older); !v.Accepted {
			t.Errorf("%s: the older one is refused: %s", c.sentence, v.Message)
		}
		if v := w.put("b", c.younger); v.Accepted || v.Reason != zone.Conflict {
			t.Errorf("%s: the younger one is %+v", c.sentence, v)
		}
		if v := w.put("c", c.older); !v.Accepted {
			t.Errorf("%s: one that says the same is refused: %s", c.sentence, v.Message)
		}
	}
}

// mail is a world with one DNSClass.
type mail struct{ *zone.World }

func worldOfMail() mail {
	w := zone.New(zone.Options{})
	w.PutZone(homelab.ConvertClass(&v1alpha1.DNSClass{ObjectMeta: metav1.ObjectMeta{Name: "dns"},
		Spec: v1alpha1.DNSClassSpec{Server: "http://dns:7100"}}))
	return mail{w}
}

// put has a DNSRecord ask for mail servers of example.com.
func (m mail) put(name string, values ...string) zone.Verdict {
	priority := int32(0)
	r := &v1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
	r.Spec = v1alpha1.DNSRecordSpec{Type: "MX", Domain: "example.com", Subdomain: "@", Values: values,
		Metadata: &v1alpha1.RecordMetadata{Priority: &priority}}
	r.Spec.DNSClassRef.Name = "dns"
	claim, _ := homelab.ConvertRecord(r)
	m.PutClaim(claim)
	m.Settle()
	v, _ := m.Verdict(claim.ID)
	return v
}
