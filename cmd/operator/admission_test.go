package main

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistration "k8s.io/api/admissionregistration/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/config/crd"
	"github.com/zonefold/zonefold/internal/controller/backends"
	"github.com/zonefold/zonefold/internal/controller/bindy"
	"github.com/zonefold/zonefold/internal/controller/homelab"
	"github.com/zonefold/zonefold/internal/controller/kubizone"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// plurals are the names in URLs, by group and kind, of everything that has a definition.
func plurals(t *testing.T) map[string]string {
	t.Helper()
	files, err := fs.Glob(crd.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		text, err := crd.Files.ReadFile(file)
		var d apiextensions.CustomResourceDefinition
		if err == nil {
			err = yaml.Unmarshal(text, &d)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out[d.Spec.Group+" "+d.Spec.Names.Kind] = d.Spec.Names.Plural
	}
	return out
}

func TestTheAPIServerAsksAboutWhatAdmissionExamines(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	examiners := append(kubizone.Examiners(nil), backends.Source{}.Examiner(nil, true))
	examiners = append(append(examiners, homelab.Examiners(homelab.Reviews{})...), (&bindy.Controller{}).Examiners()...)
	names, labels := plurals(t), map[string]bool{}
	var examined, asked []string
	for _, e := range examiners {
		gvk, err := apiutil.GVKForObject(e.Kind, scheme)
		if err != nil {
			t.Fatal(err)
		}
		examined = append(examined, gvk.Group+" "+names[gvk.Group+" "+gvk.Kind])
		labels[gvk.Group] = labels[gvk.Group] || e.Labels
	}
	text, err := testoperator.Template(t.Context(), "dialects.kubizone=true,dialects.bindy=true,dialects.homelab=true",
		"webhook.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(text, "\n---\n") {
		var hooks admissionregistration.ValidatingWebhookConfiguration
		if err := yaml.Unmarshal([]byte(part), &hooks); err != nil || hooks.Kind != "ValidatingWebhookConfiguration" {
			continue
		}
		for _, w := range hooks.Webhooks {
			for _, rule := range w.Rules {
				for _, resource := range rule.Resources {
					asked = append(asked, rule.APIGroups[0]+" "+resource)
				}
				by := slices.ContainsFunc(w.MatchConditions, func(c admissionregistration.MatchCondition) bool {
					return strings.Contains(c.Expression, "labels")
				})
				if group := rule.APIGroups[0]; by != labels[group] {
					t.Errorf("that labels of %s decide is %t for the API server, and %t for admission", group, by, labels[group])
				}
			}
		}
	}
	slices.Sort(examined)
	slices.Sort(asked)
	if diff := cmp.Diff(examined, asked); diff != "" {
		t.Errorf("what admission examines, and what the chart has it asked about (-admission +chart):\n%s", diff)
	}
}
