package backendtest

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Profile is what kind of server a Memory is.
type Profile struct {
	Limits backend.Limits

	MaxSet   int               // a larger set is refused; 0: none is
	Bad      func(rr.Set) bool // sets that are refused; nil: none
	Async    int               // how often a batch has to be polled for before it is carried out; 0: at once
	Throttle int               // every so many calls one is throttled; 0: none
	Break    int               // every so many values one makes the call fail in the middle (Limits.Atomic); 0: none
}

// Memory is a name server in memory. It keeps what it ever served, by serial.
type Memory struct {
	profile Profile

	mu     sync.Mutex
	zones  map[dnsname.Name]*memoryZone
	down   bool
	calls  int
	values int
}

type memoryZone struct {
	soa     rr.SOA
	sets    rr.Sets
	sum     uint64            // fingerprint of the sets
	history map[uint32]uint64 // fingerprints of the content by serial
	broken  []string          // what must never happen and did
}

// NewMemory makes a server without zones.
func NewMemory(p Profile) *Memory { return &Memory{profile: p, zones: map[dnsname.Name]*memoryZone{}} }

// AddZone makes the server have a zone.
func (m *Memory) AddZone(zone dnsname.Name, soa rr.SOA, sets ...rr.Set) {
	m.mu.Lock()
	defer m.mu.Unlock()
	z := &memoryZone{soa: soa, history: map[uint32]uint64{}}
	for _, s := range sets {
		z.put(plan.Change{Key: s.Key(), Want: s})
	}
	z.note()
	m.zones[zone] = z
}

// SetDown makes the server answer nothing, or answer again.
func (m *Memory) SetDown(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// Truth returns what the server holds, and false when it does not have the zone.
func (m *Memory) Truth(zone dnsname.Name) (rr.SOA, rr.Sets, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	z := m.zones[zone]
	if z == nil {
		return rr.SOA{}, rr.Sets{}, false
	}
	return z.soa, z.sets, true
}

// Foreign changes a zone as another writer does: the serial goes up by one.
func (m *Memory) Foreign(zone dnsname.Name, put []rr.Set, gone []rr.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	z := m.zones[zone]
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
	m.mu.Lock()
	defer m.mu.Unlock()
	if z := m.zones[zone]; z != nil {
		return maps.Clone(z.history)
	}
	return nil
}

// Broken returns what must never happen and did: a serial that fell, one that stood for two contents.
func (m *Memory) Broken(zone dnsname.Name) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if z := m.zones[zone]; z != nil {
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

type memoryClient struct {
	m          *Memory
	authorised bool
}

// Limits are those of the profile.
func (c *memoryClient) Limits() backend.Limits { return c.m.profile.Limits }

// Zones lists them.
func (c *memoryClient) Zones(context.Context) ([]dnsname.Name, error) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if err := c.call(); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Keys(c.m.zones), dnsname.Name.Compare), nil
}

// call is what every call begins with. Memory.mu is held.
func (c *memoryClient) call() error {
	m := c.m
	m.calls++
	switch {
	case m.down:
		return &backend.Error{Class: backend.ErrUnavailable, Words: "connection refused"}
	case !c.authorised:
		return &backend.Error{Class: backend.ErrNotAuthorised, Words: "BADKEY"}
	case m.profile.Throttle > 0 && m.calls%m.profile.Throttle == 0:
		return &backend.Error{Class: backend.ErrThrottled, Words: "too many requests", After: 2 * time.Millisecond}
	}
	return nil
}

// Read answers as far as the profile lets it.
func (c *memoryClient) Read(_ context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if err := c.call(); err != nil {
		return backend.Observed{}, err
	}
	read := c.m.profile.Limits.Read
	if read == backend.ReadNone || read == backend.ReadSet && ask.Keys == nil {
		return backend.Observed{}, fmt.Errorf("reading what the server does not show: %w", backend.ErrRejected)
	}
	z := c.m.zones[zone]
	if z == nil {
		return backend.Observed{}, &backend.Error{Class: backend.ErrNoZone, Words: "NOTAUTH"}
	}
	if ask.Keys == nil {
		if ask.Known != nil && ask.Known.SOA.Serial == z.soa.Serial {
			return backend.Observed{SOA: z.soa, Sets: ask.Known.Sets, Unchanged: true}, nil
		}
		return backend.Observed{SOA: z.soa, Sets: z.sets}, nil
	}
	var found []rr.Set
	for _, k := range ask.Keys {
		if s, ok := z.sets.Get(k); ok {
			found = append(found, s)
		}
	}
	return backend.Observed{SOA: z.soa, Sets: setsOf(found...)}, nil
}

