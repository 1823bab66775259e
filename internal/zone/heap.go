package zone

import "slices"

// divide makes the sets of a cell of a heap. The oldest claim of a type has its set whole, so that who comes
// later changes nothing of it, except claims of its own namespace with equal Terms. A CNAME still stands alone
// (RFC 1034 §3.6.2), whoever asks for it.
func (m *merger) divide() {
	for _, claim := range m.cell.claims {
		if why := m.part(claim); why.reason != "" {
			m.world.refuse(claim, why)
		}
	}
}

// part gives a claim its set, or a part in one, or says why not.
func (m *merger) part(claim *claimState) cause {
	z := m.cell.zone
	for i := range m.groups {
		if g := &m.groups[i]; g.t != claim.Type && (g.t.Exclusive() || claim.Type.Exclusive()) {
			return cause{reason: Conflict, zone: z, by: g.by, has: g.t}
		}
	}
	ttl := z.TTL
	if claim.TTL != nil {
		ttl = *claim.TTL
	}
	g := m.find(claim.Type)
	switch {
	case g == nil && (len(m.groups) >= m.world.opts.MaxTypes || len(claim.Data) > m.maxSet()):
		return m.against(SetFull, ID{})
	case g == nil:
		m.add(group{t: claim.Type, ttl: ttl, data: slices.Clip(claim.Data), by: claim.ID, terms: claim.Terms})
		m.world.accept(claim, nil)
		return cause{}
	case g.terms == "" || g.terms != claim.Terms || g.by.Namespace != claim.ID.Namespace:
		return cause{reason: Conflict, zone: z, by: g.by, has: g.t}
	case len(g.data)+g.lacks(claim.Data) > m.maxSet():
		return m.against(SetFull, ID{})
	}
	g.join(claim.Data)
	m.world.accept(claim, g.differs(claim, ttl))
	return cause{}
}
