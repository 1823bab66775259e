// Package gitops_test asks Argo CD's and Flux' own languages what they make of the objects' statuses.
package gitops_test

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	lua "github.com/yuin/gopher-lua"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	gardener "github.com/zonefold/zonefold/api/gardener/v1alpha1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/config/crd"
)

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// scripts are the health checks of argocd.yaml by what they are for, such as "kubi.zone/*".
func scripts(t *testing.T) map[string]string {
	t.Helper()
	var patch struct {
		Data map[string]string `json:"data"`
	}
	read(t, "argocd.yaml", &patch)
	var checks map[string]map[string]string
	if err := yaml.Unmarshal([]byte(patch.Data["resource.customizations"]), &checks); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for what, check := range checks {
		out[what] = check["health.lua"]
	}
	return out
}

// plain is an object as both languages get it.
func plain(t *testing.T, object any) (out map[string]any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// toLua turns what JSON has into Lua's values, as Argo CD does.
func toLua(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		table := l.NewTable()
		for _, item := range v {
			table.Append(toLua(l, item))
		}
		return table
	case map[string]any:
		table := l.NewTable()
		for key, item := range v {
			table.RawSetString(key, toLua(l, item))
		}
		return table
	}
	return lua.LNil
}

// health is what a check says of an object.
func health(t *testing.T, script string, object any) (status, message string) {
	t.Helper()
	l := lua.NewState()
	defer l.Close()
	l.SetGlobal("obj", toLua(l, plain(t, object)))
	if err := l.DoString(script); err != nil {
		t.Fatal(err)
	}
	answer, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the check returns %v", l.Get(-1))
	}
	return lua.LVAsString(answer.RawGetString("status")), lua.LVAsString(answer.RawGetString("message"))
}

// A check is one of flux.yaml.
type check struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Current    string `json:"current"`
	Failed     string `json:"failed"`
}

