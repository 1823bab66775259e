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
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/cel-go/cel"
	lua "github.com/yuin/gopher-lua"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	gardener "github.com/zonefold/zonefold/api/gardener/v1alpha1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/config/crd"
	"github.com/zonefold/zonefold/internal/controller"
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

// waits is what kstatus says of an object, by which tools wait that have no file of ours.
func waits(t *testing.T, object any) status.Status {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: fields})
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
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
	ready := func(is metav1.ConditionStatus, reason string) []metav1.Condition {
		c := controller.Conditions{Generation: 2, Now: time.Unix(1e9, 0)}
		c.Set("Ready", controller.Outcome{Status: is, Reason: reason, Message: "a sentence"})
		return c.List()
	}
	old := ready(metav1.ConditionTrue, "Ready")
	old[0].ObservedGeneration = 1
	held := metav1.Condition{Type: "DeletionsHeld", Status: "True", Reason: "TooManyDeletions", Message: "a sentence"}
	for sentence, c := range map[string]struct {
		conditions []metav1.Condition
		deleted    bool
		argo       string
		flux       string
		waits      status.Status
	}{
		"it is served":                {ready("True", "Ready"), false, healthy, "current", status.CurrentStatus},
		"an older spec is served":     {old, false, progressing, "", status.InProgressStatus},
		"it is on its way":            {ready("False", "Pending"), false, progressing, "", status.InProgressStatus},
		"a server asks to wait":       {ready("False", "Throttled"), false, progressing, "", status.InProgressStatus},
		"it is not known":             {ready("Unknown", "Pending"), false, progressing, "", status.InProgressStatus},
		"no rule allows it yet":       {ready("False", "NotDelegated"), false, degraded, "", status.InProgressStatus},
		"its data are wrong":          {ready("False", "InvalidData"), false, degraded, "failed", status.FailedStatus},
		"its spec is wrong":           {ready("False", "InvalidSpec"), false, degraded, "failed", status.FailedStatus},
		"the server is down":          {ready("False", "Unavailable"), false, degraded, "", status.InProgressStatus},
		"it is frozen":                {ready("False", "Frozen"), false, suspended, "", status.InProgressStatus},
		"it is only observed":         {ready("False", "Observing"), false, suspended, "", status.InProgressStatus},
		"it is deleted and withdrawn": {ready("False", "Withdrawing"), true, progressing, "", status.TerminatingStatus},
		"it is deleted just now":      {ready("True", "Ready"), true, progressing, "current", status.TerminatingStatus},
		"deletions are held": {append(ready("True", "Ready"), held), false, degraded, "current",
			status.CurrentStatus},
	} {
		z := kubizone.Zone{}
		z.Generation, z.Status.Conditions, z.Status.ObservedGeneration = 2, c.conditions, c.conditions[0].ObservedGeneration
		if c.deleted {
			now := metav1.Unix(1e9, 0)
			z.DeletionTimestamp = &now
		}
		if got, message := health(t, script, z); got != c.argo || message == "" {
			t.Errorf("%s: Argo CD says %s (%s), not %s", sentence, got, message, c.argo)
		}
		if got := holds(t, flux.Current, z); got != (c.flux == "current") {
			t.Errorf("%s: Flux says current: %t", sentence, got)
		}
		if got := holds(t, flux.Failed, z); got != (c.flux == "failed") {
			t.Errorf("%s: Flux says failed: %t", sentence, got)
		}
		if got := waits(t, &z); got != c.waits {
			t.Errorf("%s: kstatus says %s, not %s", sentence, got, c.waits)
		}
	}
}

func TestAZoneThatNobodyHasLookedAt(t *testing.T) {
	flux := checks(t)[0]
	z := kubizone.Zone{}
	z.Generation = 1
	if got, message := health(t, scripts(t)["kubi.zone/*"], z); got != progressing || message == "" {
		t.Errorf("Argo CD says %s (%s)", got, message)
	}
	if holds(t, flux.Current, z) || holds(t, flux.Failed, z) {
		t.Error("Flux does not wait")
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

// TestReasonsAreDocumented: a reason that argocd.yaml names is one that an object can have.
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
	if len(named) < 8 {
		t.Fatalf("only %v are found", named)
	}
	for _, reason := range named {
		if !strings.Contains(known, "\n| `"+reason[1]+"` |") {
			t.Errorf("no page has the reason %s", reason[1])
		}
	}
}
