package homelab

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

func TestTheAnswerToAWriteTellsThatSomebodyHasRemovedTheFinalizer(t *testing.T) {
	at := func(version string, finalizers ...string) *v1alpha1.DNSRecord {
		return &v1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: version, Finalizers: finalizers}}
	}
	r := load(at("7", v1alpha1.Finalizer))
	if !r.finalized {
		t.Fatal("an object with our finalizer has none")
	}
	// a status; the finalizer went with 8, which the cache brings when 9 is known already
	new(Controller).wrote(r, at("9"), r.status)
	if r.finalized {
		t.Error("the finalizer is thought to be there")
	}
}

// TestWhatIsDoneOutlivesWhatIsLeft has a record become part of another set, and its former one be removed before its
// status was written.
func TestWhatIsDoneOutlivesWhatIsLeft(t *testing.T) {
	left := v1alpha1.Applied{Class: "dns", Type: "TXT", Domain: "example.com", Subdomain: "text", Confirmed: true}
	for _, c := range []struct {
		name string
		now  string // the set that it asks for
		want v1alpha1.RecordState
	}{
		{"of what it has become part of", "MX", v1alpha1.StateUpdated},
		{"not of what the server has no more", "TXT", ""},
	} {
		r := load(&v1alpha1.DNSRecord{Status: v1alpha1.DNSRecordStatus{State: v1alpha1.StateCreated, Applied: &left}})
		r.key = slotKey{"dns", "text.example.com", c.now}
		r.done = v1alpha1.StateUpdated
		r.drop(left)
		if r.done != c.want || r.applied != nil {
			t.Errorf("%s: it is done %q, want %q", c.name, r.done, c.want)
		}
	}
}
