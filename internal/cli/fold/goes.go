package fold

import (
	"slices"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// BackendsOf returns the names of the Backends that a Zone goes to, those first that it names, there or not.
func (c *Composition) BackendsOf(z *ZoneResult) []string {
	out := []string{}
	if z.Object.Zone == nil {
		return out
	}
	if c.Goes != nil {
		return c.Goes[z.Object.Ref]
	}
	refs := z.Object.Zone.Spec.BackendRefs
	for _, ref := range refs {
		if c.serves(ref.Name, z) {
			out = append(out, ref.Name)
		}
	}
	for _, b := range c.Backends {
		if len(refs) == 0 && b.Backend != nil && b.Backend.Spec.Default && c.serves(b.Name, z) {
			out = append(out, b.Name)
		}
	}
	return out
}

// serves reports whether a Backend does not refuse a Zone: one with grants serves those alone that they are for.
func (c *Composition) serves(backend string, z *ZoneResult) bool {
	grants, closed := c.granted[backend]
	return !closed || c.world.GrantedThrough(grants, z.ID())
}

// Hosted reports whether a Zone goes to services alone, as far as the input tells: they have name servers of their own
// for it.
func (z *ZoneResult) Hosted(backends []*manifest.Object) bool {
	if z.Object.Zone == nil {
		return false
	}
	refs, on := z.Object.Zone.Spec.BackendRefs, 0
	for _, b := range backends {
		if b.Backend == nil {
			continue
		}
		named := slices.ContainsFunc(refs, func(r kubizone.BackendRef) bool { return r.Name == b.Name })
		switch {
		case !named && (len(refs) > 0 || !b.Backend.Spec.Default):
		case b.Backend.Spec.Provider == nil:
			return false
		default:
			on++
		}
	}
	return on > 0 && on >= len(refs)
}

// Remember has the composition know where its Zones go, so that nobody has to ask the World, which changes.
func (c *Composition) Remember() {
	goes := map[manifest.Ref][]string{}
	for i := range c.Zones {
		goes[c.Zones[i].Object.Ref] = c.BackendsOf(&c.Zones[i])
	}
	c.Goes = goes
}
