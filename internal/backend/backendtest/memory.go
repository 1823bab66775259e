package backendtest

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Profile is what kind of server a Memory is.
type Profile struct {
	Limits backend.Limits

	MaxSet   int               // a larger set is refused; 0: none is
	Bad      func(rr.Set) bool // sets that are refused; nil: none
	Async    int               // how often a batch has to be polled for before all have it; 0: they have it at once
	Throttle int               // every so many calls one is throttled; 0: none
	Break    int               // every so many values one makes the call fail in the middle (Limits.Atomic); 0: none

	Seen func(Message) // is told of each change of a zone when it is made, and calls nothing of the Memory; nil: nobody is
}

// A Message is a change of a zone.
type Message struct {
	Zone          dnsname.Name
	Batch         backend.Batch // zero, if nobody sent one: the server lost what it had
	Before, After rr.Sets
}

// Memory is a name server in memory. It keeps what it ever served, by serial.
type Memory struct {
	profile Profile
	state   guarded.Value[memory]
}

// memory is what a Memory has.
type memory struct {
	profile *Profile
	zones   map[dnsname.Name]*memoryZone
	lost    map[dnsname.Name]*memoryZone // see Lose
	down    bool
	spurns  map[dnsname.Name]bool // names whose sets are refused
	halves  bool                  // it takes half of each batch, or where it takes only whole ones, none
	calls   int
	values  int
}

type memoryZone struct {
	soa     rr.SOA
	sets    rr.Sets
	sum     uint64            // fingerprint of the sets
	history map[uint32]uint64 // fingerprints of the content by serial
	highest uint32            // serial that was ever served
	broken  []string          // what must never happen and did
}

// NewMemory makes a server without zones.
func NewMemory(p Profile) *Memory {
	m := &Memory{profile: p}
	s, unlock := m.state.Lock()
	defer unlock()
	s.profile, s.zones = &m.profile, map[dnsname.Name]*memoryZone{}
	return m
}

// AddZone makes the server have a zone.
func (m *Memory) AddZone(zone dnsname.Name, soa rr.SOA, sets ...rr.Set) {
	s, unlock := m.state.Lock()
	defer unlock()
	z := &memoryZone{soa: soa, history: map[uint32]uint64{}}
	for _, s := range sets {
		z.put(plan.Change{Key: s.Key(), Want: s})
	}
	z.note()
	s.tell(Message{Zone: zone, After: z.sets})
	s.zones[zone] = z
}

// SetDown makes the server answer nothing, or answer again.
func (m *Memory) SetDown(down bool) {
	s, unlock := m.state.Lock()
	defer unlock()
	s.down = down
}

// SetRefused makes the server refuse all sets of a name, or take them again.
func (m *Memory) SetRefused(name dnsname.Name, refused bool) {
	s, unlock := m.state.Lock()
	defer unlock()
	if s.spurns == nil {
		s.spurns = map[dnsname.Name]bool{}
	}
	s.spurns[name] = refused
}

// SetHalving makes the server break off in the middle of each batch, or end that. One that takes batches whole or not
// at all takes none.
func (m *Memory) SetHalving(halves bool) {
	s, unlock := m.state.Lock()
	defer unlock()
	s.halves = halves
}

// Zones returns the zones that the server has, in order.
func (m *Memory) Zones() []dnsname.Name {
	s, unlock := m.state.Lock()
	defer unlock()
	return slices.SortedFunc(maps.Keys(s.zones), dnsname.Name.Compare)
}

// Truth returns what the server holds, and false when it does not have the zone.
func (m *Memory) Truth(zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
	s, unlock := m.state.Lock()
	defer unlock()
	z := s.zones[zone]
	if z == nil {
		return rr.SOA{}, rr.Sets{}, false
	}
	return z.soa, z.sets, true
}

// Foreign changes a zone as another writer does: the serial goes up by one.
func (m *Memory) Foreign(zone dnsname.Name, put []rr.Set, gone []rr.Key) {
	s, unlock := m.state.Lock()
	defer unlock()
	z := s.zones[zone]
	for _, s := range put {
		z.put(plan.Change{Key: s.Key(), Want: s})
	}
	for _, k := range gone {
		z.put(plan.Change{Key: k})
	}
	z.soa.Serial++
	z.note()
}

// History returns a fingerprint of every content that a zone ever had, by serial.
func (m *Memory) History(zone dnsname.Name) map[uint32]uint64 {
	s, unlock := m.state.Lock()
	defer unlock()
	if z := s.zones[zone]; z != nil {
		return maps.Clone(z.history)
	}
	return nil
}