func checks(t *testing.T) []check {
	t.Helper()
	var patch struct {
		Spec struct {
			Checks []check `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	read(t, "flux.yaml", &patch)
	return patch.Spec.Checks
}

// holds evaluates an expression as Flux does: the members of the object are its variables. Where one is missing, Flux
// asks again later.
func holds(t *testing.T, expression string, object any) bool {
	t.Helper()
	env, err := cel.NewEnv(cel.Variable("metadata", cel.DynType), cel.Variable("spec", cel.DynType),
		cel.Variable("status", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	tree, issues := env.Compile(expression)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env.Program(tree)
	if err != nil {
		t.Fatal(err)
	}
	variables := plain(t, object)
	value, _, err := program.Eval(variables)
	if _, seen := variables["status"]; !seen && err != nil {
		return false
	}
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value.Value() == true
}

// TestEveryKindIsKnown: what has a status that somebody may wait for is in both files.
func TestEveryKindIsKnown(t *testing.T) {
	known, flux := scripts(t), checks(t)
	entries, err := crd.Files.ReadDir(".")
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d definitions: %v", len(entries), err)
	}
	for _, entry := range entries {
		text, err := crd.Files.ReadFile(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		var d apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		kind := d.Spec.Names.Kind
		if slices.Contains([]string{"ZoneSlice", "ZoneRevision", "DNSEndpoint"}, kind) { // nobody waits for these
			continue
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(pattern string) bool {
			is, err := path.Match(pattern, d.Spec.Group+"/"+kind)
			return is && err == nil
		}) {
			t.Errorf("argocd.yaml has no check for %s of %s", kind, d.Spec.Group)
		}
		version := d.Spec.Group + "/" + d.Spec.Versions[0].Name
		if !slices.ContainsFunc(flux, func(c check) bool { return c.APIVersion == version && c.Kind == kind }) {
			t.Errorf("flux.yaml has no check for %s of %s", kind, version)
		}
	}
}

const (
	healthy, progressing = "Healthy", "Progressing"
	suspended, degraded  = "Suspended", "Degraded"
)

// TestHealthOfAZone goes through what the conditions of an object can say.
func TestHealthOfAZone(t *testing.T) {
	script, flux := scripts(t)["kubi.zone/*"], checks(t)[0]
	ready := func(status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: "Ready", Status: status, Reason: reason, Message: "a sentence", ObservedGeneration: 2}
	}
	old := ready(metav1.ConditionTrue, "Ready")
	old.ObservedGeneration = 1
	held := metav1.Condition{Type: "DeletionsHeld", Status: "True", Reason: "TooManyDeletions", Message: "a sentence"}
	for sentence, c := range map[string]struct {
		conditions []metav1.Condition
		deleted    bool
		want       string
		flux       string
	}{
		"nobody has looked":           {nil, false, progressing, ""},
		"it is served":                {[]metav1.Condition{ready("True", "Ready")}, false, healthy, "current"},
		"an older spec is served":     {[]metav1.Condition{old}, false, progressing, ""},
		"it is on its way":            {[]metav1.Condition{ready("False", "Pending")}, false, progressing, ""},
		"a server asks to wait":       {[]metav1.Condition{ready("False", "Throttled")}, false, progressing, ""},
		"it is not known":             {[]metav1.Condition{ready("Unknown", "Pending")}, false, progressing, ""},
		"no rule allows it yet":       {[]metav1.Condition{ready("False", "NotDelegated")}, false, degraded, ""},
		"its data are wrong":          {[]metav1.Condition{ready("False", "InvalidData")}, false, degraded, "failed"},
		"the server is down":          {[]metav1.Condition{ready("False", "Unavailable")}, false, degraded, ""},
		"it is frozen":                {[]metav1.Condition{ready("False", "Frozen")}, false, suspended, ""},
		"it is only observed":         {[]metav1.Condition{ready("False", "Observing")}, false, suspended, ""},
		"it is deleted and withdrawn": {[]metav1.Condition{ready("False", "Withdrawing")}, true, progressing, ""},
		"it is deleted just now":      {[]metav1.Condition{ready("True", "Ready")}, true, progressing, "current"},
		"deletions are held":          {[]metav1.Condition{ready("True", "Ready"), held}, false, degraded, "current"},
	} {
		z := kubizone.Zone{}
		z.Generation, z.Status.Conditions = 2, c.conditions
		if c.deleted {
			now := metav1.Unix(1e9, 0)
			z.DeletionTimestamp = &now
		}
		if got, message := health(t, script, z); got != c.want || message == "" {
			t.Errorf("%s: Argo CD says %s (%s), not %s", sentence, got, message, c.want)
		}
		if got := holds(t, flux.Current, z); got != (c.flux == "current") {
			t.Errorf("%s: Flux says current: %t", sentence, got)
		}
		if got := holds(t, flux.Failed, z); got != (c.flux == "failed") {
			t.Errorf("%s: Flux says failed: %t", sentence, got)
		}
	}
}

func TestHealthOfAGardenersDNSRecord(t *testing.T) {
	script := scripts(t)["extensions.gardener.cloud/DNSRecord"]
	all := checks(t)
	flux := all[len(all)-1]
	for sentence, c := range map[string]struct {
		state    string
		observed int64
		want     string
	}{
		"nobody has looked":           {"", 0, progressing},
		"it is done":                  {"Succeeded", 2, healthy},
		"an older spec is done":       {"Succeeded", 1, progressing},
		"it is under way":             {"Processing", 1, progressing},
		"the service has not done it": {"Error", 1, degraded},
	} {
		r := gardener.DNSRecord{}
		r.Generation, r.Status.ObservedGeneration = 2, c.observed
		if c.state != "" {
			r.Status.LastOperation = &gardener.LastOperation{State: gardener.OperationState(c.state), Description: "a sentence"}
		}
		if got, message := health(t, script, r); got != c.want || message == "" {
			t.Errorf("%s: Argo CD says %s (%s), not %s", sentence, got, message, c.want)
		}
		if got := holds(t, flux.Current, r); got != (c.want == healthy) {
			t.Errorf("%s: Flux says current: %t", sentence, got)
		}
	}
}

// TestReasonsAreDocumented: a reason that either file names is one that an object can have.
func TestReasonsAreDocumented(t *testing.T) {
	known := ""
	for _, page := range []string{"api", "bindy", "homelab"} {
		text, err := os.ReadFile("../../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		known += string(text)
	}
	named := regexp.MustCompile(`(\w+) = true`).FindAllStringSubmatch(scripts(t)["kubi.zone/*"], -1)
	named = append(named, regexp.MustCompile(`'([A-Z][a-z]+[A-Z]\w+)'`).FindAllStringSubmatch(checks(t)[0].Failed, -1)...)
	if len(named) < 15 {
		t.Fatalf("only %v are found", named)
	}
	for _, reason := range named {
		if !strings.Contains(known, "\n| `"+reason[1]+"` |") {
			t.Errorf("no page has the reason %s", reason[1])
		}
	}
}
