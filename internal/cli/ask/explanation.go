package ask

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	homelab "github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// An explanation is what explain says, and what is needed to say it.
type explanation struct {
	explained.Explanation

	key      rr.Key
	origin   dnsname.Name
	zone     *fold.ZoneResult // nil: none has it
	serving  *fold.ZoneResult // whose servers have it: of a DS, the zone above; nil: none has it
	going    bool             // somebody has deleted the object, which is still there
	unserved string           // why it is not served, by its status or that of its Zone; "": they do not say

	namespace string // of a name that nobody asks for: the one that asks
	mayHave   bool   // and may have it
}

// of puts an explanation of the World into the words of the command.
func (x *Explainer) of(from zone.Explanation) *explanation {
	e := &explanation{key: rr.Key{Name: from.Name, Type: from.Type}, Explanation: explained.Explanation{
		Name: from.Name.String(), Accepted: from.Verdict.Accepted, Reason: from.Verdict.Reason,
		Message: from.Verdict.Message, Zone: explained.RefOf(from.Zone), Subject: explained.ObjectOf(from.Subject),
		Holder: explained.ObjectOf(from.Holder),
		Data:   []string{}, Steps: []explained.Step{}, Beside: []explained.Beside{}, Servers: []explained.Server{},
		Notes: []explained.Note{}, Enclosing: []explained.Enclosing{}}}
	if from.Type != 0 {
		e.Type = from.Type.String()
	}
	if from.Set.Data != nil {
		e.TTL, e.Data = &from.Set.TTL, from.Set.Data
	}
	if e.going = x.Cluster && from.Verdict.Reason == fold.BeingDeleted; e.going {
		e.Message = fmt.Sprintf("%s is being deleted, and no longer asks for anything.", e.Subject)
	}
	if e.zone = x.ZoneOf(from.Zone); e.zone != nil {
		e.origin, e.FQDN = e.zone.Verdict.Name, e.zone.Verdict.Name.String()
	}
	served := cmp.Or(from.Verdict.Above, from.Zone)
	e.serving = x.ZoneOf(served)
	for _, n := range from.Verdict.Notes {
		e.Notes = append(e.Notes, explained.Note{Reason: n.Reason, Message: n.Message})
	}
	for _, s := range from.Steps {
		step := explained.Step{Zone: explained.RefOf(s.Zone), Rule: s.Rule, Allows: s.Allows, Reason: s.Reason,
			Message: s.Message}
		if z := x.ZoneOf(s.Zone); z != nil {
			step.FQDN = z.Verdict.Name.String()
		}
		e.Steps = append(e.Steps, step)
	}
	for _, id := range from.Enclosing {
		if z := x.ZoneOf(id); z != nil {
			e.Enclosing = append(e.Enclosing, explained.Enclosing{Zone: *explained.RefOf(id), FQDN: z.Verdict.Name.String(),
				Message: z.Verdict.Message})
		}
	}
	for _, id := range from.Beside {
		other, _ := x.fold.World.ExplainObject(id)
		beside := explained.Beside{Object: *explained.ObjectOf(id), Accepted: other.Verdict.Accepted,
			Reason:  other.Verdict.Reason,
			Message: other.Verdict.Message}
		if other.Type != 0 {
			beside.Type = other.Type.String()
		}
		e.Beside = append(e.Beside, beside)
	}
	if e.Subject == nil {
		e.free(x.asking())
	}
	e.Unseen, e.Status = append([]string{}, x.Unseen...), x.statusOf(from)
	e.unserved = x.unserved(from.Subject, served)
	if e.Status != nil && len(e.Unseen) > 0 { // the operator has seen more
		e.Accepted, e.Reason, e.Message = e.Status.Accepted, zone.Reason(e.Status.Reason), e.Status.Message
		e.Status, e.Steps, e.Enclosing = nil, []explained.Step{}, []explained.Enclosing{}
	}
	return e
}

// free says what there is to say of a name that nobody asks for.
func (e *explanation) free(namespace string) {
	e.namespace = cmp.Or(namespace, metav1.NamespaceDefault)
	if e.Zone != nil {
		e.namespace = cmp.Or(namespace, e.Zone.Namespace)
	}
	e.Message = fmt.Sprintf("No object asks for %s %s; namespace %s may have it.", e.Name, e.Type, e.namespace)
	if !e.Accepted {
		e.Message = fmt.Sprintf("No object asks for %s %s, and one of namespace %s would be refused (%s).", e.Name, e.Type,
			e.namespace, e.Reason)
	}
	for _, b := range e.Beside {
		if e.Reason == zone.Conflict && e.Holder != nil && b.Object == *e.Holder {
			e.Message = fmt.Sprintf("No object asks for %s %s; %s has a %s there, and the two cannot coexist.", e.Name,
				e.Type, e.Holder, b.Type)
		}
	}
	if e.mayHave = e.Accepted; e.mayHave {
		e.Accepted, e.Reason = false, zone.NoRecord
	}
}

// ZoneOf returns the Zone of an ID; nil: none of the objects is it.
func (x *Explainer) ZoneOf(id zone.ID) *fold.ZoneResult {
	for i := range x.Composition.Zones {
		if z := &x.Composition.Zones[i]; z.ID() == id {
			return z
		}
	}
	return nil
}

// Conditions of Zones and Records that say what was decided about them, and whether all of it is served.
const (
	acceptedCondition = "Accepted"
	readyCondition    = "Ready"
)

