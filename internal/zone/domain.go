package zone

// disturb enqueues what depends on the accepted Zone at n, or on the Zones that delegate
// to it: the claims of its domain, which are the names that no Zone below it has, and
// those that refer to Zones which ask for the name. The domains of Zones below are
// enqueued only if their own delegations lead here; see judgeZones.
func (w *World) disturb(n *node, before *zoneState) {
	n.domain(func(at *node) {
		w.visits++
		for _, c := range at.claims {
			w.rehome(c)
		}
		for p := range at.needed {
			w.enqueueCell(at, p, true)
		}
		w.turnNode(at)
	})
	for _, c := range n.cells {
		w.cells.push(c)
	}
	for _, z := range n.zones() {
		if r := w.refs[z.ID]; r != nil {
			for c := range r.claims {
				w.rehome(c)
			}
		}
	}
	if before != nil {
		w.enqueueOwn(before)
		w.closeBlock(before)
		w.updateEldersOfParents(n, before)
	}
	if n.owner != nil {
		w.openBlock(n.owner)
	}
	if n.owner != nil && n.owner != before {
		w.enqueueOwn(n.owner)
		w.updateEldersOfParents(n, n.owner)
	}
}

// rehome enqueues a claim whose name or Zone may have changed.
func (w *World) rehome(c *claimState) {
	if !c.homing {
		c.homing = true
		w.homes = append(w.homes, c)
	}
}

// enqueueReport enqueues a claim whose verdict may have changed.
func (w *World) enqueueReport(c *claimState) {
	if !c.reporting {
		c.reporting = true
		w.reports = append(w.reports, c)
	}
}

// recompose enqueues all cells of a Zone.
func (w *World) recompose(z *zoneState) {
	if z.accepted() {
		w.eachCell(z, z.node.name, func(c *cell) bool {
			w.visits++
			w.cells.push(c)
			return true
		})
	}
}
