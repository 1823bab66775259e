package embedded

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend/tsig"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Replication has servers of the same zones agree on what they answer. One of them leads: its groups are changed by
// Apply. It offers to those who sign with one key all its zones, catalog zones too, and a listing of them, a zone that
// can be transferred as any other: what a follower asks for is IXFR and AXFR. Asking for an IXFR of a listing that has
// not changed is answered when it does, so a change is on its way at once, and after a heartbeat in any case, so a
// leader that is gone is noticed.
//
// A follower puts what it gets into its own groups, under the serials that it has at the leader; package follow decides
// what to ask for and when.

// ReplicaOptions say how a server shares its zones with others of the same operator. The zero ReplicaOptions keep it
// alone.
type ReplicaOptions struct {
	Key *Key // of all replicas and nobody else
	// after which a follower hears that nothing has changed; default 2 s; followers give up on a leader after 10 s
	Heartbeat time.Duration
}

// replicas are who else answers the same.
type replicas struct {
	key       *tsig.Signer // nil: there are no others
	heartbeat time.Duration
}

// shared is what a server knows of its zones for other replicas.
type shared struct {
	offered bool
	members map[Member]*membership
	changed map[Member]struct{} // since the listing
	listing *Zone
	wake    chan struct{} // closed when anything changes
}

func newShared() shared {
	return shared{members: map[Member]*membership{}, changed: map[Member]struct{}{}, wake: make(chan struct{})}
}

// A Member is one zone of one group.
type Member struct {
	Group string
	Zone  dnsname.Name
}

// A membership is a zone's time in a group.
type membership struct {
	id     string // "": it is not in the group any more
	listed string // the one that the listing has
}

// listingName is the name of the listing, which is nobody's (RFC 6761 §6.4).
const listingName = "replicas.zonefold.invalid."

// Listing returns the name of the zone that lists what a leader has.
func Listing() dnsname.Name {
	n, err := dnsname.Parse(listingName)
	if err != nil {
		return dnsname.Name{}
	}
	return n
}

// setUp makes the options good for use.
func (r *replicas) setUp(o ReplicaOptions) error {
	if o.Key == nil {
		return nil
	}
	key, err := signer(o.Key)
	if err != nil {
		return fmt.Errorf("the key of the replicas: %w", err)
	}
	if r.heartbeat = o.Heartbeat; r.heartbeat <= 0 {
		r.heartbeat = 2 * time.Second
	}
	r.key = key
	return nil
}

// has reports whether a client is a replica: whether it has signed with this key.
func (r *replicas) has(key *tsig.Signer) bool { return key != nil && r.key != nil && r.key.Equal(key) }

// Retain removes what is not wanted from all groups: a server that followed may have what an earlier leader had removed
// when it was gone.
func (s *Server) Retain(wanted func(Member) bool) {
	st, unlock := s.state.Lock()
	defer unlock()
	for _, g := range st.groups {
		for zone := range g.zones {
			if wanted(Member{g.name, zone}) {
				continue
			}
			delete(g.zones, zone)
			st.serve(zone)
			g.members.change(zone)
		}
		g.publishMembers()
	}
}

// Open says that this server leads, and that its groups hold all that they are to hold for now, and nothing else
// (Retain). It answers from now on, and offers its zones to the other replicas. Before, it must not: they would drop
// what it does not have.
func (s *Server) Open() {
	s.opened.Store(true)
	st, unlock := s.state.Lock()
	defer unlock()
	st.shared.offered = true
	st.notifyAll()
}

// Follow says that this server does not lead: what others have of it is not the newest. It goes on answering if it did.
func (s *Server) Follow() {
	st, unlock := s.state.Lock()
	defer unlock()
	st.shared.offered = false
	for _, g := range st.groups {
		g.complete, g.members.copied = false, true
	}
	st.shared.rouse()
}

// Ready says that a follower has all that the leader has. It answers from now on.
func (s *Server) Ready() {
	if s.opened.Swap(true) {
		return
	}
	st, unlock := s.state.Lock()
	defer unlock()
	st.notifyAll()
}

// Opened reports whether the server answers. One with Options.Closed does not before Open or Ready.
func (s *Server) Opened() bool { return s.opened.Load() }

// notifyAll notifies the followers of all zones, which changed before they could be asked for.
func (st *state) notifyAll() {
	for _, g := range st.groups {
		for name := range g.zones {
			st.notify(name)
		}
		if z := g.members.zone; z != nil {
			st.notify(z.name)
		}
	}
}

// recordChange records that groups may have another version of a zone, or have it no more.
func (st *state) recordChange(zone dnsname.Name) {
	r := &st.shared
	defer r.rouse()
	if st.server.replicas.key == nil {
		return
	}
	for _, g := range st.groups {
		m := Member{g.name, zone}
		there, c := g.has(zone), r.members[m]
		switch {
		case c == nil && !there:
			continue
		case !there && c.listed == "": // nobody has heard of it
			delete(r.members, m)
			delete(r.changed, m)
			continue
		case c == nil:
			c = &membership{id: newID()}
			r.members[m] = c
		case !there:
			c.id = ""
		case c.id == "":
			c.id = newID()
		}
		r.changed[m] = struct{}{}
	}
}

// rouse has those who wait for a change look again.
func (r *shared) rouse() {
	close(r.wake)
	r.wake = make(chan struct{})
}

// Await waits until a condition holds, which is looked at whenever a zone may have changed.
func (s *Server) Await(ctx context.Context, holds func() bool) error {
	for {
		st, unlock := s.state.Lock()
		wake := st.shared.wake
		unlock()
		if holds() {
			return nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// newID returns a label that nothing else has, in any replica: hence the machine's own chance. It changes no effect.
func newID() string { return strings.ToLower(rand.Text()) }

// compareMembers notes where a catalog zone that was copied from another leader has other zones than the group.
func (g *holdings) compareMembers() {
	m := &g.members
	listed := map[dnsname.Name]bool{}
	m.zone.names.All(func(n *node) bool {
		if ptr := n.find(rr.TypePTR); ptr != nil {
			if zone, _, err := dnsname.FromWire(ptr.only()); err == nil {
				listed[zone] = true
			}
		}
		return true
	})
	for zone := range g.zones {
		if !listed[zone] {
			m.change(zone)
		}
	}
	for zone := range listed {
		if g.zones[zone] == nil {
			m.change(zone)
		}
	}
}
