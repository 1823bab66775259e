package zone

import (
	"reflect"
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// DefaultMaxSet is how many records a set may have: BIND's limit.
const DefaultMaxSet = 100

// Options are the choices of an installation.
type Options struct {
	MaxSet int // records a set may have; 0: DefaultMaxSet
}

// A World holds all zones and claims and what follows from them. It is not safe for
// concurrent use, except that a Snapshot, once taken, may be read by anybody.
type World struct {
	opts   Options
	zones  map[ID]*zoneState
	claims map[ID]*claimState
	refs   map[ID]*referrers // who refers to a Zone, whether it exists or not
	nodes  map[dnsname.Name]*node
	grants map[string][]Grant // by Backend

	moved  map[ID]struct{}          // Zones whose name has to be resolved
	judge  map[*node]struct{}       // names whose Zones have to be judged
	redo   map[*node]struct{}       // of those: with everything below, whatever the outcome
	homes  map[*claimState]struct{} // claims whose Zone has to be found
	cells  queue                    // cells to compose
	notes  map[*claimState]struct{} // accepted claims whose notes may have changed
	closed map[*zoneState]struct{}  // Zones to finish: content, verdict or parent changed
	delta  deltaBuilder
}

// referrers are the objects whose zoneRef names one Zone.
type referrers struct {
	zones  map[*zoneState]struct{}
	claims map[*claimState]struct{}
}

// New returns an empty World.
func New(opts Options) *World {
	if opts.MaxSet == 0 {
		opts.MaxSet = DefaultMaxSet
	}
	return &World{
		opts:   opts,
		zones:  map[ID]*zoneState{},
		claims: map[ID]*claimState{},
		refs:   map[ID]*referrers{},
		nodes:  map[dnsname.Name]*node{},
		grants: map[string][]Grant{},
		moved:  map[ID]struct{}{},
		judge:  map[*node]struct{}{},
		redo:   map[*node]struct{}{},
		homes:  map[*claimState]struct{}{},
		notes:  map[*claimState]struct{}{},
		closed: map[*zoneState]struct{}{},
		delta:  newDeltaBuilder(),
	}
}

// PutZone adds a Zone or replaces the one of the same ID.
func (w *World) PutZone(z Zone) {
	old := w.zones[z.ID]
	if old == nil {
		w.addZone(z)
		return
	}
	if reflect.DeepEqual(old.Zone, z) {
		return
	}
	if old.Where != z.Where || (old.Invalid == nil) != (z.Invalid == nil) || !old.Created.Equal(z.Created) {
		w.dropZone(old)
		w.addZone(z)
		return
	}
	ttl, rules := old.TTL != z.TTL, !reflect.DeepEqual(old.Rules, z.Rules)
	old.Zone = z
	if rules && old.node != nil {
		w.redo[old.node] = struct{}{}
		w.judge[old.node] = struct{}{}
	}
	if ttl {
		w.recompose(old)
	}
	w.closed[old] = struct{}{}
}

// DeleteZone removes a Zone.
func (w *World) DeleteZone(id ID) {
	if old := w.zones[id]; old != nil {
		w.dropZone(old)
		w.delta.zone(id)
		w.delta.verdict(id)
	}
}

// PutClaim adds a claim or replaces the one of the same ID.
func (w *World) PutClaim(c Claim) {
	old := w.claims[c.ID]
	if old != nil && old.Claim.equal(c) {
		return
	}
	if old != nil {
		w.dropClaim(old)
	}
	state := &claimState{Claim: c, age: ageOf(c.Created, c.ID)}
	if old != nil {
		state.verdict = old.verdict
	}
	w.claims[c.ID] = state
	if !c.Where.Ref.IsZero() {
		w.referrers(c.Where.Ref).claims[state] = struct{}{}
	}
	w.homes[state] = struct{}{}
	if old == nil {
		w.delta.verdict(c.ID)
	}
}

// DeleteClaim removes a claim.
func (w *World) DeleteClaim(id ID) {
	if old := w.claims[id]; old != nil {
		w.dropClaim(old)
		delete(w.claims, id)
		w.delta.verdict(id)
	}
}

// PutGrants replaces what one Backend grants; no grants removes it.
func (w *World) PutGrants(backend string, grants []Grant) {
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
			w.judge[z.node] = struct{}{}
		}
	}
}

// Verdict returns what the last Settle decided about an object.
func (w *World) Verdict(id ID) (Verdict, bool) {
	if z := w.zones[id]; z != nil {
		return z.verdict, true
	}
	if c := w.claims[id]; c != nil {
		return c.verdict, true
	}
	return Verdict{}, false
}

