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
	code := file(t, "../internal/controller/sources/controller.go")
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
	}
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