// unserved returns why an object is not served, by its status, or else by that of its Zone; "": it is, or nobody says.
func (x *Explainer) unserved(objects ...zone.ID) string {
	for _, id := range objects {
		for _, o := range x.Objects {
			if !x.Cluster || fold.IdOf(o.Ref) != id {
				continue
			}
			c := apimeta.FindStatusCondition(conditionsOf(o), readyCondition)
			switch {
			case c == nil || c.ObservedGeneration != o.Meta().GetGeneration(): // it says nothing of the object as it is now
			case c.Status == metav1.ConditionFalse:
				return fmt.Sprintf("%s is not served (%s): %s", o.Ref, c.Reason, c.Message)
			default:
				return ""
			}
		}
	}
	return ""
}

// statusOf returns what the status of the subject says, if that is otherwise: then the operator knows more, or less.
func (x *Explainer) statusOf(from zone.Explanation) *explained.Status {
	if from.Verdict.Reason == fold.BeingDeleted {
		return nil // the status is that of before
	}
	for _, o := range x.Objects {
		if fold.IdOf(o.Ref) != from.Subject || !x.Cluster {
			continue
		}
		for _, c := range conditionsOf(o) {
			if c.Type != acceptedCondition {
				continue
			}
			s := &explained.Status{Accepted: c.Status == metav1.ConditionTrue, Reason: c.Reason, Message: c.Message}
			if s.Accepted != from.Verdict.Accepted || s.Reason != string(from.Verdict.Reason) {
				return s
			}
		}
	}
	return nil
}

func conditionsOf(o *manifest.Object) []metav1.Condition {
	switch {
	case o.Zone != nil:
		return o.Zone.Status.Conditions
	case o.Record != nil:
		return o.Record.Status.Conditions
	}
	switch v := o.Homelab.(type) {
	case *homelab.DNSClass:
		return v.Status.Conditions
	case *homelab.DNSRecord:
		return v.Status.Conditions
	}
	if z, is := o.Bindy.(*bindy.DNSZone); is {
		return z.Status.Conditions
	}
	if r, is := dialect.RecordOf(o.Bindy); is {
		return r.Status.Conditions
	}
	return nil
}

// print prints the explanation.
func (e *explanation) print(env command.Env, form command.Output) error {
	return form.Print(env, e.Explanation, e.write)
}

// write writes the explanation for people.
func (e *explanation) write(out io.Writer) {
	fmt.Fprintln(out, plain.Line(e.headline()))
	fmt.Fprintf(out, "  %s\n", plain.Line(e.Message))
	for _, n := range e.Notes {
		fmt.Fprintf(out, "  %s: %s\n", n.Reason, plain.Line(n.Message))
	}
	if e.Status != nil {
		fmt.Fprintf(out, "  Its status differs (%s): %s\n", plain.Line(e.Status.Reason), plain.Line(e.Status.Message))
	}
	for _, data := range e.Data {
		fmt.Fprintf(out, "  %s %d IN %s %s\n", e.Name, *e.TTL, e.Type, data)
	}
	if len(e.Steps) > 0 {
		fmt.Fprintln(out, "\nWho was asked:")
		for i, s := range e.Steps {
			fmt.Fprintf(out, "  %d. %s\n", i+1, plain.Line(s.Message))
			if s.Rule != "" {
				fmt.Fprintf(out, "     by %s\n", plain.Line(s.Rule))
			}
		}
	}
	if len(e.Enclosing) > 1 {
		fmt.Fprintln(out, "\nZones that enclose it:")
		for _, z := range e.Enclosing {
			fmt.Fprintf(out, "  %s\n", plain.Line(z.Message))
		}
	}
	if len(e.Beside) > 0 {
		fmt.Fprintln(out, "\nWho else asks for the name:")
		for _, b := range e.Beside {
			who := strings.TrimSpace(b.String() + " " + b.Type)
			fmt.Fprintf(out, "  %s\n", plain.Line(fmt.Sprintf("%s: %s: %s", who, b.Reason, b.Message)))
		}
	}
	e.writeServers(out)
	e.writeInspected(out)
	for _, what := range command.Together(e.Unseen) {
		fmt.Fprintf(out, "\nNot seen: %s\n", plain.Line(what))
	}
	fmt.Fprintf(out, "\nWhat to do: %s\n", plain.Line(e.Advice))
	if e.Manifest != "" {
		fmt.Fprintf(out, "\n%s", e.Manifest)
	}
}

// headline says the answer in a line.
func (e *explanation) headline() string {
	what := strings.TrimSpace(e.Name + " " + e.Type)
	if e.Name == "" && e.Subject != nil {
		what = e.Subject.String()
	}
	switch {
	case e.Subject == nil:
		return what + ": no object asks for it."
	case !e.Accepted:
		return fmt.Sprintf("%s: refused (%s) to %s.", what, e.Reason, e.Subject)
	case e.Type == "":
		return fmt.Sprintf("%s: the zone of %s.", what, e.Subject)
	}
	return fmt.Sprintf("%s: %s has it.", what, e.Subject)
}

// writeServers writes what servers say, as a table.
func (e *explanation) writeServers(out io.Writer) {
	if len(e.Servers) == 0 {
		return
	}
	fmt.Fprintln(out, "\nWhat servers say:")
	table := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(table, "  BACKEND\tSERVER\tSERIAL\tHAS\tANSWERS")
	for _, s := range e.Servers {
		fmt.Fprintf(table, "  %s\n", strings.Join(rowOf(&s), "\t"))
	}
	_ = table.Flush() // out keeps its error
}
