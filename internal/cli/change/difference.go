package change

import (
	"fmt"
	"io"
	"slices"
	"strings"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/zone"
)

// Planned is what a change of objects would do; as JSON it is what plan -o json prints.
type Planned struct {
	Zones    []plannedZone   `json:"zones"`    // those that change
	Accepted []plannedObject `json:"accepted"` // objects that come, or were refused, and are accepted then
	Refused  []plannedObject `json:"refused"`  // all that are refused then
	Unseen   []string        `json:"unseen"`   // what could not be seen
}

// plannedZone is what changes in one zone.
type plannedZone struct {
	Kind     string         `json:"kind"`
	Zone     *explained.Ref `json:"zone"`
	FQDN     string         `json:"fqdn"`
	Change   string         `json:"change"`   // zoneAdded, zoneChanged or zoneDeleted
	Backends []string       `json:"backends"` // where that happens, as far as the objects say
	Frozen   bool           `json:"frozen"`   // what changes waits for somebody to thaw the zone
	Changes  []plannedSet   `json:"changes"`
}

// What becomes of a zone.
const (
	zoneAdded   = "added"
	zoneChanged = "changed"
	zoneDeleted = "deleted"
)

// plannedObject is what an object is told after a change.
type plannedObject struct {
	explained.Object
	FQDN     string      `json:"fqdn"`
	Type     string      `json:"type"`
	Accepted bool        `json:"accepted"`
	Before   string      `json:"before"` // acceptedBefore, refusedBefore or absentBefore
	Reason   zone.Reason `json:"reason"`
	Message  string      `json:"message"`
}

// What an object was before.
const (
	acceptedBefore = "accepted"
	refusedBefore  = "refused"
	absentBefore   = "absent"
)

// Difference compares two compositions.
func Difference(before, after *fold.Composition) *Planned {
	d := &Planned{Zones: []plannedZone{}, Accepted: []plannedObject{}, Refused: []plannedObject{}, Unseen: []string{}}
	d.compareZones(before, after)
	d.compareObjects(before, after)
	return d
}

