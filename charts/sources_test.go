package charts_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbac "k8s.io/api/rbac/v1"
)

// TestSourcesBringTheRightsThatTheyNeed compares what the chart grants for each source with what the operator follows
// for it, by its code.
func TestSourcesBringTheRightsThatTheyNeed(t *testing.T) {
	code := file(t, "../internal/controller/sources/kinds.go")
	entries := regexp.MustCompile(`(?m)^\t\t"([a-z-]+)": +(.*),$`).FindAllStringSubmatch(code, -1)
	if len(entries) < 10 {
		t.Fatalf("the operator has the sources %q", entries)
	}
	before := readable(t, "")
	for _, entry := range entries {
		source, follows := entry[1], entry[2]
		if strings.HasPrefix(follows, "routes(") {
			follows += " &gatewayv1.Gateway{} &gatewayv1.ListenerSet{} &corev1.Namespace{}"
		}
		want := slices.Clone(before)
		for _, kind := range regexp.MustCompile(`&\w+\.(\w+)\{\}`).FindAllStringSubmatch(follows, -1) {
			plural := strings.ToLower(kind[1]) + "s"
			if strings.HasSuffix(plural, "ss") {
				plural = strings.TrimSuffix(plural, "s") + "es"
			}
			want = append(want, plural)
		}
		slices.Sort(want)
		if diff := cmp.Diff(slices.Compact(want), readable(t, "sources: ["+source+"]")); diff != "" {
			t.Errorf("the source %s brings rights to read (-follows +granted):\n%s", source, diff)
		}
		for _, definition := range definitions(t, "sources: ["+source+"]") {
			if plural, _, _ := strings.Cut(definition, "."); !slices.Contains(want, plural) {
				t.Errorf("the source %s brings the right to read the definition %s", source, definition)
			}
		}
	}
	if got, want := definitions(t, "sources: [service, crd, gateway-httproute]"), []string{
		"dnsendpoints.externaldns.k8s.io", "gateways.gateway.networking.k8s.io", "httproutes.gateway.networking.k8s.io",
		"listenersets.gateway.networking.k8s.io"}; !slices.Equal(got, want) {
		t.Errorf("three sources bring the right to read the definitions %q, not %q", got, want)
	}
}

// definitions are those that the operator may read because of sources.
func definitions(t *testing.T, values string) (out []string) {
	for _, rule := range find[*rbac.ClusterRole](t, mustRender(t, values), "ClusterRole zonefold-operator").Rules {
		for _, name := range rule.ResourceNames {
			if strings.HasSuffix(name, ".gateway.networking.k8s.io") || strings.HasSuffix(name, ".externaldns.k8s.io") {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// readable are the resources that the operator may list and watch.
func readable(t *testing.T, values string) (out []string) {
	for _, rule := range find[*rbac.ClusterRole](t, mustRender(t, values), "ClusterRole zonefold-operator").Rules {
		if slices.Contains(rule.Verbs, "list") && slices.Contains(rule.Verbs, "watch") {
			out = append(out, rule.Resources...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
