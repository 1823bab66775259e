package homelab

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

func TestAWriteTakesBackWhatOneThatWasNotAnsweredMayHaveSaid(t *testing.T) {
	place := v1alpha1.Applied{Class: "dns", Type: "A", Domain: "example.com", Subdomain: "www", Confirmed: true}
	promising := place
	promising.Hash = "h"
	for _, c := range []struct {
		sentence    string
		known, next *v1alpha1.Applied
		promised    string
		want        any // of the hash in the patch; false: the patch says nothing of the place
	}{
		{"a hash that may be there goes, although none is known to be", &place, &place, "h", nil},
		{"so does all that was said of a place that is left", nil, nil, "h", nil},
		{"what may be there is said again", &place, &promising, "h", "h"},
		{"nothing is written where nothing can have changed", &promising, &promising, "h", false},
		{"nor where nothing was promised", &place, &place, "", false},
	} {
		r := load(&v1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Generation: 1}, Status: v1alpha1.DNSRecordStatus{Applied: c.known, ObservedGeneration: 1}})
		if r.promise = (promise{}); c.promised != "" {
			r.promise = promise{c.promised, 1}
		}
		said, named := r.patchTo(v1alpha1.DNSRecordStatus{Applied: c.next, ObservedGeneration: 1})["applied"]
		var got any = named
		if named {
			applied, _ := said.(map[string]any)
			got = applied["hash"]
		}
		if got != c.want {
			t.Errorf("%s: the patch says %v, want %v", c.sentence, got, c.want)
		}
	}
}