// Snapshot returns the content of an accepted Zone as of the last Settle.
func (w *World) Snapshot(id ID) (Snapshot, bool) {
	z := w.zones[id]
	if z == nil || !z.accepted {
		return Snapshot{}, false
	}
	return z.snapshot(), true
}

// Adopted calls yield for every claim that the Zone adopted, in no order.
func (w *World) Adopted(id ID, yield func(ID) bool) {
	z := w.zones[id]
	if z == nil || z.node == nil {
		return
	}
	z.node.walk(func(n *node) bool {
		if c := n.cell(z); c != nil {
			for _, claim := range c.claims {
				if claim.verdict.Accepted && !yield(claim.ID) {
					return false
				}
			}
		}
		return true
	})
}

// A Snapshot is the content of one Zone at one moment. It is immutable.
type Snapshot struct {
	ID   ID
	Name dnsname.Name
	Sets rr.Sets // without the SOA
	SOA  rr.SOA  // Serial is 0
	Hash string  // over Sets
}

// A zoneState is what the World knows about one Zone.
type zoneState struct {
	Zone
	age      age
	name     dnsname.Name // zero: not resolved
	node     *node
	problem  *Refusal // why it has no name
	accepted bool
	dead     bool // replaced or deleted; its cells are about to go
	parent   *zoneState
	judged   Verdict // without notes
	verdict  Verdict // as of the last Settle
	taken    string  // the message of claims that it accepts

	txn  *rr.SetsTxn
	sets rr.Sets
	hash hasher
	soa  rr.SOA

	feeds     *zoneState     // the parent that takes over its NS and DS sets
	needs     []dnsname.Name // what its apex NS records name inside that parent
	notCopied *Note          // why the parent does not take them over
}

func (z *zoneState) snapshot() Snapshot {
	return Snapshot{ID: z.ID, Name: z.name, Sets: z.sets, SOA: z.soa, Hash: z.hash.Sum()}
}

// A claimState is what the World knows about one claim.
type claimState struct {
	Claim
	age     age
	name    dnsname.Name
	node    *node
	home    *zoneState
	cell    *cell
	refusal *Refusal // nil: accepted
	noted   []Note   // of an accepted claim, without Occluded
	verdict Verdict  // as of the last Settle
}

func (c *claimState) key() rr.Key { return rr.Key{Name: c.name, Type: c.Type} }

// An age orders objects: older first, then by namespace and name.
type age struct {
	created int64 // nanoseconds since 1970; an object that is not created yet is the youngest
	id      ID
}

func ageOf(created time.Time, id ID) age {
	if created.IsZero() {
		return age{int64(^uint64(0) >> 1), id}
	}
	return age{created.UnixNano(), id}
}

func (a age) compare(b age) int {
	switch {
	case a.created < b.created:
		return -1
	case a.created > b.created:
		return 1
	}
	return a.id.Compare(b.id)
}

func (a age) older(b age) bool { return a.compare(b) < 0 }

func (w *World) addZone(z Zone) {
	state := &zoneState{Zone: z, age: ageOf(z.Created, z.ID), txn: rr.Sets{}.Txn()}
	state.taken = z.ID.String() + " holds it."
	w.zones[z.ID] = state
	if !z.Where.Ref.IsZero() {
		w.referrers(z.Where.Ref).zones[state] = struct{}{}
	}
	w.moved[z.ID] = struct{}{}
	w.delta.verdict(z.ID)
	w.delta.zone(z.ID).Fresh = true
	w.closed[state] = struct{}{}
}

// dropZone takes a Zone out of the tree; its cells empty when they are composed.
func (w *World) dropZone(z *zoneState) {
	delete(w.zones, z.ID)
	w.dropReferrer(z.Where.Ref, func(r *referrers) { delete(r.zones, z) })
	w.moved[z.ID] = struct{}{}
	delete(w.closed, z)
	w.unplace(z)
	z.dead = true
}

func (w *World) dropClaim(c *claimState) {
	w.dropReferrer(c.Where.Ref, func(r *referrers) { delete(r.claims, c) })
	w.leave(c)
	w.detach(c)
	delete(w.homes, c)
	delete(w.notes, c)
}

func (w *World) referrers(id ID) *referrers {
	r := w.refs[id]
	if r == nil {
		r = &referrers{zones: map[*zoneState]struct{}{}, claims: map[*claimState]struct{}{}}
		w.refs[id] = r
	}
	return r
}

func (w *World) dropReferrer(id ID, drop func(*referrers)) {
	r := w.refs[id]
	if r == nil {
		return
	}
	drop(r)
	if len(r.zones)+len(r.claims) == 0 {
		delete(w.refs, id)
	}
}
