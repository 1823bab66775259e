package zone

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// An Explanation is the way from a question about a name, or about an object, to the answer.
type Explanation struct {
	Name    dnsname.Name
	Type    rr.Type // 0: of a Zone as a whole
	Subject ID      // whose Verdict it is: who has the name, or else asks for it first; zero: nobody asks for it
	Holder  ID      // who has the name; zero: nobody
	Verdict Verdict // of Subject; of nobody: what a claim of the namespace that asks would be told
	Zone    ID      // that has the name, or is asked for it first; zero: none does
	Steps   []Step  // who was asked, in that order
	Set     rr.Set  // what Zone has of the name and type; empty: nothing, or Type is 0
	Derived bool    // Set follows from other objects, of which Subject is one; no claim asks for it
	Beside  []ID    // the other claims at the name, of any type, by Compare

	Enclosing []ID // the accepted Zones at or above Name, the nearest first
}

// Explain says who has the records of a type at a name, and why. Type 0 is all: then a Zone is what its own name
// stands for. Where nobody asks for it, it says what a claim of namespace would be told; "" is that of the Zone. Names
// that only a pinned Zone has are found there. The World has to be settled.
func (w *World) Explain(name dnsname.Name, t rr.Type, namespace string) Explanation {
	tree := w.treeWith(name, t)
	e, asked := w.explain(tree.find(name), t, namespace)
	if !asked {
		e = w.explainFree(tree, name, t, namespace)
	}
	e.Enclosing = tree.atOrAbove(name).enclosing()
	return e
}

// explain explains a name that somebody asks for; n is nil where there is none.
func (o *objects) explain(n *node, t rr.Type, namespace string) (e Explanation, asked bool) {
	if n == nil {
		return e, false
	}
	if t == 0 || t == rr.TypeSOA {
		if sites := n.zones(); n.owner != nil {
			return o.explainZone(n.owner, t), true
		} else if t == 0 && len(sites) > 0 && len(n.claims) == 0 {
			return o.explainZone(sites[0], t), true
		}
	}
	if c := first(n.claims, t, func(c *claimState) bool { return c.accepted }); c != nil {
		return o.explainClaim(c), true
	}
	if z, set := n.holds(t); z != nil {
		return explainDerived(n, z, set), true
	}
	mine := func(c *claimState) bool { return namespace == "" || c.ID.Namespace == namespace }
	if c := first(n.claims, t, mine); c != nil {
		return o.explainClaim(c), true
	}
	return e, false
}

// ExplainObject says what was decided about one object, and why; false if the World does not know it.
func (o *objects) ExplainObject(id ID) (Explanation, bool) {
	var e Explanation
	var at *node
	switch z, c := o.zones[id], o.claims[id]; {
	case z != nil:
		e, at = o.explainZone(z, 0), z.node
	case c != nil:
		e, at = o.explainClaim(c), c.node
	default:
		return e, false
	}
	e.Enclosing = at.enclosing()
	return e, true
}

// treeWith returns the tree in which a name is looked for: the common one, unless only a pinned Zone has, or encloses,
// the name. Of several the first by ID counts.
func (o *objects) treeWith(name dnsname.Name, t rr.Type) *tree {
	if n := o.tree.find(name); n != nil && (len(n.claims) > 0 || n.sites != nil) || o.tree.nearest(name) != nil {
		return o.tree
	}
	var found *zoneState
	claimed := func(z *zoneState) bool {
		n := z.tree.find(name)
		return n != nil && first(n.claims, t, func(*claimState) bool { return true }) != nil
	}
	better := func(z *zoneState) bool { // a claim counts more than a Zone that is just there
		if !z.accepted() || z.tree == o.tree || !name.Under(z.node.name) {
			return false
		}
		has := claimed(z)
		if !has && !z.Policy.isZone() {
			return false
		}
		had := found != nil && claimed(found)
		return found == nil || has && !had || has == had && z.ID.Compare(found.ID) < 0
	}
	for _, z := range o.zones {
		if better(z) {
			found = z
		}
	}
	if found == nil {
		return o.tree
	}
	return found.tree
}

// nearest returns the accepted Zone that most closely encloses a name, which may have no node; nil: none does.
func (t *tree) nearest(name dnsname.Name) *zoneState {
	return t.atOrAbove(name).nearest()
}

// first returns the claim of a type, or of any, that comes first of those that are meant; nil: there is none. Those of
// a Zone further down come first.
func first(claims []*claimState, t rr.Type, meant func(*claimState) bool) *claimState {
	var out *claimState
	depth := func(c *claimState) int {
		if c.cell == nil || c.cell.zone.node == nil {
			return -1
		}
		return c.cell.zone.node.depth
	}
	for _, c := range claims {
		if (t == 0 || c.Type == t) && meant(c) &&
			(out == nil || cmp.Or(cmp.Compare(depth(out), depth(c)), cmp.Compare(c.Type, out.Type), c.compare(out)) < 0) {
			out = c
		}
	}
	return out
}

