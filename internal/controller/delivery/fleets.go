package delivery

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Fleets are servers that the operator runs, of which it knows more than Deliveries: they have secondaries, and come
// and go. Backends may name them.
type Fleets interface {
	// Await says that zones of an API are going to be delivered to fleets: until Host is called, and all is decided about
	// them, nobody can say that a server has everything. It is called before anything runs.
	Await(apiVersion string)
	// Host has zones looked at that are delivered to fleets. It is called before the Deliveries of these Servers run.
	Host(s *Servers)
	// Known waits until it is known which servers there are, and reports whether it is.
	Known(ctx context.Context) bool
	// Fleet returns the primaries of a cluster, and why not all of it can be used.
	Fleet(cluster types.NamespacedName) (primaries []Server, trouble *controller.Outcome)
	// OnFleet has f told of each cluster whose Fleet has changed. f must not block. It is called before anything runs.
	OnFleet(f func(cluster types.NamespacedName))
	// Protect says what a Backend that names a cluster holds of deletions there: it counts for the zones of others on that
	// cluster, too. The zero Protection ends that.
	Protect(backend string, cluster types.NamespacedName, p plan.Protection)
	// Protected says that Protect has been called for all Backends that there are. Where zones are awaited, nothing is
	// deleted from fleets before.
	Protected()
	// Reassigned says that a zone may be in other fleets now, or have another serial. It does not block.
	Reassigned(id zone.ID)
	// Behind says which secondaries do not have a serial of a zone yet, nil if all have.
	Behind(id zone.ID, serial uint32) *controller.Outcome
}

// An Assignment says in which fleets a Zone is, or is about to be.
type Assignment struct {
	Zone    dnsname.Name
	UID     types.UID
	Since   time.Time // the age of the Zone
	Serial  uint32    // the highest that a primary has confirmed; 0: none
	Fleets  []types.NamespacedName
	Decided bool // it is known
}

// Assignment returns the fleets that a Zone is assigned to.
func (s *Servers) Assignment(id zone.ID) Assignment {
	st, unlock := s.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil {
		return Assignment{Decided: st.knows()}
	}
	out := Assignment{Zone: z.snapshot.Name, UID: z.uid, Since: z.created,
		Decided: st.knows() && (z.looked || !z.accepted)}
	if l := z.current(); l != nil {
		out.Fleets = z.fleets
		for _, a := range l.at {
			if r := a.report; r != nil && r.Seq > 0 && !a.leaving && !a.observe {
				out.Serial = rr.LaterSerial(out.Serial, r.Serial)
			}
		}
	}
	return out
}

// Decided reports whether it is known of every Zone where it is to be, and where it was.
func (s *Servers) Decided() bool {
	st, unlock := s.state.Lock()
	defer unlock()
	if !st.remembers() {
		return false
	}
	for _, z := range st.zones {
		if z.accepted && !z.looked {
			return false
		}
	}
	return true
}

// Assigned returns the Zones that are, or are about to be, in fleets.
func (s *Servers) Assigned() []zone.ID {
	st, unlock := s.state.Lock()
	defer unlock()
	var out []zone.ID
	for id, z := range st.zones {
		if len(z.fleets) > 0 && z.current() != nil {
			out = append(out, id)
		}
	}
	return out
}

// Revisit has the outcome of a Zone looked at again: its secondaries have news.
func (s *Servers) Revisit(id zone.ID) { s.changed(id) }

// fleetsOf are the fleets that Places stand for.
func fleetsOf(places []*Place) []types.NamespacedName {
	var out []types.NamespacedName
	for _, p := range places {
		if p.Fleet.Name != "" && !p.Observe && !slices.Contains(out, p.Fleet) {
			out = append(out, p.Fleet)
		}
	}
	slices.SortFunc(out, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return out
}
