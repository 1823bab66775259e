package charts_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// rules are the rights of one kind that config/rbac has for these parts, each once.
func rules(t *testing.T, kind string, parts ...string) []rbac.PolicyRule {
	t.Helper()
	var out []rbac.PolicyRule
	files := configured(t, "rbac")
	for _, part := range parts {
		for _, text := range documents(string(files[part+".yaml"])) {
			var role struct {
				Kind  string            `json:"kind"`
				Rules []rbac.PolicyRule `json:"rules"`
			}
			if err := yaml.Unmarshal([]byte(text), &role); err != nil {
				t.Fatal(err)
			}
			for _, rule := range role.Rules {
				if role.Kind == kind && !slices.ContainsFunc(out, func(r rbac.PolicyRule) bool { return cmp.Equal(r, rule) }) {
					out = append(out, rule)
				}
			}
		}
	}
	return out
}

func TestADialectBringsItsSchemasAndRightsAndNoOthers(t *testing.T) {
	for _, on := range [][]string{{"bindy", "gardener", "homelab", "kubizone"}, {"bindy", "kubizone"}, {"kubizone"},
		{"bindy"}, {"homelab"}, {"gardener"}} {
		t.Run(strings.Join(on, " and "), func(t *testing.T) {
			r := mustRender(t, only(on...))
			parts, schemas := []string{"controller"}, map[string]string{}
			for _, name := range on {
				parts = append(parts, dialects[name].rights...)
				for file, text := range configured(t, "crd") {
					if group, _, _ := strings.Cut(file, "_"); slices.Contains(dialects[name].groups, group) && !dialects[name].apart ||
						file == dialects[name].shared {
						schemas[file] = string(text)
					}
				}
			}
			parts = append(parts, reviews)
			if diff := cmp.Diff(rules(t, "ClusterRole", parts...),
				find[*rbac.ClusterRole](t, r, "ClusterRole zonefold-operator").Rules); diff != "" {
				t.Errorf("the ClusterRole is not config/rbac of %v (-config +chart):\n%s", parts, diff)
			}
			if diff := cmp.Diff(rules(t, "Role", parts...), find[*rbac.Role](t, r, "Role zonefold-operator").Rules); diff != "" {
				t.Errorf("the Role is not config/rbac of %v (-config +chart):\n%s", parts, diff)
			}
			if diff := cmp.Diff(slices.Sorted(maps.Values(schemas)), r.schemas()); diff != "" {
				t.Errorf("the CustomResourceDefinitions are not config/crd of %v, octet by octet (-config +chart):\n%s", on, diff)
			}
			if args := container(t, r).Args; !slices.Contains(args, "--dialects="+strings.Join(on, ",")) {
				t.Errorf("the operator's flags are %q", args)
			}
		})
	}
}

// schemas are the CustomResourceDefinitions as files.
func (r rendering) schemas() []string {
	var out []string
	for _, text := range documents(r.manifest) {
		if _, body, ok := strings.Cut(text, "# Source: zonefold/templates/crds.yaml\n"); ok {
			out = append(out, "---\n"+strings.TrimSpace(body)+"\n")
		}
	}
	slices.Sort(out)
	return out
}

// TestNoRuleIsOfADialectThatIsOff does not believe the names of files: it looks at the API groups in the rules.
func TestNoRuleIsOfADialectThatIsOff(t *testing.T) {
	for on := range dialects {
		r := mustRender(t, only(on))
		granted := append(find[*rbac.ClusterRole](t, r, "ClusterRole zonefold-operator").Rules, find[*rbac.Role](t, r,
			"Role zonefold-operator").Rules...)
		for off, d := range dialects {
			for _, rule := range granted {
				if dialects[on].shared != "" && slices.Equal(rule.Resources, []string{"zonerevisions"}) {
					continue // the history of DNSZones
				}
				for _, group := range d.groups {
					named := func(resource string) bool { return strings.HasSuffix(resource, "."+group) }
					if off != on && (slices.Contains(rule.APIGroups, group) || slices.ContainsFunc(rule.ResourceNames, named)) {
						t.Errorf("%s is off, and there is the rule %v", off, rule)
					}
				}
			}
		}
	}
}

