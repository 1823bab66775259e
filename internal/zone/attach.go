package zone

import (
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// insert puts a Zone into its tree at its name.
func (w *work) insert(z *zoneState, name dnsname.Name) {
	n := z.tree.node(name)
	z.node = n
	if n.sites == nil {
		n.sites = &sites{}
	}
	i, _ := slices.BinarySearchFunc(n.sites.zones, z, (*zoneState).compare)
	n.sites.zones = slices.Insert(n.sites.zones, i, z)
	for up := n.parent; up != nil; up = up.parent {
		up.below++
	}
	w.rejudge(n, false)
}

// remove takes a Zone out of its tree. The node stays until its cells are gone.
func (w *work) remove(z *zoneState) {
	n := z.node
	if n == nil {
		return
	}
	if i := slices.Index(n.sites.zones, z); i >= 0 {
		n.sites.zones = slices.Delete(n.sites.zones, i, i+1)
	}
	for up := n.parent; up != nil; up = up.parent {
		up.below--
	}
	w.rejudge(n, false)
}

// treeOf returns the tree of the Zone that a reference names, or else the common one.
func (o *objects) treeOf(ref ID) *tree {
	if z := o.zones[ref]; z != nil {
		return z.tree
	}
	return o.tree
}

// attach puts a claim at its name in a tree; zero takes it away from where it was.
func (w *work) attach(c *claimState, t *tree, name dnsname.Name) {
	old := c.node
	c.node = nil
	if !name.IsZero() {
		c.node = t.node(name)
		c.node.claims = append(c.node.claims, c)
	}
	if old == nil {
		return
	}
	if i := slices.Index(old.claims, c); i >= 0 {
		old.claims = slices.Delete(old.claims, i, i+1)
	}
	w.prune(old)
}

func (w *World) addZone(z Zone) {
	state := &zoneState{Zone: z, tree: w.tree, created: ageOf(z.Created), parts: partsOf(z.Rules)}
	state.taken = z.ID.String() + " holds it."
	if z.Policy.alone() {
		state.tree = newTree()
	}
	if z.Reverse != nil {
		w.observeAddresses()
	}
	w.zones[z.ID] = state
	if !z.Where.Ref.IsZero() {
		w.referrers(z.Where.Ref).zones[state] = struct{}{}
	}
	w.moved[z.ID] = struct{}{}
	w.delta.verdicts[z.ID] = struct{}{}
	w.delta.zone(z.ID).Fresh = true
	w.closed[state] = struct{}{}
}

// dropZone takes a Zone out; its cells empty when they are composed.
func (w *World) dropZone(z *zoneState) {
	delete(w.zones, z.ID)
	w.dropReferrer(z.Where.Ref, func(r *referrers) { delete(r.zones, z) })
	w.moved[z.ID] = struct{}{}
	delete(w.closed, z)
	w.remove(z)
	z.dead = true
}

func (w *World) dropClaim(c *claimState) {
	w.dropReferrer(c.Where.Ref, func(r *referrers) { delete(r.claims, c) })
	w.composer.leave(c)
	w.attach(c, nil, dnsname.Name{})
	c.dead = true
}

func (w *World) referrers(id ID) *referrers {
	r := w.refs[id]
	if r == nil {
		r = &referrers{zones: map[*zoneState]struct{}{}, claims: map[*claimState]struct{}{}}
		w.refs[id] = r
	}
	return r
}

func (w *World) dropReferrer(id ID, drop func(*referrers)) {
	r := w.refs[id]
	if r == nil {
		return
	}
	drop(r)
	if len(r.zones)+len(r.claims) == 0 {
		delete(w.refs, id)
	}
}
