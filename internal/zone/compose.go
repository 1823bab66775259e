package zone

import (
	"cmp"
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// A composer makes the sets of cells, and decides about the claims in them, as far as the options allow. It knows
// neither Zones and claims by their IDs, nor grants.
type composer struct {
	*work
	opts      Options
	addresses *addresses
	scratch   scratch // of the cell that was composed last, kept to save making it anew
}

// scratch is what a merger gathers.
type scratch struct {
	groups []group
	types  []rr.Type // of groups, until those are sorted
	held   []holding
}

// merger returns an empty merger for a cell.
func (p *composer) merger(c *cell) merger {
	s := p.scratch
	return merger{composer: p, cell: c, scratch: scratch{s.groups[:0], s.types[:0], s.held[:0]}}
}

// compose recomputes one cell and passes on what others depend on.
func (p *composer) compose(c *cell) {
	p.visits += 1 + len(c.claims)
	m := p.merger(c)
	c.first = nil
	switch {
	case !c.zone.live():
	case c.zone.Policy.merges():
		m.merge()
	default:
		m.divide()
	}
	if !m.cuts {
		c.below = nil
	}
	before := *c
	p.store(c, &m)
	p.pass(&before, c, m.held)
	c.zone.leaving += c.left() - before.left()
	c.held = append(c.holder[:0], m.held...)
	p.scratch = m.scratch
	if len(c.claims) == 0 && len(c.sets) == 0 && c.special == nil {
		c.node.cells = slices.DeleteFunc(c.node.cells, func(o *cell) bool { return o == c })
		p.prune(c.node)
	}
}

// store writes what the merge gave into the cell and its Zone's content.
func (p *composer) store(c *cell, m *merger) {
	slices.SortFunc(m.groups, func(a, b group) int { return cmp.Compare(a.t, b.t) })
	sets := make([]rr.Set, 0, len(m.groups))
	var ds rr.Set
	for i := range m.groups {
		g := &m.groups[i]
		set := rr.NewSet(rr.Key{Name: c.node.name, Type: g.t}, g.ttl, g.data...)
		if g.t == rr.TypeDS && c.apex() {
			ds = set
			continue
		}
		sets = append(sets, set)
		if was := c.set(g.t); !was.Equal(set) {
			p.replace(c.zone, was, set)
		}
	}
	old := c.sets
	c.sets, c.special = sets, nil
	for _, was := range old {
		if c.set(was.Type).Data == nil {
			p.replace(c.zone, was, rr.Set{})
		}
	}
	if cut := m.cut(); ds.Data != nil || cut.t != 0 || m.derived || m.leaves {
		c.special = &special{ds, cut, m.derived, m.leaves}
	}
	p.closed[c.zone] = struct{}{}
}

// replace changes one set of a Zone's content; empty sets are none.
func (p *composer) replace(z *zoneState, was, set rr.Set) {
	if !z.live() || p.opts.VerdictsOnly {
		return // its content is gone as a whole, or there is none
	}
	if was.Data != nil {
		z.hash.remove(was)
	}
	if set.Data == nil {
		z.change().Delete(was.Key())
		p.delta.key(z.ID, was.Key())
		return
	}
	z.hash.add(set)
	z.change().Put(set)
	p.delta.key(z.ID, set.Key())
}

// A merger makes the sets of one cell from its claims and what sub-zones derive.
type merger struct {
	composer *composer
	cell     *cell
	scratch
	given []derived
	glue  int  // how many of held are of sub-zones
	cuts  bool // a claim asks for a cut

	derived, leaves bool // see special
}

func (m *merger) merge() {
	m.given = m.cell.derived()
	for _, d := range m.given {
		g := m.add(group{t: d.set.Type, ttl: d.set.TTL, by: d.from.ID})
		for _, data := range d.set.Data {
			g.add(data)
		}
		if isAddress(d.set.Type) {
			m.held = append(m.held, d.from.holding())
		}
	}
	m.glue = len(m.held)
	m.own()
	m.claims()
	m.addServerAddresses()
	m.addPointers()
}

// claims goes through the claims in order of precedence: who comes first is not
// changed by who comes later, and who is refused stands against nobody.
func (m *merger) claims() {
	for _, claim := range m.cell.claims {
		why := m.bar(claim)
		if why.reason == "" {
			why = m.take(claim)
		}
		if why.reason != "" {
			m.composer.refuse(claim, why)
		}
	}
}

func (m *merger) against(reason Reason, by ID) cause {
	return cause{reason: reason, zone: m.cell.zone, by: by}
}

// conflict is the cause of who cannot stand beside, or in, a set.
func (m *merger) conflict(g *group) cause {
	return cause{reason: Conflict, zone: m.cell.zone, by: g.by, has: g.t}
}

// bar refuses claims that no state of the name itself would let in; they do not
// hold the name either.
func (m *merger) bar(claim *claimState) cause {
	c := m.cell
	switch {
	case claim.Type == rr.TypeNS && c.node.name.IsWildcard():
		return m.against(InvalidName, ID{})
	case c.apex() && claim.Type == rr.TypeCNAME:
		return m.against(Conflict, ID{})
	case claim.Type == rr.TypeCNAME && c.zone.unaliased(c.node.name):
		return m.against(Conflict, c.zone.ID)
	case c.apex() && claim.Type == rr.TypeDS && c.zone.parent() == nil:
		return m.against(NoZone, ID{})
	case claim.Type == rr.TypeNS && !c.apex(), claim.Type == rr.TypeDNAME:
		child := c.delegated()
		if child != nil && !m.mayJoin(claim, child) {
			return m.against(NameHeld, child.ID)
		}
		if child != nil && claim.Type == rr.TypeNS {
			return cause{} // the name is a cut already
		}
		m.cuts = true
		if m.hides(claim, child) {
			return m.against(HidesNames, ID{})
		}
	}
	return cause{}
}

// delegated returns the Zone that has the cell's name by delegations of the cell's.
func (c *cell) delegated() *zoneState {
	if child := c.node.owner; child != nil && child != c.zone && child.descends(c.zone) {
		return child
	}
	return nil
}

// mayJoin reports whether a claim may add to what a sub-zone has: its own people and
// those of the parent may.
func (m *merger) mayJoin(claim *claimState, child *zoneState) bool {
	ns := claim.ID.Namespace
	return ns == child.ID.Namespace || ns == m.cell.zone.ID.Namespace
}

// take merges a claim into the set of its type, or says why not.
func (m *merger) take(claim *claimState) cause {
	g := m.find(claim.Type)
	if why := m.opposes(claim, g); why.reason != "" {
		return why
	}
	if why := m.overfills(claim, g); why.reason != "" {
		return why
	}
	m.hold(claim, m.join(claim, g))
	return cause{}
}

// opposes refuses a claim for what others have at the name; g is the set of its type.
func (m *merger) opposes(claim *claimState, g *group) cause {
	if why := m.heldBy(claim, g); why.reason != "" {
		return why
	}
	if why := m.excludes(claim); why.reason != "" {
		return why
	}
	return m.splits(claim)
}

// overfills refuses a claim for which the set of its type, g, or the name has no room.
func (m *merger) overfills(claim *claimState, g *group) cause {
	if g == nil {
		if len(m.groups) >= m.composer.opts.MaxTypes || len(claim.Data) > m.maxSet() {
			return m.against(SetFull, ID{})
		}
		return cause{}
	}
	switch more := g.lacks(claim.Data); {
	case more > 0 && claim.Type.Singleton():
		return m.conflict(g)
	case len(g.data)+more > m.maxSet():
		return m.against(SetFull, ID{})
	}
	return cause{}
}

// join takes a claim into the set of its type, g, or begins that.
func (m *merger) join(claim *claimState, g *group) *group {
	ttl := m.cell.zone.TTL
	if claim.TTL != nil {
		ttl = *claim.TTL
	}
	if g == nil {
		g = m.add(group{t: claim.Type, ttl: ttl, data: slices.Clip(claim.Data), by: claim.ID, terms: claim.Terms})
	} else {
		g.join(claim.Data)
	}
	m.composer.accept(claim, g.differs(claim, ttl))
	return g
}

// excludes refuses a CNAME beside other types, and these beside a CNAME (RFC 1034 §3.6.2).
func (m *merger) excludes(claim *claimState) cause {
	for i := range min(len(m.groups), 2) { // of two, one is not of the claim's type
		if g := &m.groups[i]; g.t != claim.Type && (g.t.Exclusive() || claim.Type.Exclusive()) {
			return m.conflict(g)
		}
	}
	return cause{}
}

// splits refuses a claim below the apex beside which a cut or a DNAME of somebody else would be, or the other way
// round; and DNAME beside NS, which is allowed at the apex only (RFC 6672 §2.3).
func (m *merger) splits(claim *claimState) cause {
	if m.cell.apex() {
		return cause{}
	}
	if g := m.severs(claim); g != nil {
		return cause{reason: Conflict, zone: m.cell.zone, by: g.holder.ID, has: g.t}
	}
	for _, pair := range [][2]rr.Type{{rr.TypeDNAME, rr.TypeNS}, {rr.TypeNS, rr.TypeDNAME}} {
		if g := m.find(pair[0]); g != nil && claim.Type == pair[1] {
			return m.conflict(g)
		}
	}
	return cause{}
}

func (m *merger) add(g group) *group {
	m.groups, m.types = append(m.groups, g), append(m.types, g.t)
	return &m.groups[len(m.groups)-1]
}

func (m *merger) find(t rr.Type) *group {
	if i := slices.Index(m.types, t); i >= 0 {
		return &m.groups[i]
	}
	return nil
}

// accept takes a claim; what it is told differs from before only if differs does.
func (p *composer) accept(c *claimState, differs *difference) {
	if c.accepted && c.differs == differs {
		return
	}
	c.refusal, c.differs = nil, differs
	p.setAccepted(c, true)
	p.enqueueReport(c)
}
