package embedded

import (
	"github.com/zonefold/zonefold/internal/backend/embedded/tree"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Catalogue is all zones that are served at one moment. It never changes.
type Catalogue struct {
	zones tree.Tree[*Zone]
}

// NewCatalogue returns a catalogue without zones.
func NewCatalogue() *Catalogue { return &Catalogue{tree.New[*Zone]()} }

// Key is what a Catalogue finds the zone by.
func (z *Zone) Key() string { return z.apex.name }

// With returns the catalogue with a zone, in place of the one of its name.
func (c *Catalogue) With(z *Zone) *Catalogue {
	t := c.zones.Txn()
	t.Put(z)
	return &Catalogue{t.Commit()}
}

// Without returns the catalogue without the zone of a name.
func (c *Catalogue) Without(name dnsname.Name) *Catalogue {
	t := c.zones.Txn()
	t.Remove(wireOf(name))
	return &Catalogue{t.Commit()}
}

// Zone returns the zone of a name, nil if there is none.
func (c *Catalogue) Zone(name dnsname.Name) *Zone { return c.zones.Get(wireOf(name)) }

// Zones calls f with every zone, in no order, until it returns false.
func (c *Catalogue) Zones(f func(*Zone) bool) { c.zones.All(f) }

// find returns the zone that answers for a name: the nearest that encloses it (RFC 1034 §4.3.2 step 2). DS belongs to
// the parent's side of a cut (RFC 4035 §3.1.4.1): of a zone's own name the zone above is asked for it, where that is
// served here.
func (c *Catalogue) find(name *path, t rr.Type) *Zone {
	var own *Zone
	for i := range name.labels + 1 {
		z := c.zones.Get(name.from(i))
		switch {
		case z == nil:
		case i > 0 || t != rr.TypeDS:
			return z
		default:
			own = z
		}
	}
	return own
}