// Apply makes the changes, in the way of the profile.
func (c *memoryClient) Apply(_ context.Context, zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	m := c.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := c.call(); err != nil {
		return backend.Result{}, err
	}
	if m.profile.Async == 0 {
		return m.apply(zone, b)
	}
	polls := 0
	return backend.Result{Pending: func(context.Context) (bool, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if polls++; polls < m.profile.Async {
			return false, nil
		}
		_, err := m.apply(zone, b)
		return err == nil, err
	}}, nil
}

func (m *Memory) apply(zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	z := m.zones[zone]
	switch {
	case z == nil && b.Create && m.profile.Limits.Creates:
		z = &memoryZone{soa: rr.SOA{MName: zone, RName: zone, Serial: 1}, history: map[uint32]uint64{}}
	case z == nil:
		return backend.Result{}, &backend.Error{Class: backend.ErrNoZone, Words: "NOTAUTH"}
	case b.Expect != nil && m.profile.Limits.Atomic == backend.AtomicBatch && *b.Expect != z.soa:
		return backend.Result{}, &backend.Error{Class: backend.ErrConflict, Words: "NXRRSET"}
	}
	var result backend.Result
	var err error
	before := z.sum
	if m.profile.Limits.Atomic == backend.AtomicBatch {
		err = m.all(zone, z, b.Changes)
	} else {
		result.Rejected, err = m.oneByOne(zone, z, b.Changes)
	}
	if err != nil && m.profile.Limits.Atomic == backend.AtomicBatch {
		return backend.Result{}, err
	}
	m.zones[zone] = z
	m.count(z, b, before, err == nil)
	if m.profile.Limits.SOA == backend.SOAServer {
		result.SOA = z.soa
	}
	return result, err
}

// count gives the zone the serial that comes with the changes, or the server's own next one.
func (m *Memory) count(z *memoryZone, b backend.Batch, before uint64, whole bool) {
	switch {
	case b.SOA != nil && m.profile.Limits.SOA == backend.SOAClient && whole:
		if !rr.SerialLess(z.soa.Serial, b.SOA.Serial) {
			z.broken = append(z.broken, fmt.Sprintf("serial %d was sent after %d", b.SOA.Serial, z.soa.Serial))
		}
		z.soa = *b.SOA
	case len(b.Changes) == 0 || before == z.sum:
		return
	default:
		z.soa.Serial++
	}
	if m.profile.Limits.Atomic == backend.AtomicBatch || m.profile.Limits.SOA == backend.SOAServer {
		z.note()
	}
}

// all makes all changes or none.
func (m *Memory) all(zone dnsname.Name, z *memoryZone, changes []plan.Change) error {
	for _, c := range changes {
		if why := m.refusal(c); why != "" {
			return &backend.Error{Class: backend.ErrRejected, Words: why, Temporary: why == tooLarge}
		}
	}
	for _, c := range changes {
		m.make(zone, z, c)
	}
	return nil
}

// oneByOne makes what it can until it breaks.
func (m *Memory) oneByOne(zone dnsname.Name, z *memoryZone, changes []plan.Change) ([]backend.Rejection, error) {
	var rejected []backend.Rejection
	for _, c := range changes {
		if why := m.refusal(c); why != "" {
			rejected = append(rejected, backend.Rejection{Key: c.Key, Reason: why})
			continue
		}
		for i := range max(len(c.Want.Data), 1) {
			if m.values++; m.profile.Break > 0 && m.values%m.profile.Break == 0 {
				if m.profile.Limits.Atomic == backend.AtomicValue && i > 0 {
					half := c
					half.Want.Data = c.Want.Data[:i]
					m.make(zone, z, half)
				}
				return nil, &backend.Error{Class: backend.ErrUnavailable, Words: "connection reset"}
			}
		}
		m.make(zone, z, c)
	}
	return rejected, nil
}

const tooLarge = "SERVFAIL: too many records"

// refusal says why a change is refused.
func (m *Memory) refusal(c plan.Change) string {
	switch {
	case m.profile.MaxSet > 0 && len(c.Want.Data) > m.profile.MaxSet:
		return tooLarge
	case m.profile.Bad != nil && !c.Deletes() && m.profile.Bad(c.Want):
		return "REFUSED: bad record"
	}
	return ""
}

// make makes one change as BIND does: it ignores a CNAME beside other sets, others beside a CNAME, and the deletion of apex
// NS that it needs.
func (m *Memory) make(zone dnsname.Name, z *memoryZone, c plan.Change) {
	if apexNS := m.profile.Limits.ApexNS; c.Key == (rr.Key{Name: zone, Type: rr.TypeNS}) &&
		(apexNS == backend.ApexNSServer || apexNS == backend.ApexNSRequired && c.Deletes()) {
		return
	}
	for s := range z.sets.At(c.Key.Name) {
		if !c.Deletes() && s.Type != c.Key.Type && s.Type.Exclusive() != c.Key.Type.Exclusive() {
			return
		}
	}
	z.put(c)
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
