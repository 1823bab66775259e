package zone

import (
	"reflect"
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
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

// A World holds all zones and claims and what follows from them. Put, Delete, Settle, Explain, ForeseeZone and
// ForeseeClaim need it alone; the methods that only read may run beside each other. A Snapshot, once taken, may be read
// by anybody at any time.
type World struct {
	objects
	work
	addresses addresses
	composer  composer
}

// New returns an empty World.
func New(opts Options) *World {
	if opts.MaxSet == 0 {
		opts.MaxSet = DefaultMaxSet
	}
	if opts.MaxTypes == 0 {
		opts.MaxTypes = DefaultMaxTypes
	}
	w := &World{
		objects: objects{
			opts:   opts,
			zones:  map[ID]*zoneState{},
			claims: map[ID]*claimState{},
			refs:   map[ID]*referrers{},
			going:  map[ID]bool{},
			tree:   newTree(),
			grants: map[string][]Grant{},
		},
		work: newWork(),
	}
	w.addresses = addresses{work: &w.work, tree: w.tree}
	w.composer = composer{work: &w.work, opts: opts, addresses: &w.addresses}
	return w
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
