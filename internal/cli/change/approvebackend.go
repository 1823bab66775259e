package change

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// backendRef returns the name of the Backend that an argument of approve means.
func backendRef(ref string) (name string, ok bool) {
	kind, name, said := strings.Cut(ref, "/")
	return name, said && strings.EqualFold(strings.TrimSuffix(kind, "s"), "backend")
}

// approveLeft approves what the brake holds of zones that deleted Zones have left behind at a Backend.
func (a *Approval) approveLeft(ctx context.Context, name, plan string) error {
	path := fmt.Sprintf("/apis/%s/backends/%s", zonefold.GroupVersion, name)
	text, err := a.client.Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the Backend %s does not exist; kubectl get backends lists them", plain.Line(name))
	}
	var backend zonefold.Backend
	if err == nil {
		err = json.Unmarshal(text, &backend)
	}
	if err != nil {
		return fmt.Errorf("reading Backend %s: %w", plain.Line(name), forbidden(err, "get"))
	}
	annotation, done := leftPlans(&backend, plan)
	if len(done) == 0 {
		return a.nothingLeft(&backend, plan)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": backend.UID, "annotations": map[string]any{zonefold.ApproveAnnotation: annotation}}})
	if err != nil {
		return err
	}
	if _, err := a.client.Patch(types.MergePatchType).AbsPath(path).Body(patch).DoRaw(ctx); err != nil {
		return fmt.Errorf("approving what is held at Backend %s: %w", plain.Line(name), forbidden(err, "patch"))
	}
	var plans []ApprovedPlan
	var lines []string
	for _, l := range done {
		sets := ""
		if !l.Whole {
			sets = ": " + command.Count(int(l.Sets), "set")
		}
		plans = append(plans, ApprovedPlan{"Zone", l.Namespace, l.Name, name, l.Plan, int64(l.Sets), []string{}})
		lines = append(lines, fmt.Sprintf(
			"Backend %s: what Zone %s/%s left behind of %s is now being deleted%s", name, l.Namespace,
			l.Name, l.FQDN, sets))
	}
	return a.print(plans, lines...)
}

// nothingLeft says why nothing was approved: an error if somebody would wait in vain.
func (a *Approval) nothingLeft(backend *zonefold.Backend, plan string) error {
	name := plain.Line(backend.Name)
	for i := range backend.Status.LeftBehind {
		l := &backend.Status.LeftBehind[i]
		switch {
		case l.Plan != "":
			return fmt.Errorf("nothing that Backend %s lists in status.leftBehind has the plan %s; that of %s is %s", name,
				plain.Line(plan), plain.Line(l.FQDN), plain.Line(l.Plan))
		case l.Reason == string(zonefold.PolicyUpsertOnly) || l.Reason == string(zonefold.PolicyCreateOnly):
			return fmt.Errorf("the policy of Backend %s leaves what is held of %s, and nobody can approve it: change "+
				"spec.protection.policy of the Backend", name, plain.Line(l.FQDN))
		}
	}
	return a.print(nil, "Backend "+name+": no deletions of zones that were left behind are held; nothing to do")
}

// leftPlans returns what approves the deletions that are held of zones that were left behind, all or those of one plan,
// and these zones. What was approved before stays so while it is held.
func leftPlans(backend *zonefold.Backend, plan string) (annotation string, approved []zonefold.LeftBehind) {
	before := strings.Split(backend.Annotations[zonefold.ApproveAnnotation], planSeparator)
	var plans []string
	for _, l := range backend.Status.LeftBehind {
		switch {
		case l.Plan == "":
		case plan == "" || plan == l.Plan:
			approved = append(approved, l)
			plans = append(plans, strings.Split(l.Plan, planSeparator)...)
		default:
			for p := range strings.SplitSeq(l.Plan, planSeparator) {
				if slices.Contains(before, p) {
					plans = append(plans, p)
				}
			}
		}
	}
	slices.Sort(plans)
	return strings.Join(slices.Compact(plans), planSeparator), approved
}

// planSeparator is between the plans of servers that hold different deletions.
const planSeparator = ","
