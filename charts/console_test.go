package charts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apps "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	rbac "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// consoleObjects are what the console consists of.
var consoleObjects = []string{"ServiceAccount zonefold-console", "ClusterRole zonefold-console",
	"ClusterRoleBinding zonefold-console", "Deployment zonefold-console", "Service zonefold-console",
	"NetworkPolicy zonefold-console"}

func TestTheConsoleMayAskWhoseATokenIsAndNothingElse(t *testing.T) {
	r := mustRender(t, everything)
	want := []rbac.PolicyRule{{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"},
		Verbs: []string{"create"}}}
	if diff := cmp.Diff(want, find[*rbac.ClusterRole](t, r, "ClusterRole zonefold-console").Rules); diff != "" {
		t.Errorf("its rules (-want +got):\n%s", diff)
	}
	for name, object := range r.names(t) {
		var subjects []rbac.Subject
		switch o := object.(type) {
		case *rbac.ClusterRoleBinding:
			subjects = o.Subjects
		case *rbac.RoleBinding:
			subjects = o.Subjects
		}
		bound := slices.ContainsFunc(subjects, func(s rbac.Subject) bool { return s.Name == "zonefold-console" })
		if bound != (name == "ClusterRoleBinding zonefold-console") {
			t.Errorf("%s binds %v", name, subjects)
		}
	}
}

func TestTheConsoleIsNotTheOperator(t *testing.T) {
	r := mustRender(t, everything)
	pods := map[string]labels.Set{"operator": deployment(t, r).Spec.Template.Labels,
		"console": find[*apps.Deployment](t, r, "Deployment zonefold-console").Spec.Template.Labels}
	for name, object := range r.names(t) {
		var selects map[string]string
		switch o := object.(type) {
		case *corev1.Service:
			selects = o.Spec.Selector
		case *networking.NetworkPolicy:
			selects = o.Spec.PodSelector.MatchLabels
		case *apps.Deployment:
			selects = o.Spec.Selector.MatchLabels
		default:
			continue
		}
		for pod, has := range pods {
			if is := labels.SelectorFromSet(selects).Matches(has); is != (strings.HasSuffix(name, "zonefold-console") ==
				(pod == "console")) {
				t.Errorf("%s selects the Pods of the %s: %v", name, pod, is)
			}
		}
	}
}

func TestTheConsoleIsToldTheValues(t *testing.T) {
	usual := []string{"console", "in-cluster", "--bind-address=:8443", "--operator-namespace=zonefold-system",
		"--host=zonefold-console.zonefold-system", "--host=zonefold-console.zonefold-system.svc", "--people=10",
		"--objects=32Mi", "--idle=15m"}
	for values, want := range map[string][]string{
		"console: {enabled: true}": usual,
		`{sources: [service], console: {enabled: true, edit: true, hosts: [console.example.org], audiences: [zonefold],
certificate: console-tls}}`: append(append(slices.Clone(usual[:6]), "--host=console.example.org", "--audience=zonefold"),
			append(slices.Clone(usual[6:]), "--sources", "--edit", "--tls-cert-dir=/etc/zonefold/console")...),
	} {
		pod := find[*apps.Deployment](t, mustRender(t, values), "Deployment zonefold-console").Spec.Template.Spec
		if diff := cmp.Diff(want, pod.Containers[0].Args); diff != "" {
			t.Errorf("with %q it is told (-want +got):\n%s", values, diff)
		}
		if mounted := len(pod.Volumes) == 1 && pod.Volumes[0].Secret.SecretName == "console-tls"; mounted !=
			strings.Contains(values, "console-tls") {
			t.Errorf("with %q it has the volumes %v", values, pod.Volumes)
		}
	}
	image := find[*apps.Deployment](t, mustRender(t, "console: {enabled: true, image: {repository: a/b, tag: 1}}"),
		"Deployment zonefold-console").Spec.Template.Spec.Containers[0].Image
	if image != "a/b:1" {
		t.Errorf("it runs %s", image)
	}
	peers := find[*networking.NetworkPolicy](t, mustRender(t,
		"{console: {enabled: true}, networkPolicy: {consoleFrom: [{podSelector: {}}], egress: [{ports: [{port: 443}]}]}}"),
		"NetworkPolicy zonefold-console").Spec
	if len(peers.Ingress) != 1 || len(peers.Ingress[0].From) != 1 || len(peers.Egress) != 1 {
		t.Errorf("its network policy is %+v", peers)
	}
}