func (d *Planned) compareZones(before, after *fold.Composition) {
	old, now := map[manifest.Ref]*fold.ZoneResult{}, map[manifest.Ref]*fold.ZoneResult{}
	for i := range before.Zones {
		old[before.Zones[i].Object.Ref] = &before.Zones[i]
	}
	var refs []manifest.Ref
	for i := range after.Zones {
		now[after.Zones[i].Object.Ref] = &after.Zones[i]
		refs = append(refs, after.Zones[i].Object.Ref)
	}
	for ref := range old {
		if now[ref] == nil {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, manifest.Ref.Compare)
	for _, ref := range refs {
		d.compareZone(old[ref], now[ref], before, after)
	}
}

// compareZone adds what changes between two states of a zone, where it stays, goes and comes. One that has another name
// is another zone.
func (d *Planned) compareZone(was, is *fold.ZoneResult, before, after *fold.Composition) {
	from, to := []string{}, []string{}
	had, has := was != nil && was.Verdict.Accepted, is != nil && is.Verdict.Accepted
	if had {
		from = before.BackendsOf(was)
	}
	if has {
		to = after.BackendsOf(is)
	}
	kept, goes, comes := []string{}, from, to
	same := had && has && was.Verdict.Name == is.Verdict.Name
	if same {
		goes, comes = lacking(from, to), lacking(to, from)
		kept = lacking(to, comes)
	}
	if same && (len(kept) > 0 || len(goes)+len(comes) == 0) {
		d.addZone(zoneChanged, is, kept, setChanges(was.Sets(), is.Sets()))
	}
	if had && (!same || len(goes) > 0) {
		d.addZone(zoneDeleted, was, goes, setChanges(was.Sets(), nil))
	}
	if has && (!same || len(comes) > 0) {
		d.addZone(zoneAdded, is, comes, setChanges(nil, is.Sets()))
	}
}

// lacking returns the names that others do not have.
func lacking(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// addZone adds what changes in a zone at some Backends.
func (d *Planned) addZone(change string, z *fold.ZoneResult, backends []string, changes []plannedSet) {
	if len(changes) > 0 || change != zoneChanged {
		d.Zones = append(d.Zones, plannedZone{Kind: z.Object.Kind, Zone: explained.RefOf(z.ID()),
			FQDN: z.Verdict.Name.String(), Change: change, Backends: backends,
			Frozen: change == zoneChanged && frozen(z.Object), Changes: changes})
	}
}

// frozen reports whether what is published of a zone is to stay as it is.
func frozen(o *manifest.Object) bool {
	m := o.Meta()
	if m == nil {
		return false
	}
	_, stays := m.GetAnnotations()[zonefold.FreezeAnnotation]
	_, back := m.GetAnnotations()[zonefold.RollbackAnnotation]
	return stays || back
}

// compareObjects adds what objects are told.
func (d *Planned) compareObjects(before, after *fold.Composition) {
	was := map[zone.ID]zone.Verdict{}
	for _, o := range before.Decisions() {
		was[o.ID] = o.Verdict
	}
	for _, o := range after.Decisions() {
		p := plannedObject{explained.Object(o.Object.Ref), "", o.T, o.Verdict.Accepted, absentBefore, o.Verdict.Reason,
			o.Verdict.Message}
		if !o.Verdict.Name.IsZero() {
			p.FQDN = o.Verdict.Name.String()
		}
		if old, known := was[o.ID]; known && old.Accepted {
			p.Before = acceptedBefore
		} else if known {
			p.Before = refusedBefore
		}
		switch {
		case p.Reason == fold.BeingDeleted && p.Before == refusedBefore: // it goes, whatever the change
		case !p.Accepted:
			d.Refused = append(d.Refused, p)
		case p.Before != acceptedBefore:
			d.Accepted = append(d.Accepted, p)
		}
	}
}

// changes reports whether anything is otherwise after the change.
func (d *Planned) changes() bool {
	return len(d.Zones)+len(d.Accepted) > 0 ||
		slices.ContainsFunc(d.Refused, func(o plannedObject) bool { return o.Before != refusedBefore })
}

// summary counts what changes.
func (d *Planned) summary() string {
	var added, changed, deleted, refused int
	zones := map[string]bool{} // one may go to a Backend, and come from another
	for _, z := range d.Zones {
		zones[z.name()] = true
		for _, s := range z.Changes {
			switch s.sign() {
			case "+":
				added++
			case "-":
				deleted++
			default:
				changed++
			}
		}
	}
	for _, o := range d.Refused {
		if o.Before != refusedBefore {
			refused++
		}
	}
	were := "were"
	if refused == 1 {
		were = "was"
	}
	return fmt.Sprintf("%s to add, %d to change, %d to delete, in %s; %s refused that %s not.",
		command.Count(added, "set"), changed, deleted, command.Count(len(zones), "zone"), command.Count(refused, "object"),
		were)
}

// name is that of a zone and of its object.
func (z *plannedZone) name() string {
	return fmt.Sprintf("%s (%s)", z.FQDN, zone.ID{Kind: z.Kind, Namespace: z.Zone.Namespace, Name: z.Zone.Name})
}

// title names a zone, and where it goes.
func (z *plannedZone) title() string {
	out := z.name()
	if z.Change != zoneChanged {
		out += " is " + z.Change
	}
	if len(z.Backends) > 0 {
		out += ", at " + strings.Join(z.Backends, ", ")
	}
	if z.Frozen {
		out += "; it is frozen, so this waits for zonefold thaw"
	}
	return plain.Line(out)
}

// line says what an object is told.
func (o *plannedObject) line() string {
	what := o.String()
	if o.FQDN != "" {
		what = strings.TrimSpace(what + ", " + o.FQDN + " " + o.Type)
	}
	was := ""
	if o.Before == refusedBefore {
		was = ", as before"
	} else if o.Before == acceptedBefore {
		was = ", and was accepted"
	}
	return plain.Line(fmt.Sprintf("%s: %s%s: %s", what, o.Reason, was, o.Message))
}

// write writes the change for people.
func (d *Planned) write(out io.Writer) {
	for _, z := range d.Zones {
		fmt.Fprintln(out, z.title())
		for _, s := range z.Changes {
			for _, line := range s.Lines() {
				fmt.Fprintf(out, "  %s\n", plain.Line(line))
			}
		}
		fmt.Fprintln(out)
	}
	for _, o := range d.Refused {
		fmt.Fprintf(out, "refused %s\n", o.line())
	}
	for _, what := range command.Together(d.Unseen) {
		fmt.Fprintf(out, "not seen: %s\n", plain.Line(what))
	}
	fmt.Fprintln(out, d.summary())
}

// writeMarkdown writes the change for a comment of a pull request.
func (d *Planned) writeMarkdown(out io.Writer) {
	fmt.Fprintf(out, "### DNS\n\n%s\n", d.summary())
	for _, z := range d.Zones {
		fmt.Fprintf(out, "\n<details><summary>%s: %s</summary>\n\n%sdiff\n", escaped(z.title()),
			command.Count(len(z.Changes), "set"), fence)
		for _, s := range z.Changes {
			for _, line := range s.Lines() {
				fmt.Fprintln(out, plain.Line(line))
			}
		}
		fmt.Fprintf(out, "%s\n\n</details>\n", fence)
	}
	if len(d.Refused) > 0 {
		fmt.Fprint(out, "\n**Refused**\n\n")
	}
	for _, o := range d.Refused {
		fmt.Fprintf(out, "- %s\n", escaped(o.line()))
	}
	for _, what := range command.Together(d.Unseen) {
		fmt.Fprintf(out, "- Not seen: %s\n", escaped(what))
	}
}

// fence begins and ends a block that is shown as it is: no line of records can be one.
const fence = "````````"

// escaped makes text of objects mean nothing in Markdown, or in the HTML in it.
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`,
		"|", `\|`).Replace(text)
}
