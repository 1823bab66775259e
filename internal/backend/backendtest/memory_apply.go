package backendtest

import (
	"fmt"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// apply makes a batch.
func (m *memory) apply(zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	z := m.zones[zone]
	switch {
	case z == nil && b.Remove && m.profile.Limits.Removes:
		return backend.Result{}, nil
	case z == nil && b.Create && m.profile.Limits.Creates:
		if z = m.lost[zone]; z == nil {
			z = &memoryZone{soa: rr.SOA{MName: zone, RName: zone, Serial: 1}, history: map[uint32]uint64{}}
		}
	case z == nil:
		return backend.Result{}, &backend.Error{Class: backend.ErrNoZone, Words: "NOTAUTH"}
	case b.Expect != nil && m.profile.Limits.Atomic == backend.AtomicBatch && *b.Expect != z.soa:
		return backend.Result{}, &backend.Error{Class: backend.ErrConflict, Words: "NXRRSET"}
	}
	held := z.sets
	if b.Remove {
		delete(m.zones, zone)
		m.tell(Message{Zone: zone, Batch: b, Before: held})
		return backend.Result{}, nil
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
	m.tell(Message{zone, b, held, z.sets})
	if m.profile.Limits.SOA == backend.SOAServer {
		result.SOA = z.soa
	}
	return result, err
}

// count gives the zone the serial that comes with the changes, or the server's own next one.
func (m *memory) count(z *memoryZone, b backend.Batch, before uint64, whole bool) {
	switch {
	case b.SOA != nil && m.profile.Limits.SOA == backend.SOAClient && whole:
		if z.soa != (rr.SOA{}) && !rr.SerialLess(z.soa.Serial, b.SOA.Serial) {
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
		z.broken = append(z.broken, z.fell()...)
	}
}

// all makes all changes or none.
func (m *memory) all(zone dnsname.Name, z *memoryZone, changes []plan.Change) error {
	for _, c := range changes {
		if why := m.refusal(c); why != "" {
			return &backend.Error{Class: backend.ErrRejected, Words: why, Temporary: why == tooLarge}
		}
	}
	if m.halves && len(changes) > 1 {
		return errBroken()
	}
	for _, c := range changes {
		m.make(zone, z, c)
	}
	return nil
}

func errBroken() error {
	return &backend.Error{Class: backend.ErrUnavailable, Words: "connection reset"}
}

// oneByOne makes what it can until it breaks.
func (m *memory) oneByOne(zone dnsname.Name, z *memoryZone, changes []plan.Change) ([]backend.Rejection, error) {
	var rejected []backend.Rejection
	for i, c := range changes {
		if m.halves && len(changes) > 1 && i >= len(changes)/2 {
			return nil, errBroken()
		}
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
				return nil, errBroken()
			}
		}
		m.make(zone, z, c)
	}
	return rejected, nil
}

const tooLarge = "SERVFAIL: too many records"

// refusal says why a change is refused.
func (m *memory) refusal(c plan.Change) string {
	switch {
	case m.spurns[c.Key.Name] && !c.Deletes():
		return "REFUSED: " + c.Key.Name.String()
	case m.profile.MaxSet > 0 && len(c.Want.Data) > m.profile.MaxSet:
		return tooLarge
	case m.profile.Bad != nil && !c.Deletes() && m.profile.Bad(c.Want):
		return "REFUSED: bad record"
	}
	return ""
}

// make makes one change as BIND does: it ignores a CNAME beside other sets, others beside a CNAME, and the deletion of
// apex NS that it needs.
func (m *memory) make(zone dnsname.Name, z *memoryZone, c plan.Change) {
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
