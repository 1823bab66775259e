package zone

// A holding says that a namespace holds a name, and since when.
type holding struct {
	namespace string
	created   int64 // see ageOf
}

func (z *zoneState) holding() holding { return holding{z.ID.Namespace, z.created} }

func (c *claimState) holding() holding { return holding{c.ID.Namespace, c.created} }

// hides reports whether an NS or DNAME claim would hide names which other namespaces
// hold, and not all of those are younger than the claim. child is the Zone that has
// the claim's own name, if there is one: DNAME hides its names too.
func (m *merger) hides(claim *claimState, child *zoneState) bool {
	c := m.cell
	if c.below == nil {
		c.below = m.world.survey(c)
	}
	return c.below.bar(claim) || child != nil && claim.yieldsTo(child.holding())
}

// yieldsTo reports whether a cut by c may not hide a name that is held like that.
func (c *claimState) yieldsTo(h holding) bool {
	return h.namespace != c.ID.Namespace && h.created <= c.created
}

// survey finds out who holds the names below a cell: by claims and glue in the same
// Zone, and by Zones to which it delegates. It visits all of them, and so is done only
// where a claim asks for a cut; stir keeps the result.
func (w *World) survey(c *cell) *elders {
	e := &elders{}
	if c.node.child == nil {
		return e
	}
	w.eachCell(c.zone, c.node.name, func(at *cell) bool {
		if at != c {
			for _, h := range at.held {
				e.add(h)
			}
		}
		return true
	})
	c.node.walkZones(func(n *node) {
		if n.owner != nil && n.owner.descends(c.zone) {
			e.add(n.owner.holding())
		}
	})
	return e
}

// stir tells the cells of z above a name, where claims ask for a cut, that the name is
// held differently.
func (w *World) stir(n *node, z *zoneState, before, after []holding) {
	for n != z.node && n.parent != nil {
		n = n.parent
		up := n.cell(z)
		if up == nil || up.below == nil {
			continue
		}
		was := *up.below
		for _, h := range before {
			up.below.remove(h)
		}
		for _, h := range after {
			up.below.add(h)
		}
		if up.below.lost {
			up.below = nil
		}
		if up.below == nil || *up.below != was {
			w.cells.push(up)
		}
	}
}

// elders are the oldest holding below a name and the oldest one of another namespace,
// with how many there are of each: all that is needed to tell whether somebody else
// holds a name there since before a given time.
type elders struct {
	first, second elder
	lost          bool // the last of an elder is gone, and who follows is not known
}

type elder struct {
	holding
	count int
}

func (e *elders) add(h holding) {
	switch {
	case e.first.count == 0:
		e.first = elder{h, 1}
	case h == e.first.holding:
		e.first.count++
	case h.namespace == e.first.namespace:
		if h.created < e.first.created {
			e.first = elder{h, 1}
		}
	case h.created < e.first.created:
		e.first, e.second = elder{h, 1}, e.first
	case h == e.second.holding:
		e.second.count++
	case e.second.count == 0 || h.created < e.second.created:
		e.second = elder{h, 1}
	}
}

func (e *elders) remove(h holding) {
	for _, elder := range []*elder{&e.first, &e.second} {
		if elder.count > 0 && elder.holding == h {
			elder.count--
			e.lost = e.lost || elder.count == 0
		}
	}
}

// bar reports whether there is a name that a cut by c may not hide.
func (e *elders) bar(c *claimState) bool {
	return e.first.count > 0 && c.yieldsTo(e.first.holding) || e.second.count > 0 && c.yieldsTo(e.second.holding)
}
