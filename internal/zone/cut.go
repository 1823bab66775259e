package zone

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A cut is what hides names of a zone: NS records below the apex (RFC 1034 §4.2.1),
// which hide what is at and below their name, or a DNAME (RFC 6672 §2.4), which hides
// what is below.
type cut struct {
	t       rr.Type // NS, DNAME or 0
	by      ID      // the sub-zone or claim that made it
	servers string  // the NS rdata: addresses of these names are glue, not hidden
}

// cut returns the cut that the merged sets make.
func (m *merger) cut() cut {
	for _, g := range m.groups {
		if g.t == rr.TypeDNAME || g.t == rr.TypeNS && !m.cell.apex() {
			data := slices.Sorted(slices.Values(g.data))
			return cut{g.t, g.by, " " + strings.Join(data, " ") + " "}
		}
	}
	return cut{}
}

// hides refuses an NS or DNAME claim that would hide names which other namespaces
// hold, unless all of those are younger than the claim.
func (m *merger) hides(claim *claimState) *Refusal {
	z := m.cell.zone
	free := m.cell.node.walk(func(n *node) bool {
		c := n.cell(z)
		return n == m.cell.node || c == nil || !slices.ContainsFunc(c.held, claim.yieldsTo)
	})
	if free {
		return nil
	}
	return &Refusal{HidesNames, fmt.Sprintf(
		"%s asks for a %s at %s, which would hide names below it that other namespaces hold in %s; choose a name that hides none.",
		claim.ID, claim.Type, claim.name, z.ID)}
}

// yieldsTo reports whether a cut by c may not hide a name that is held like that.
func (c *claimState) yieldsTo(h holding) bool {
	return h.namespace != c.ID.Namespace && h.created <= c.age.created
}

// stir marks the cut claims above a cell for which it matters that the namespaces
// which hold the cell's name changed.
func (w *World) stir(before, c *cell) {
	if slices.Equal(before.held, c.held) {
		return
	}
	for n := c.node; n != c.zone.node && n.parent != nil; {
		n = n.parent
		up := n.cell(c.zone)
		if up == nil {
			continue
		}
		for _, claim := range up.claims {
			if (claim.Type == rr.TypeNS || claim.Type == rr.TypeDNAME) &&
				slices.ContainsFunc(before.held, claim.yieldsTo) != slices.ContainsFunc(c.held, claim.yieldsTo) {
				w.cells.push(up)
			}
		}
	}
}

// unveil marks the accepted claims at and below a cut that came, went or changed.
func (w *World) unveil(c *cell) {
	c.node.walk(func(n *node) bool {
		if at := n.cell(c.zone); at != nil {
			for _, claim := range at.claims {
				w.notes[claim] = struct{}{}
			}
		}
		return true
	})
}

// occlusion returns the note for a claim that a cut of its own Zone hides.
func occlusion(c *claimState) (Note, bool) {
	z := c.home
	var by *cell
	for n := c.node; n != nil && n != z.node.parent; n = n.parent {
		at := n.cell(z)
		if at == nil || at.cut.t == 0 {
			continue
		}
		if n == c.node && (at.cut.t == rr.TypeDNAME || c.Type == rr.TypeNS || c.Type == rr.TypeDS) {
			continue
		}
		if at.cut.t == rr.TypeNS && isAddress(c.Type) && at.cut.serves(c.name) {
			continue
		}
		by = at // the highest one is what a resolver meets first
	}
	if by == nil {
		return Note{}, false
	}
	return Note{Occluded, fmt.Sprintf(
		"%s %s is in %s, but hidden by the %s records of %s at %s; move it into that zone or choose another name.",
		c.name, c.Type, z.ID, by.cut.t, by.cut.by, by.node.name), by.cut.by}, true
}

func (c cut) serves(name dnsname.Name) bool {
	return strings.Contains(c.servers, " "+name.String()+" ")
}

func isAddress(t rr.Type) bool { return t == rr.TypeA || t == rr.TypeAAAA }