// holds returns the Zone furthest down that holds a set of the type, or of any, at the name, without any claim; nil:
// none does.
func (n *node) holds(t rr.Type) (*zoneState, rr.Set) {
	var found *cell
	for _, c := range n.cells {
		deeper := found == nil || c.zone.node.depth > found.zone.node.depth
		if c.zone.live() && deeper && (t == 0 && len(c.sets) > 0 || c.set(t).Data != nil) {
			found = c
		}
	}
	switch {
	case found == nil:
		return nil, rr.Set{}
	case t == 0:
		return found.zone, found.sets[0]
	}
	return found.zone, found.set(t)
}

func (o *objects) explainZone(z *zoneState, t rr.Type) Explanation {
	e := Explanation{Type: t, Subject: z.ID, Verdict: z.verdict}
	if z.node == nil {
		return e
	}
	e.Name, e.Zone = z.node.name, z.ID
	if z.node.owner != nil {
		e.Holder = z.node.owner.ID
	}
	if z.accepted() && t == rr.TypeSOA {
		e.Set = rr.Set{Name: e.Name, Type: t, TTL: z.soa.TTL, Data: []string{z.soa.Data()}}
	}
	e.Beside = besides(z.node, ID{})
	for _, other := range z.node.zones() {
		if other != z {
			e.Beside = append(e.Beside, other.ID)
		}
	}
	if z.Policy.alone() {
		return e
	}
	rule, _ := o.judgeZone(z, func(up *zoneState, said Reason) { e.Steps = append(e.Steps, up.stepOfZone(z, said)) })
	switch {
	case rule.reason == NotGranted:
		e.Steps = append(e.Steps, Step{Reason: NotGranted, Message: fmt.Sprintf(
			"No Backend grants %s to namespace %s.", e.Name, z.ID.Namespace)})
	case rule.reason == Accepted && rule.parent == nil && rule.within == nil:
		e.Steps = append(e.Steps, o.grantStep(z))
	}
	return e
}

func (o *objects) explainClaim(c *claimState) Explanation {
	v := c.reported.verdict()
	e := Explanation{Name: c.name(), Type: c.Type, Subject: c.ID, Verdict: v, Zone: v.Zone}
	if c.node == nil {
		return e
	}
	e.Holder, e.Beside = c.node.holder(c.Type), besides(c.node, c.ID)
	if e.Zone.IsZero() {
		if z := c.node.nearest(); z != nil {
			e.Zone = z.ID
		}
	}
	if c.cell != nil && c.accepted {
		e.Set = c.cell.set(c.Type)
	}
	if c.Invalid == nil {
		e.Steps = o.steps(c)
	}
	return e
}

func explainDerived(n *node, z *zoneState, set rr.Set) Explanation {
	e := Explanation{Name: n.name, Type: set.Type, Zone: z.ID, Set: set, Derived: true, Subject: z.ID,
		Beside: besides(n, ID{})}
	for _, d := range n.cell(z).derived() {
		if d.set.Type == set.Type {
			e.Subject = d.from.ID
		}
	}
	if set.Type == rr.TypePTR && len(n.named) > 0 {
		e.Subject = n.named[0].ID
	}
	e.Holder = e.Subject
	e.Verdict = Verdict{Accepted: true, Reason: Accepted, Name: n.name, Zone: z.ID, Message: fmt.Sprintf(
		"%s has %s %s automatically: it follows from %s.", z.ID, n.name, set.Type, e.Subject)}
	return e
}

// explainFree explains a name that nobody asks for.
func (w *World) explainFree(t *tree, name dnsname.Name, of rr.Type, namespace string) Explanation {
	e := Explanation{Name: name, Type: cmp.Or(of, rr.TypeA)}
	z := t.nearest(name)
	if z != nil {
		e.Zone = z.ID
		namespace = cmp.Or(namespace, z.ID.Namespace)
	}
	c := Claim{ID: ID{KindRecord, cmp.Or(namespace, "default"), "new"}, Type: e.Type, Data: []string{""},
		Where: Where{Name: name}, Created: time.Unix(0, whatIf)}
	if z != nil && z.Policy.alone() {
		c.Where.Ref = z.ID
	}
	for w.claims[c.ID] != nil {
		c.ID.Name += "-"
	}
	f, _ := w.ForeseeClaim(c, math.MaxInt)
	e.Verdict = f.Verdict
	at := t.find(name)
	if at == nil {
		at = newNode(name)
		at.parent, _ = t.above(name)
	} else {
		e.Holder, e.Beside = at.holder(e.Type), besides(at, ID{})
	}
	e.Steps = w.steps(&claimState{Claim: c, created: whatIf, node: at})
	return e
}

// besides returns the claims at a name but one.
func besides(n *node, but ID) []ID {
	var out []ID
	for _, c := range n.claims {
		if c.ID != but {
			out = append(out, c.ID)
		}
	}
	slices.SortFunc(out, ID.Compare)
	return out
}

// holder returns the claim that has a type at the name, or else another type there; zero: none has.
func (n *node) holder(t rr.Type) ID {
	accepted := func(c *claimState) bool { return c.accepted }
	c := first(n.claims, t, accepted)
	if c == nil {
		c = first(n.claims, 0, accepted)
	}
	if c == nil {
		return ID{}
	}
	return c.ID
}
