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
		w.addresses.closeBlock(before)
		w.updateEldersOfParents(n, before)
	}
	if n.owner != nil {
		w.addresses.openBlock(n.owner)
	}
	if n.owner != nil && n.owner != before {
		w.enqueueOwn(n.owner)
		w.updateEldersOfParents(n, n.owner)
	}
}
