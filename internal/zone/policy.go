package zone

import (
	"cmp"
	"fmt"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A Policy is how a Zone treats claims and other Zones, with the words that people of its objects know. Whoever makes
// Zones of objects chooses it. The zero Policy is that of a Zone in the tree of delegations.
type Policy struct {
	// Pinned: claims come to the Zone by reference only, and it neither delegates nor is
	// delegated to. Others of its name, or above or below it, are no concern of it.
	Pinned bool
	// Heap: of a pinned Zone that is no zone of a server but a heap of sets. Each set belongs whole to its oldest
	// claim, and no rule about whole zones holds: there are no apex, cuts, glue or names that a namespace has.
	Heap bool
	// NoAliases: no claim makes an alias of a name server of the apex (RFC 2181 §10.3), because a server of the Zone would
	// not load it.
	NoAliases bool
	// MaxSet is how many records a set of the Zone may have; 0: as many as in all Zones, see Options.
	MaxSet int
	Words  Words
}

// Words are what messages about a Zone call what is in objects. Those that are empty have a plain word in their place.
type Words struct {
	// Name is the field with the name that an object asks for: "domainName".
	Name string
	// Place is what decides whether a claim is in the Zone: "domainName or zoneRef".
	Place string
	// RecordRule and ZoneRule are how a Rule is written that lets in a record or a Zone; both are formats of its name:
	// "zones: [%q]".
	RecordRule, ZoneRule string
	// Grant is how a Grant is written; it is a format of the namespace and the name.
	Grant string
	// Remedy is what gives a name to a namespace that may not have it in a pinned Zone: "have its owner add it to the
	// list".
	Remedy string
}

// delegates reports whether the Zone gives names away by rules that people know as its delegations.
func (p *Policy) delegates() bool { return !p.Pinned }

// alone reports whether no other Zone is in the tree of the Zone.
func (p *Policy) alone() bool { return p.Pinned }

// needsGrant reports whether the Zone, where none delegates to it, needs a grant.
func (p *Policy) needsGrant() bool { return !p.Pinned }

// nests reports whether the name of the Zone may be below that of another to which it refers.
func (p *Policy) nests() bool { return !p.Pinned }

// isZone reports whether the rules about whole zones hold: there are an apex, cuts and glue.
func (p *Policy) isZone() bool { return !p.Heap }

// merges reports whether a set has the records of all its claims; else it belongs to the oldest.
func (p *Policy) merges() bool { return !p.Heap }

// prefersOwn reports whether claims of the Zone's own namespace come before older ones of others.
func (p *Policy) prefersOwn() bool { return !p.Heap }

// recordRuleFor says how a rule of z is written that lets in records of a name.
func (z *zoneState) recordRuleFor(name dnsname.Name) string {
	return fmt.Sprintf(cmp.Or(z.Policy.Words.RecordRule, "the name %q"), name.In(z.node.name))
}

// zoneRuleFor says how a rule of z is written that lets in a Zone of a name.
func (z *zoneState) zoneRuleFor(name dnsname.Name) string {
	return fmt.Sprintf(cmp.Or(z.Policy.Words.ZoneRule, "the zone %q"), name.In(z.node.name))
}

// nameField is what has the name that an object asks for.
func (z *zoneState) nameField() string { return cmp.Or(z.Policy.Words.Name, "name") }
