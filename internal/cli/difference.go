package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// planned is what a change of objects would do; as JSON it is what plan -o json prints.
type planned struct {
	Zones    []plannedZone   `json:"zones"`    // those that change
	Accepted []plannedObject `json:"accepted"` // objects that come, or were refused, and are accepted then
	Refused  []plannedObject `json:"refused"`  // all that are refused then
	Unseen   []string        `json:"unseen"`   // what could not be seen
}

// plannedZone is what changes in one zone.
type plannedZone struct {
	Kind     string       `json:"kind"`
	Zone     *jsonRef     `json:"zone"`
	FQDN     string       `json:"fqdn"`
	Change   string       `json:"change"`   // zoneAdded, zoneChanged or zoneDeleted
	Backends []string     `json:"backends"` // those that it goes to, as far as the objects say
	Changes  []plannedSet `json:"changes"`
}

// What becomes of a zone.
const (
	zoneAdded   = "added"
	zoneChanged = "changed"
	zoneDeleted = "deleted"
)

// plannedObject is what an object is told after a change.
type plannedObject struct {
	jsonObject
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

// difference compares two compositions.
func difference(before, after *composition) *planned {
	d := &planned{Zones: []plannedZone{}, Accepted: []plannedObject{}, Refused: []plannedObject{}, Unseen: []string{}}
	d.compareZones(before, after)
	d.compareObjects(before, after)
	return d
}

func (d *planned) compareZones(before, after *composition) {
	old, now := map[manifest.Ref]*zoneResult{}, map[manifest.Ref]*zoneResult{}
	for i := range before.zones {
		old[before.zones[i].object.Ref] = &before.zones[i]
	}
	var refs []manifest.Ref
	for i := range after.zones {
		now[after.zones[i].object.Ref] = &after.zones[i]
		refs = append(refs, after.zones[i].object.Ref)
	}
	for ref := range old {
		if now[ref] == nil {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, manifest.Ref.Compare)
	for _, ref := range refs {
		was, is := old[ref], now[ref]
		had, has := was != nil && was.verdict.Accepted, is != nil && is.verdict.Accepted
		switch {
		case had && has && was.verdict.Name == is.verdict.Name:
			d.compareZone(zoneChanged, was, is, after)
		default: // one that has another name is another zone
			if had {
				d.compareZone(zoneDeleted, was, &zoneResult{object: was.object}, before)
			}
			if has {
				d.compareZone(zoneAdded, &zoneResult{object: is.object}, is, after)
			}
		}
	}
}

// compareZone adds what changes between two states of a zone, in what is delivered where the composition says.
func (d *planned) compareZone(change string, was, is *zoneResult, in *composition) {
	at := is
	if change == zoneDeleted {
		at = was
	}
	z := plannedZone{Kind: at.object.Kind, Zone: refOf(at.id()), FQDN: at.verdict.Name.String(), Change: change,
		Backends: in.backendsOf(at), Changes: []plannedSet{}}
	z.Changes = setChanges(was.sets(), is.sets())
	if len(z.Changes) > 0 || change != zoneChanged {
		d.Zones = append(d.Zones, z)
	}
}

// sets returns all sets of a zone, in canonical order. The SOA has no serial, which changes with all else.
func (z *zoneResult) sets() []rr.Set {
	if !z.verdict.Accepted {
		return nil
	}
	var out []rr.Set
	if !z.object.Zoneless() {
		out = append(out, soaSet(z.snapshot.Name, z.snapshot.SOA))
	}
	out = slices.AppendSeq(out, z.snapshot.Sets.All())
	slices.SortStableFunc(out, func(a, b rr.Set) int { return a.Key().Compare(b.Key()) })
	return out
}

// backendsOf returns the names of the Backends that a Zone goes to, those first that it names, there or not.
func (c *composition) backendsOf(z *zoneResult) []string {
	out := []string{}
	if z.object.Zone == nil {
		return out
	}
	if c.goes != nil {
		return c.goes[z.object.Ref]
	}
	refs := z.object.Zone.Spec.BackendRefs
	for _, ref := range refs {
		if c.serves(ref.Name, z) {
			out = append(out, ref.Name)
		}
	}
	for _, b := range c.backends {
		if len(refs) == 0 && b.Backend != nil && b.Backend.Spec.Default && c.serves(b.Name, z) {
			out = append(out, b.Name)
		}
	}
	return out
}

// serves reports whether a Backend does not refuse a Zone: one with grants serves those alone that they are for.
func (c *composition) serves(backend string, z *zoneResult) bool {
	grants, closed := c.granted[backend]
	return !closed || c.world.GrantedThrough(grants, z.id())
}

// compareObjects adds what objects are told.
func (d *planned) compareObjects(before, after *composition) {
	was := map[zone.ID]zone.Verdict{}
	for _, o := range before.told() {
		was[o.id] = o.verdict
	}
	for _, o := range after.told() {
		p := plannedObject{jsonObject(o.object.Ref), "", o.t, o.verdict.Accepted, absentBefore, o.verdict.Reason,
			o.verdict.Message}
		if !o.verdict.Name.IsZero() {
			p.FQDN = o.verdict.Name.String()
		}
		if old, known := was[o.id]; known && old.Accepted {
			p.Before = acceptedBefore
		} else if known {
			p.Before = refusedBefore
		}
		switch {
		case !p.Accepted:
			d.Refused = append(d.Refused, p)
		case p.Before != acceptedBefore:
			d.Accepted = append(d.Accepted, p)
		}
	}
}

// A telling is what one object is told.
type telling struct {
	object  *manifest.Object
	id      zone.ID
	t       string
	verdict zone.Verdict
}

// told returns what all objects are told.
func (c *composition) told() []telling {
	out := make([]telling, 0, len(c.zones)+len(c.records))
	for _, z := range c.zones {
		out = append(out, telling{z.object, z.id(), "", z.verdict})
	}
	for _, r := range c.records {
		t := typeOf(r.claim)
		if r.object.Record != nil {
			t = string(r.object.Record.Spec.Type)
		}
		out = append(out, telling{r.object, r.claim, t, r.verdict})
	}
	return out
}

// changes reports whether anything is otherwise after the change.
func (d *planned) changes() bool {
	return len(d.Zones)+len(d.Accepted) > 0 ||
		slices.ContainsFunc(d.Refused, func(o plannedObject) bool { return o.Before != refusedBefore })
}

// summary counts what changes.
func (d *planned) summary() string {
	var added, changed, deleted, refused int
	for _, z := range d.Zones {
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
		count(added, "set"), changed, deleted, count(len(d.Zones), "zone"), count(refused, "object"), were)
}

// title names a zone, and where it goes.
func (z *plannedZone) title() string {
	out := fmt.Sprintf("%s (%s)", z.FQDN, zone.ID{Kind: z.Kind, Namespace: z.Zone.Namespace, Name: z.Zone.Name})
	if z.Change != zoneChanged {
		out += " is " + z.Change
	}
	if len(z.Backends) > 0 {
		out += ", at " + strings.Join(z.Backends, ", ")
	}
	return oneLine(out)
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
	return oneLine(fmt.Sprintf("%s: %s%s: %s", what, o.Reason, was, o.Message))
}

// write writes the change for people.
func (d *planned) write(out io.Writer) {
	for _, z := range d.Zones {
		fmt.Fprintln(out, z.title())
		for _, s := range z.Changes {
			for _, line := range s.lines() {
				fmt.Fprintf(out, "  %s\n", oneLine(line))
			}
		}
		fmt.Fprintln(out)
	}
	for _, o := range d.Refused {
		fmt.Fprintf(out, "refused %s\n", o.line())
	}
	for _, what := range d.Unseen {
		fmt.Fprintf(out, "not seen: %s\n", oneLine(what))
	}
	fmt.Fprintln(out, d.summary())
}

// writeMarkdown writes the change for a comment of a pull request.
func (d *planned) writeMarkdown(out io.Writer) {
	fmt.Fprintf(out, "### DNS\n\n%s\n", d.summary())
	for _, z := range d.Zones {
		fmt.Fprintf(out, "\n<details><summary>%s: %s</summary>\n\n%sdiff\n", escaped(z.title()),
			count(len(z.Changes), "set"), fence)
		for _, s := range z.Changes {
			for _, line := range s.lines() {
				fmt.Fprintln(out, oneLine(line))
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
	for _, what := range d.Unseen {
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
