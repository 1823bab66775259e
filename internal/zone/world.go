package zone

import (
	"reflect"
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// How many records a set may have, and of how many types a name: BIND's limits.
const (
	DefaultMaxSet   = 100
	DefaultMaxTypes = 100
)

// Options are the choices of an installation.
type Options struct {
	MaxSet   int // records a set may have; 0: DefaultMaxSet
	MaxTypes int // types a name may have records of; 0: DefaultMaxTypes

	// RequireGrants: nobody has a root without a grant, also while no Backend carries any.
	RequireGrants bool
	// PublicSuffix reports whether the public registers names directly below a name (RFC 9499), or the name is the root.
	// Nobody has such a root without a grant that spells its name. nil: no name is one.
	PublicSuffix func(dnsname.Name) bool
	// VerdictsOnly: nobody asks for the content of Zones, and there is none: no sets, hashes and keys that changed.
	VerdictsOnly bool
}

// A World holds all zones and claims and what follows from them. Put, Delete and
// Settle need it alone; the methods that only read may run beside each other. A
// Snapshot, once taken, may be read by anybody at any time.
type World struct {
	opts   Options
	zones  map[ID]*zoneState
	claims map[ID]*claimState
	refs   map[ID]*referrers  // who refers to a Zone, whether it exists or not
	going  map[ID]bool        // Zones whose objects are still there, and being deleted
	tree   *tree              // of all Zones but pinned ones, each of which has its own
	grants map[string][]Grant // by Backend

	moved   map[ID]struct{}           // Zones whose name has to be resolved
	judge   map[*node]bool            // names whose Zones have to be judged; true: by what is above, too
	redo    map[*node]struct{}        // of those: the rules of the accepted one changed
	homes   []*claimState             // claims whose Zone has to be found
	cells   queue                     // cells to compose
	reports []*claimState             // claims whose verdict may have changed
	closed  map[*zoneState]struct{}   // Zones to finish: content, verdict or parent changed
	turned  map[dnsname.Name]struct{} // addresses whose PTR or CNAME may have changed
	delta   deltaBuilder

	observing bool // nodes know who has their addresses

	groups   []group   // of the cell that is composed, kept to save making them anew
	types    []rr.Type // likewise
	held     []holding // likewise
	visits   int       // names, claims and Zones looked at, for tests of what a change costs
	compared int       // parts of rules that claims were compared with, likewise
}

// referrers are the objects that refer to one Zone.
type referrers struct {
	zones  map[*zoneState]struct{}
	claims map[*claimState]struct{}
}

// New returns an empty World.
func New(opts Options) *World {
	if opts.MaxSet == 0 {
		opts.MaxSet = DefaultMaxSet
	}
	if opts.MaxTypes == 0 {
		opts.MaxTypes = DefaultMaxTypes
	}
	return &World{
		opts:   opts,
		zones:  map[ID]*zoneState{},
		claims: map[ID]*claimState{},
		refs:   map[ID]*referrers{},
		going:  map[ID]bool{},
		tree:   newTree(),
		grants: map[string][]Grant{},
		moved:  map[ID]struct{}{},
		judge:  map[*node]bool{},
		redo:   map[*node]struct{}{},
		closed: map[*zoneState]struct{}{},
		turned: map[dnsname.Name]struct{}{},
		delta:  newDeltaBuilder(),
	}
}

// PutZone adds a Zone or replaces the one of the same ID.
func (w *World) PutZone(z Zone) {
	delete(w.going, z.ID)
	old := w.zones[z.ID]
	if old == nil {
		w.addZone(z)
		return
	}
	if reflect.DeepEqual(old.Zone, z) {
		return
	}
	if !old.Zone.placedAs(&z) {
		verdict := old.verdict
		w.dropZone(old)
		w.addZone(z)
		w.zones[z.ID].verdict = verdict
		return
	}
	ttl, rules := old.TTL != z.TTL, !reflect.DeepEqual(old.Rules, z.Rules)
	own := !reflect.DeepEqual(old.Own, z.Own) || !slices.Equal(old.Servers, z.Servers)
	reverse := !reflect.DeepEqual(old.Reverse, z.Reverse)
	if own {
		w.enqueueOwn(old)
	}
	old.Zone, old.parts = z, partsOf(z.Rules)
	if own {
		w.enqueueOwn(old)
	}
	if rules && old.accepted() { // nobody asks the rules of a refused one
		w.redo[old.node] = struct{}{}
		w.rejudge(old.node, false)
	}
	if reverse {
		w.reverse(old)
	}
	if z.Invalid != nil {
		old.problem = z.Invalid
	}
	if ttl {
		w.recompose(old)
	}
	w.closed[old] = struct{}{}
}

// WithdrawZone removes a Zone whose object is still there, and being deleted. Who refers to it is told so.
func (w *World) WithdrawZone(id ID) {
	w.DeleteZone(id)
	w.going[id] = true
	w.moved[id] = struct{}{}
}

// DeleteZone removes a Zone.
func (w *World) DeleteZone(id ID) {
	if w.going[id] {
		delete(w.going, id)
		w.moved[id] = struct{}{}
	}
	if old := w.zones[id]; old != nil {
		w.dropZone(old)
		w.delta.zone(id)
		w.delta.verdicts[id] = struct{}{}
	}
}

// PutClaim adds a claim or replaces the one of the same ID.
func (w *World) PutClaim(c Claim) {
	old := w.claims[c.ID]
	if old != nil && old.Claim.equal(c) {
		return
	}
	state := &claimState{Claim: c, created: ageOf(c.Created)}
	if old != nil {
		w.dropClaim(old)
		state.reported = old.reported
	} else {
		delete(w.delta.gone, c.ID)
	}
	w.claims[c.ID] = state
	if !c.Where.Ref.IsZero() {
		w.referrers(c.Where.Ref).claims[state] = struct{}{}
	}
	w.rehome(state)
}

// DeleteClaim removes a claim.
func (w *World) DeleteClaim(id ID) {
	if old := w.claims[id]; old != nil {
		w.dropClaim(old)
		delete(w.claims, id)
		w.delta.gone[id] = struct{}{}
	}
}

// PutGrants replaces what one Backend grants; no grants removes it.
func (w *World) PutGrants(backend string, grants []Grant) {
	if reflect.DeepEqual(w.grants[backend], grants) {
		return
	}
	if len(grants) == 0 {
		if _, known := w.grants[backend]; !known {
			return
		}
		delete(w.grants, backend)
	} else {
		w.grants[backend] = slices.Clone(grants)
	}
	for _, z := range w.zones {
		if z.node != nil {
			w.rejudge(z.node, true)
		}
	}
}

// Verdict returns what the last Settle decided about an object.
func (w *World) Verdict(id ID) (Verdict, bool) {
	if z := w.zones[id]; z != nil {
		return z.verdict, true
	}
	if c := w.claims[id]; c != nil {
		return c.reported.verdict(), true
	}
	return Verdict{}, false
}

// Snapshot returns the content of an accepted Zone as of the last Settle.
func (w *World) Snapshot(id ID) (Snapshot, bool) {
	z := w.zones[id]
	if z == nil || !z.accepted() {
		return Snapshot{}, false
	}
	return Snapshot{ID: z.ID, Name: z.node.name, Sets: z.sets, SOA: z.soa, Hash: z.hash.sum}, true
}

// Adopted calls yield for every claim that the Zone adopted, in no order.
func (w *World) Adopted(id ID, yield func(ID) bool) {
	z := w.zones[id]
	if z == nil || !z.accepted() {
		return
	}
	w.eachCell(z, z.node.name, func(c *cell) bool {
		for _, claim := range c.claims {
			if claim.accepted && !yield(claim.ID) {
				return false
			}
		}
		return true
	})
}

// AdoptedAt calls yield for every claim that the Zone adopted into one set, in no order.
func (w *World) AdoptedAt(id ID, key rr.Key, yield func(ID) bool) {
	z := w.zones[id]
	if z == nil || !z.accepted() || z.tree.nodes[key.Name] == nil {
		return
	}
	c := z.tree.nodes[key.Name].cell(z)
	if c == nil {
		return
	}
	for _, claim := range c.claims {
		if claim.accepted && claim.Type == key.Type && !yield(claim.ID) {
			return
		}
	}
}

// ZoneOf returns the accepted Zone of a name, as far as Zones are in the common tree.
func (w *World) ZoneOf(name dnsname.Name) (ID, bool) {
	if n := w.tree.find(name); n != nil && n.owner != nil {
		return n.owner.ID, true
	}
	return ID{}, false
}

// OpenTo returns the names, in order, of the accepted Zones whose rules let a namespace have records of some kind.
func (w *World) OpenTo(namespace string) (names []dnsname.Name) {
	for _, z := range w.zones {
		open := func(r Rule) bool { return len(r.Records) > 0 && r.covers(namespace) }
		if z.accepted() && slices.ContainsFunc(z.Rules, open) {
			names = append(names, z.node.name)
		}
	}
	slices.SortFunc(names, dnsname.Name.Compare)
	return names
}

// A Snapshot is the content of one Zone at one moment. It is immutable.
type Snapshot struct {
	ID   ID
	Name dnsname.Name
	Sets rr.Sets // without the SOA
	SOA  rr.SOA  // Serial is 0
	Hash string  // over Sets
}
