package zone

// divide makes the sets of a cell of a heap. The oldest claim of a type has its set whole, so that who comes
// later changes nothing of it, except claims of its own namespace with equal Terms. A CNAME still stands alone
// (RFC 1034 §3.6.2), whoever asks for it.
func (m *merger) divide() {
	for _, claim := range m.cell.claims {
		if why := m.part(claim); why.reason != "" {
			m.composer.refuse(claim, why)
		}
	}
}

// part gives a claim its set, or a part in one, or says why not.
func (m *merger) part(claim *claimState) cause {
	if why := m.excludes(claim); why.reason != "" {
		return why
	}
	g := m.find(claim.Type)
	if g != nil && !g.sharedWith(claim) {
		return m.conflict(g)
	}
	if why := m.overfills(claim, g); why.reason != "" {
		return why
	}
	m.join(claim, g)
	return cause{}
}

// sharedWith reports whether a claim may be in a set of a heap that an older one has.
func (g *group) sharedWith(claim *claimState) bool {
	return g.terms != "" && g.terms == claim.Terms && g.by.Namespace == claim.ID.Namespace
}
