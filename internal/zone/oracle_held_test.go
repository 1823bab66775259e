package zone

import (
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// "A claim that a rule with an explicit `types` list lets in holds its (name, type) only; a claim that only a rule
// without `types` lets in holds the name, and keeps others out except where a rule lists their type; CNAME, DNAME and
// cuts stay exclusive." It says why a claim cannot be taken beside one of another namespace.
func (o *oracle) beside(p place, c, other Claim) Reason {
	if c.ID.Namespace == other.ID.Namespace {
		return ""
	}
	child, has := o.ownerAt(p)
	within := has && child != p.zone && o.descends(child, p.zone)
	alone := func(t rr.Type) bool {
		inside := p.name != o.name[p.zone]
		return t == rr.TypeCNAME || t == rr.TypeDNAME && inside || t == rr.TypeNS && inside && !within
	}
	switch {
	case c.Type == other.Type || !o.listed(p.zone, c) && !o.listed(p.zone, other):
		return NameHeld
	case alone(c.Type) || alone(other.Type):
		return Conflict
	}
	return ""
}

// listed reports whether a `records` rule that lists the claim's type lets it in.
func (o *oracle) listed(zone ID, c Claim) bool {
	for _, rule := range o.zones[zone].Rules {
		for _, rec := range rule.Records {
			if (len(rule.Namespaces) == 0 || slices.Contains(rule.Namespaces, c.ID.Namespace)) &&
				slices.Contains(rec.Types, c.Type) && rec.Pattern.Match(o.name[c.ID], o.name[zone]) {
				return true
			}
		}
	}
	return false
}

// stranger reports whether a sub-zone gives the records of the claim's type, to which only its people and those of the
// Zone may add.
func (o *oracle) stranger(given map[rr.Type]ID, p place, c Claim) bool {
	from, ok := given[c.Type]
	return ok && c.ID.Namespace != from.Namespace && c.ID.Namespace != p.zone.Namespace
}
