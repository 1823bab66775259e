package zone

import (
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// A group is a set in the making.
type group struct {
	t    rr.Type
	ttl  uint32
	data []string
	seen map[string]struct{} // of long data
	by   ID                  // the first claim, or the sub-zone, that asks for it

	sorted bool // data is that of a composed set, and stays as it is

	holder *claimState // the first claim of it; nil: none

	terms string // see Claim.Terms
}

// foreign reports whether a claim of another namespace has the set.
func (g *group) foreign(namespace string) bool {
	return g.holder != nil && g.holder.ID.Namespace != namespace
}

func (g *group) add(data string) {
	g.data = append(g.data, data)
	if len(g.data) > 16 {
		if g.seen == nil {
			g.seen = make(map[string]struct{}, 2*len(g.data))
			for _, d := range g.data {
				g.seen[d] = struct{}{}
			}
		}
		g.seen[data] = struct{}{}
	}
}

// join adds those of data that the set does not have; lacks counts them.
func (g *group) join(data []string) {
	for _, d := range data {
		if !g.contains(d) {
			g.add(d)
		}
	}
}

func (g *group) lacks(data []string) (n int) {
	for _, d := range data {
		if !g.contains(d) {
			n++
		}
	}
	return n
}

func (g *group) contains(data string) bool {
	switch {
	case g.sorted:
		_, found := slices.BinarySearch(g.data, data)
		return found
	case g.seen != nil:
		_, found := g.seen[data]
		return found
	}
	return slices.Contains(g.data, data)
}

// A difference is what an accepted claim is told about the TTL of its set.
type difference struct {
	by       ID
	ttl, own uint32
	note     Note
}

func (g *group) differs(claim *claimState, ttl uint32) *difference {
	if ttl == g.ttl {
		return nil
	}
	if d := claim.differs; d != nil && d.by == g.by && d.ttl == g.ttl && d.own == ttl {
		return d
	}
	return &difference{g.by, g.ttl, ttl, Note{TTLDiffers, fmt.Sprintf(
		"The set %s %s has the TTL %d of %s, not %d: records of one set share a TTL (RFC 2181 §5.2).",
		claim.name(), claim.Type, g.ttl, g.by, ttl), g.by}}
}