func TestTheChartHasTheDialectsAndFlagsOfTheOperator(t *testing.T) {
	var there []string
	for _, found := range regexp.MustCompile(`(?m)^\tdialect[A-Z][a-z]+ += "([a-z]+)"$`).FindAllStringSubmatch(file(t,
		"../cmd/operator/dialects.go"), -1) {
		there = append(there, found[1])
	}
	slices.Sort(there)
	switches, _ := load(t).Values["dialects"].(map[string]any)
	for what, got := range map[string][]string{"values.yaml": slices.Sorted(maps.Keys(switches)),
		"this test": slices.Sorted(maps.Keys(dialects))} {
		if diff := cmp.Diff(there, got); diff != "" {
			t.Errorf("the dialects of %s (-operator +chart):\n%s", what, diff)
		}
	}
	flags := file(t, "../docs/install.md") // a test of docs compares it with the code
	for _, arg := range container(t, mustRender(t, everything)).Args {
		if name, _, _ := strings.Cut(arg, "="); !strings.Contains(flags, "\n| `"+name+"` |") {
			t.Errorf("the operator has no flag %s", name)
		}
	}
}

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestBindyNeedsTokensAndABinding(t *testing.T) {
	without := mustRender(t, only("kubizone"))
	for name := range without.names(t) {
		if strings.Contains(name, "bindcar") {
			t.Errorf("bindy is off, and there is %s", name)
		}
	}
	if pod := deployment(t, without).Spec.Template.Spec; len(pod.Volumes) > 0 ||
		strings.Contains(strings.Join(pod.Containers[0].Args, " "), "bind9") {
		t.Errorf("bindy is off, and the Pods have the volumes %v and the flags %q", pod.Volumes, pod.Containers[0].Args)
	}

	with := mustRender(t,
		"dialects: {bindy: true}\nbindy: {namespace: dns, bind9Image: zonefold/bind9, bindcarImage: zonefold/bindcar:dev}")
	for _, flag := range []string{"--bindy-namespace=dns", "--bind9-image=zonefold/bind9",
		"--bindcar-image=zonefold/bindcar:dev"} {
		if args := container(t, with).Args; !slices.Contains(args, flag) {
			t.Errorf("the operator's flags are %q, without %s", args, flag)
		}
	}
	renamed := mustRender(t, "dialects: {bindy: true}\nserviceAccount: {name: mine}")
	for name, r := range map[string]rendering{"zonefold-operator": with, "mine": renamed} {
		own := rbac.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"},
			ResourceNames: []string{name}, Verbs: []string{"create"}}
		if rules := find[*rbac.Role](t, r, "Role zonefold-operator").Rules; !slices.ContainsFunc(rules,
			func(r rbac.PolicyRule) bool { return cmp.Equal(r, own) }) {
			t.Errorf("the operator gets no tokens of its ServiceAccount %s: %v", name, rules)
		}
	}
	want := []rbac.PolicyRule{{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"},
		Verbs: []string{"create"}}}
	if diff := cmp.Diff(want, find[*rbac.ClusterRole](t, with, "ClusterRole zonefold-bindcar").Rules); diff != "" {
		t.Errorf("what a sidecar may do (-want +got):\n%s", diff)
	}
	// A field that is not applied stays what the operator has made of it.
	for _, text := range documents(with.manifest) {
		if strings.Contains(text, "kind: ClusterRoleBinding") && strings.Contains(text, "name: zonefold-bindcar") &&
			strings.Contains(text, "\nsubjects:") {
			t.Errorf("an upgrade would take away what the operator has written:\n%s", text)
		}
	}
}

func TestSchemasAreLeftOutOnDemand(t *testing.T) {
	r := mustRender(t, "crds: {install: false}")
	for name := range r.names(t) {
		if strings.HasPrefix(name, "CustomResourceDefinition ") {
			t.Errorf("crds.install is false, and there is %s", name)
		}
	}
	if !strings.Contains(r.notes, "apply config/crd") {
		t.Errorf("the notes do not say where they are:\n%s", r.notes)
	}
}

// TestWhoInspectsIsAskedForEach has everybody be let in to ask, and nobody be told by that: the operator reviews access
// to each object, and may do little else for it.
func TestWhoInspectsIsAskedForEach(t *testing.T) {
	without := find[*rbac.ClusterRole](t, mustRender(t, ""), "ClusterRole zonefold-operator").Rules
	for values, want := range map[string][]rbac.PolicyRule{
		"inspect: {enabled: true}": rules(t, "ClusterRole", "inspect"),
		"inspect: {enabled: true}\nadmission: {certManager: {enabled: true}}": slices.DeleteFunc(rules(t, "ClusterRole",
			"inspect"), func(r rbac.PolicyRule) bool { return slices.Contains(r.Resources, "apiservices") }),
	} {
		r := mustRender(t, values)
		for _, rule := range want {
			if has := func(in []rbac.PolicyRule) bool {
				return slices.ContainsFunc(in, func(o rbac.PolicyRule) bool { return cmp.Equal(o, rule) })
			}; !has(find[*rbac.ClusterRole](t, r, "ClusterRole zonefold-operator").Rules) || has(without) {
				t.Errorf("%s: the rule %v is missing, or there without it", values, rule)
			}
		}
		for _, rule := range find[*rbac.ClusterRole](t, r, "ClusterRole zonefold-operator").Rules {
			if slices.Contains(rule.Resources, "apiservices") && !slices.ContainsFunc(want, func(o rbac.PolicyRule) bool {
				return cmp.Equal(o, rule)
			}) {
				t.Errorf("%s: there is the rule %v", values, rule)
			}
		}
		open := find[*rbac.ClusterRole](t, r, "ClusterRole zonefold-inspect").Rules
		if diff := cmp.Diff([]rbac.PolicyRule{{APIGroups: []string{"inspect.zonefold.dev"}, Resources: []string{"*"},
			Verbs: []string{"get"}}}, open); diff != "" {
			t.Errorf("everybody may (-want +got):\n%s", diff)
		}
		if args := container(t, r).Args; !slices.Contains(args, "--inspect-bind-address=:9444") {
			t.Errorf("the operator's flags are %q", args)
		}
	}
}
