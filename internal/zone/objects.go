package zone

import (
	"cmp"
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// objects are what was put, with what was decided about it. Their methods answer questions: none of them enqueues
// anything, and so none changes what was decided.
type objects struct {
	opts   Options
	zones  map[ID]*zoneState
	claims map[ID]*claimState
	refs   map[ID]*referrers  // who refers to a Zone, whether it exists or not
	going  map[ID]bool        // Zones whose objects are still there, and being deleted
	tree   *tree              // of all Zones but pinned ones, each of which has its own
	grants map[string][]Grant // by Backend
}

// referrers are the objects that refer to one Zone.
type referrers struct {
	zones  map[*zoneState]struct{}
	claims map[*claimState]struct{}
}

// Verdict returns what the last Settle decided about an object.
func (o *objects) Verdict(id ID) (Verdict, bool) {
	if z := o.zones[id]; z != nil {
		return z.verdict, true
	}
	if c := o.claims[id]; c != nil {
		return c.reported.verdict(), true
	}
	return Verdict{}, false
}

// Snapshot returns the content of an accepted Zone as of the last Settle.
func (o *objects) Snapshot(id ID) (Snapshot, bool) {
	z := o.zones[id]
	if z == nil || !z.accepted() {
		return Snapshot{}, false
	}
	ds := z.node.cell(z).ds()
	return Snapshot{ID: z.ID, Name: z.node.name, Sets: z.sets, SOA: z.soa, Hash: z.hash.sum, DS: ds}, true
}

// Adopted calls yield for every claim that the Zone adopted, in no order.
func (o *objects) Adopted(id ID, yield func(ID) bool) {
	z := o.zones[id]
	if z == nil || !z.accepted() {
		return
	}
	z.eachCell(z.node.name, func(c *cell) bool {
		for _, claim := range c.claims {
			if claim.accepted && !yield(claim.ID) {
				return false
			}
		}
		return true
	})
}

// Served calls yield for every claim whose set is to be at the servers of the Zone, in no order: those that it adopted,
// without DS that the Zone above serves, and the DS of Zones below.
func (o *objects) Served(id ID, yield func(ID) bool) {
	if z := o.zones[id]; z != nil && z.accepted() {
		z.eachCell(z.node.name, func(c *cell) bool { return c.served(0, yield) })
	}
}

// ServedAt calls yield for every such claim of one set, in no order.
func (o *objects) ServedAt(id ID, key rr.Key, yield func(ID) bool) {
	if c := o.cellAt(id, key.Name); c != nil {
		c.served(key.Type, yield)
	}
}

// served visits the claims of a type in a cell, and those of a Zone below that it serves; 0: of all types.
func (c *cell) served(t rr.Type, yield func(ID) bool) bool {
	visit := func(at *cell) bool {
		for _, claim := range at.claims {
			its := claim.accepted && (t == 0 || claim.Type == t) && cmp.Or(claim.above(), at.zone) == c.zone
			if its && !yield(claim.ID) {
				return false
			}
		}
		return true
	}
	if child := c.node.owner; child != nil && child.feeds == c.zone && !visit(c.node.cell(child)) {
		return false
	}
	return visit(c)
}

// cellAt returns what an accepted Zone holds at a name, or nil.
func (o *objects) cellAt(id ID, name dnsname.Name) *cell {
	z := o.zones[id]
	if z == nil || !z.accepted() || z.tree.nodes[name] == nil {
		return nil
	}
	return z.tree.nodes[name].cell(z)
}

// AdoptedAt calls yield for every claim that the Zone adopted into one set, in no order.
func (o *objects) AdoptedAt(id ID, key rr.Key, yield func(ID) bool) {
	c := o.cellAt(id, key.Name)
	if c == nil {
		return
	}
	for _, claim := range c.claims {
		if claim.accepted && claim.Type == key.Type && !yield(claim.ID) {
			return
		}
	}
}

// RefusedAt calls yield for every claim to a name that no Zone has adopted, in no order, as far as Zones are in the
// common tree.
func (o *objects) RefusedAt(name dnsname.Name, yield func(ID) bool) {
	n := o.tree.find(name)
	if n == nil {
		return
	}
	for _, c := range n.claims {
		if !c.accepted && !yield(c.ID) {
			return
		}
	}
}

// ZoneOf returns the accepted Zone of a name, as far as Zones are in the common tree.
func (o *objects) ZoneOf(name dnsname.Name) (ID, bool) {
	if n := o.tree.find(name); n != nil && n.owner != nil {
		return n.owner.ID, true
	}
	return ID{}, false
}

// OpenTo returns the names, in order, of the accepted Zones whose rules let a namespace have records of some kind.
func (o *objects) OpenTo(namespace string) (names []dnsname.Name) {
	for _, z := range o.zones {
		open := func(r Rule) bool { return len(r.Records) > 0 && r.covers(namespace) }
		if z.accepted() && slices.ContainsFunc(z.Rules, open) {
			names = append(names, z.node.name)
		}
	}
	slices.SortFunc(names, dnsname.Name.Compare)
	return names
}

// A Snapshot is the content of one Zone at one moment. It is immutable.
type Snapshot struct {
	ID   ID
	Name dnsname.Name
	Sets rr.Sets // without the SOA
	SOA  rr.SOA  // Serial is 0
	Hash string  // over Sets
	DS   rr.Set  // of the Zone's own name, which belongs into the zone above and is not in Sets
}
