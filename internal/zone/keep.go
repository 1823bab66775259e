package zone

import (
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// KindKept is the kind of claims that stand for what was published. They are of no object: their ID has the namespace
// and the name of the Zone.
const KindKept = "Kept"

// Kept returns claims for what was published of a Zone and is not in it, of the types that takes says: objects have
// asked for it that nobody can read by now. No rule is asked for such claims, because whoever asked was let in, and
// they come before all others, which may only add to them. They have to be put, and are deleted when it is known what
// the objects ask for. There are none if the Zone is not accepted: then nothing of it stays published. The World has
// to be settled.
func (o *objects) Kept(id ID, published rr.Sets, takes func(rr.Type) bool) (claims []Claim) {
	z := o.zones[id]
	if z == nil || !z.accepted() {
		return nil
	}
	for set := range published.Under(z.node.name) {
		if !takes(set.Type) || set.Type == rr.TypeSOA || set.Type == rr.TypeNS && set.Name == z.node.name {
			continue // a Zone has these anyway, or its server keeps its own
		}
		now, _ := z.sets.Get(set.Key())
		data := slices.DeleteFunc(slices.Clone(set.Data), func(d string) bool {
			return d == "" || slices.Contains(now.Data, d) // "": it is not known
		})
		if len(data) == 0 {
			continue
		}
		c := Claim{
			ID:    ID{KindKept, id.Namespace, id.Name}.Part(set.Name.String() + "/" + set.Type.String()),
			Where: Where{Name: set.Name, Ref: id}, Type: set.Type, TTL: &set.TTL, Data: data, Kept: true,
		}
		if !below(published, set.Name, z.node.name) { // else what hides it would yield to it
			c.Created = time.Unix(0, 0)
		}
		claims = append(claims, c)
	}
	return claims
}

// below reports whether content has a cut, or a DNAME, above a name and below the apex.
func below(content rr.Sets, name, apex dnsname.Name) bool {
	for up, _ := name.Parent(); up.Below(apex); up, _ = up.Parent() {
		for _, t := range []rr.Type{rr.TypeNS, rr.TypeDNAME} {
			if _, cut := content.Get(rr.Key{Name: up, Type: t}); cut {
				return true
			}
		}
	}
	return false
}
