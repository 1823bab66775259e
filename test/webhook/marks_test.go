package webhook

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// policies installs the chart's policy for new DNSRecords for the time of a test.
func (s *site) policies() {
	s.Helper()
	text, err := testoperator.Template(s.ctx, "dialects.homelab=true,homelab.marks=true", "marks.yaml")
	s.must(err)
	n := 0
	for part := range strings.SplitSeq(text, "\n---\n") {
		var o unstructured.Unstructured
		s.must(yaml.Unmarshal([]byte(part), &o.Object))
		s.must(s.live.Create(s.ctx, &o))
		s.Cleanup(func() { _ = s.live.Delete(s.Context(), &o) })
		n++
	}
	if n != 2 {
		s.Fatalf("the chart has %d objects for marks", n)
	}
}

func TestTheAPIServerMarksNewDNSRecords(t *testing.T) {
	s := newSite(t)
	hook := s.hook("--unsigned")
	s.class("hook", hook.URL, 5, nil)
	s.policies()
	place := func(o *v1alpha1.DNSRecord) string { return o.Annotations[v1alpha1.AppliedAnnotation] }
	s.eventually("the policy works", func() error {
		o := s.record("probe", "hook", "A probe 192.0.2.1")
		if err := s.live.Create(s.ctx, o, client.DryRunAll); err != nil || place(o) != "" {
			return err
		}
		return apierrors.NewBadRequest("there is no mark")
	})
	plain := s.record("plain", "hook", "A WWW 192.0.2.1")
	full := s.record("full", "hook", "TXT @ text")
	full.Finalizers = []string{"example.com/other", v1alpha1.Finalizer}
	full.Annotations = map[string]string{"a/b": "c", v1alpha1.AppliedAnnotation: "forged"}
	for o, want := range map[*v1alpha1.DNSRecord][]string{plain: {v1alpha1.Finalizer},
		full: {"example.com/other", v1alpha1.Finalizer}} {
		spec := o.Spec
		s.must(s.live.Create(s.ctx, o))
		mark := strings.Join([]string{spec.DNSClassRef.Name, string(spec.Type), spec.Domain, spec.Subdomain}, " ")
		if place(o) != mark || !slices.Equal(o.Finalizers, want) || len(o.Annotations) != len(want) {
			t.Errorf("%s has %q and %v, want %q and %q", o.Name, o.Finalizers, o.Annotations, want, mark)
		}
	}
	s.operate()
	s.settled()
	s.serves(map[string]string{"www." + zone + ". A": "300 192.0.2.1", zone + ". TXT": `300 "text"`})
	s.must(s.live.Patch(s.ctx, full, client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"finalizers":["`+v1alpha1.Finalizer+`"]}}`))))
	s.gone()
}