// Broken returns what must never happen and did: a serial that fell, one that stood for two contents.
func (m *Memory) Broken(zone dnsname.Name) []string {
	s, unlock := m.state.Lock()
	defer unlock()
	if z := s.zones[zone]; z != nil {
		return append(slices.Clone(z.broken), z.fell()...)
	}
	return nil
}

// BrokenByWrites is Broken without a serial that is lower because the server came back with it, and nobody has written
// since.
func (m *Memory) BrokenByWrites(zone dnsname.Name) []string {
	s, unlock := m.state.Lock()
	defer unlock()
	if z := s.zones[zone]; z != nil {
		return slices.Clone(z.broken)
	}
	return nil
}

// Client returns a Backend for the server. Without authority every call fails.
func (m *Memory) Client(authorised bool) backend.Backend { return &memoryClient{m, authorised} }

// note enters the content into the history.
func (z *memoryZone) note() {
	soa := z.soa
	soa.Serial = 0
	h := fnv.New64a()
	fmt.Fprintln(h, soa.TTL, soa.Data())
	sum := h.Sum64() + z.sum
	if old, ok := z.history[z.soa.Serial]; ok && old != sum {
		z.broken = append(z.broken, fmt.Sprintf("serial %d stood for two contents", z.soa.Serial))
	}
	z.history[z.soa.Serial] = sum
	z.highest = rr.LaterSerial(z.highest, z.soa.Serial)
}

// fell tells a serial lower than one that was served before.
func (z *memoryZone) fell() []string {
	if z.highest != 0 && rr.SerialLess(z.soa.Serial, z.highest) {
		return []string{fmt.Sprintf("serial %d is served after %d", z.soa.Serial, z.highest)}
	}
	return nil
}

// A Copy is what a server holds at one moment; the zero Copy is nothing.
type Copy struct {
	soa  rr.SOA
	sets rr.Sets
	sum  uint64
}

// Copy returns what the server holds now.
func (m *Memory) Copy(zone dnsname.Name) Copy {
	s, unlock := m.state.Lock()
	defer unlock()
	if z := s.zones[zone]; z != nil {
		return Copy{z.soa, z.sets, z.sum}
	}
	return Copy{}
}

// Lose makes the server hold a copy, as one does that keeps zones in memory when another process takes over. What was
// served before stays served: serials are to come after it.
func (m *Memory) Lose(zone dnsname.Name, to Copy) {
	s, unlock := m.state.Lock()
	defer unlock()
	z := s.zones[zone]
	if z == nil {
		z = s.lost[zone]
	}
	if z == nil {
		return
	}
	s.tell(Message{Zone: zone, Before: z.sets, After: to.sets})
	if m.profile.Limits.SOA == backend.SOAServer && to.soa != (rr.SOA{}) {
		to.soa.Serial = z.soa.Serial + 1 // it counts by itself, and goes on
	}
	z.soa, z.sets, z.sum = to.soa, to.sets, to.sum
	if to.soa != (rr.SOA{}) {
		s.zones[zone] = z
		return
	}
	delete(s.zones, zone)
	if s.lost == nil {
		s.lost = map[dnsname.Name]*memoryZone{}
	}
	s.lost[zone] = z
}

// tell tells of a change.
func (m *memory) tell(what Message) {
	if m.profile.Seen != nil {
		m.profile.Seen(what)
	}
}

// Excuse lets a zone's serials begin anew: nobody delivers it, so that nobody can know which there were.
func (m *Memory) Excuse(zone dnsname.Name) {
	s, unlock := m.state.Lock()
	defer unlock()
	if z := s.zones[zone]; z != nil {
		z.history, z.highest = map[uint32]uint64{}, 0
		z.note()
	}
}

// Forget makes a zone have nothing, under a serial from long ago.
func (m *Memory) Forget(zone dnsname.Name) {
	soa, _, _ := m.Truth(zone)
	soa.Serial = 1
	m.Lose(zone, Copy{soa: soa})
}

// put puts or, without data, deletes sets.
func (z *memoryZone) put(changes ...plan.Change) {
	for _, c := range changes {
		if old, ok := z.sets.Get(c.Key); ok {
			z.sum -= fingerprint(old)
		}
		if !c.Deletes() {
			z.sum += fingerprint(c.Want)
		}
		z.sets = plan.Apply(z.sets, []plan.Change{c})
	}
}

func fingerprint(s rr.Set) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, s.Key(), s.TTL, s.Data)
	return h.Sum64()
}

func setsOf(sets ...rr.Set) rr.Sets {
	var none rr.Sets
	txn := none.Txn()
	for _, s := range sets {
		txn.Put(s)
	}
	return txn.Sets()
}

func equalSets(a, b rr.Sets) bool {
	return a.Len() == b.Len() && slices.EqualFunc(slices.Collect(a.All()), slices.Collect(b.All()), rr.Set.Equal)
}
