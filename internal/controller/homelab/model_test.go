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
	r.wrote(at("9")) // a status; the finalizer went with 8, which the cache brings when 9 is known already
	if r.finalized {
		t.Error("the finalizer is thought to be there")
	}
}
