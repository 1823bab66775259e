package zone

import "github.com/zonefold/zonefold/internal/dnsname"

// work is what Settle still has to do, and what it has changed. Its methods know no objects but those that they are
// given, and what is tied to these.
type work struct {
	moved   map[ID]struct{}           // Zones whose name has to be resolved
	judge   map[*node]bool            // names whose Zones have to be judged; true: by what is above, too
	redo    map[*node]struct{}        // of those: the rules of the accepted one changed
	homes   []*claimState             // claims whose Zone has to be found
	cells   queue                     // cells to compose
	reports []*claimState             // claims whose verdict may have changed
	closed  map[*zoneState]struct{}   // Zones to finish: content, verdict or parent changed
	turned  map[dnsname.Name]struct{} // addresses whose PTR or CNAME may have changed
	delta   deltaBuilder
	visits  int // names, claims and Zones looked at, for tests of what a change costs
}

func newWork() work {
	return work{moved: map[ID]struct{}{}, judge: map[*node]bool{}, redo: map[*node]struct{}{},
		closed: map[*zoneState]struct{}{}, turned: map[dnsname.Name]struct{}{}, delta: newDeltaBuilder()}
}

// rejudge enqueues the Zones at a name; above: what is above them may say something else.
func (w *work) rejudge(n *node, above bool) { w.judge[n] = w.judge[n] || above }

// rehome enqueues a claim whose name or Zone may have changed.
func (w *work) rehome(c *claimState) {
	if !c.homing {
		c.homing = true
		w.homes = append(w.homes, c)
	}
}

// enqueueReport enqueues a claim whose verdict may have changed.
func (w *work) enqueueReport(c *claimState) {
	if !c.reporting {
		c.reporting = true
		w.reports = append(w.reports, c)
	}
}

// recompose enqueues all cells of a Zone.
func (w *work) recompose(z *zoneState) {
	if z.accepted() {
		z.eachCell(z.node.name, func(c *cell) bool {
			w.visits++
			w.cells.push(c)
			return true
		})
	}
}

// enqueueCell enqueues the cell of z at n. With derive it makes the cell if there is none.
func (w *work) enqueueCell(n *node, z *zoneState, derive bool) {
	if z == nil {
		return
	}
	if c := n.cell(z); c != nil {
		w.cells.push(c)
	} else if derive && !z.dead {
		w.cells.push(n.makeCell(z))
	}
}
