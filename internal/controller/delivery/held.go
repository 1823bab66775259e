package delivery

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Held is what the protection of Backends holds of a Zone.
type Held struct {
	controller.Outcome        // of the condition DeletionsHeld
	Plan               string // what approves it; "": nothing does
	Sets               int
	Names              []string // the first of the sets, each as name and type
}

// Settled reports whether nothing is held of a Zone, and every server has confirmed what is wanted: what was approved
// has been done.
func (o ZoneOutcome) Settled() bool { return o.Held == nil && o.Confirmed && !o.Leaving }

// PlanSeparator is between the plans of servers that hold different deletions.
const PlanSeparator = ","

// Approvals returns the plans that the annotation of a Zone approves.
func Approvals(annotation string) []string {
	if annotation == "" {
		return nil
	}
	plans := strings.Split(annotation, PlanSeparator)
	slices.Sort(plans)
	return slices.Compact(plans)
}

// approvedAs returns the name by which a plan is approved. Nobody takes an approval off a Backend, so that of what a
// Zone has left behind has the UID of the Zone in it: the next Zone with the same sets has another.
func approvedAs(id zone.ID, plan string) string {
	if id.Kind == KindLeft {
		return plan + leftMark(id)
	}
	return plan
}

// leftMark ends the names of plans of what a Zone has left behind.
func leftMark(id zone.ID) string {
	_, uid, _ := strings.Cut(id.Name, " ")
	return "-" + uid
}

// approvedOf returns the plans of what a Zone has left behind that are among names.
func approvedOf(id zone.ID, names []string) []string {
	var plans []string
	for _, name := range names {
		if plan, its := strings.CutSuffix(name, leftMark(id)); its {
			plans = append(plans, plan)
		}
	}
	return plans
}

// otherwiseHeld reports whether an attachment is by another protection or other approvals.
func (l *zoneFeed) otherwiseHeld(a *attached, p *Place) bool {
	return a.protection != p.Protection || !slices.Equal(a.approved, l.approved)
}

// held sums up what servers hold of a Zone, under whatever name, nil if that is nothing.
func (z *delivery) held() *Held {
	var worst *engine.Held
	var at *attached
	var plans []string
	for _, l := range z.feeds {
		for _, a := range l.at {
			if a.report == nil || a.report.Held == nil {
				continue
			}
			h := a.report.Held
			if h.Plan != "" {
				plans = append(plans, approvedAs(z.id, h.Plan))
			}
			if worst == nil || moreHeld(h, worst, a, at) {
				worst, at = h, a
			}
		}
	}
	if worst == nil {
		return nil
	}
	slices.Sort(plans)
	out := &Held{Plan: strings.Join(slices.Compact(plans), PlanSeparator), Sets: worst.Deletions + worst.Changes}
	for _, k := range worst.Examples {
		out.Names = append(out.Names, nameAndType(k))
	}
	out.Outcome = controller.OK(heldBecause(worst.Policy), heldMessage(z.id, at, worst, out))
	return out
}

func nameAndType(k rr.Key) string { return k.Name.String() + " " + k.Type.String() }

// moreHeld orders what is told of several servers: what can be approved comes first, then what is more.
func moreHeld(h, than *engine.Held, a, b *attached) bool {
	if (h.Plan != "") != (than.Plan != "") {
		return h.Plan != ""
	}
	return cmp.Or(cmp.Compare(than.Deletions+than.Changes, h.Deletions+h.Changes), strings.Compare(a.place, b.place),
		strings.Compare(a.server, b.server)) < 0
}

func heldBecause(p plan.Policy) string {
	switch p {
	case plan.PolicyUpsertOnly:
		return controller.ReasonUpsertOnly
	case plan.PolicyCreateOnly:
		return controller.ReasonCreateOnly
	}
	return controller.ReasonTooManyDeletions
}

func heldMessage(id zone.ID, a *attached, h *engine.Held, out *Held) string {
	sets, such := "1 set", strings.Join(out.Names, ", ")
	if out.Sets > 1 {
		sets = fmt.Sprintf("%d sets", out.Sets)
	}
	if out.Sets > len(out.Names) {
		such += " and others"
	}
	switch h.Policy {
	case plan.PolicyUpsertOnly:
		return fmt.Sprintf("%s keeps %s, which no object asks for: %s. Its policy is UpsertOnly.", a.place, sets, such)
	case plan.PolicyCreateOnly:
		return fmt.Sprintf("%s keeps %s as it is there: %s. Its policy is CreateOnly.", a.place, sets, such)
	}
	allowed := fmt.Sprintf("its protection allows %d of %d deletions within an hour", h.Room, h.Of)
	if h.Recent > 0 {
		allowed += fmt.Sprintf(", and %d have been made", h.Recent)
	}
	what := "They stay on its servers; additions and changes are sent."
	if a.leaving {
		what = fmt.Sprintf("Until then %s stays served there.", a.report.Target.Zone)
	}
	return fmt.Sprintf("%s holds the deletion of %s: %s; %s. %s %s", a.place, sets, such, allowed, what,
		wayOut(id, approvedAs(id, h.Plan)))
}

// wayOut says what to do about deletions that are held.
func wayOut(id zone.ID, plan string) string {
	if id.Kind == KindLeft {
		return fmt.Sprintf(
			"Their Zone is gone; create a Zone of that name with these sets, or approve the deletion: zonefold approve "+
				"backend/%s --plan %s.", id.Namespace, plan)
	}
	return fmt.Sprintf("Restore their objects, or approve the deletion: zonefold approve %s -n %s.", id.Name, id.Namespace)
}
