package delivery

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// KindEmbedded is the kind of a Place whose server is in this process: nobody needs credentials to write to it.
const KindEmbedded = "embedded"

// A Place is one Backend object, with the clients of its servers.
type Place struct {
	Name    string
	Noun    string // the kind of the object, for people; "": Backend
	Created time.Time
	Kind    string // of the backend, such as "rfc2136"
	Servers []Server
	Default bool // serves Zones that name no Backend
	Keep    bool // foreign sets stay
	// which of them are not even overwritten; nil: none
	Registry *registry.Registry
	Observe  bool // nothing is written
	// bounds what is deleted
	Protection plan.Protection
	Audit      time.Duration
	LeaveAfter time.Duration       // how long after its deletion a Zone waits while the servers cannot be reached
	Grants     []zone.Grant        // with Closed: who may have which zones here
	Closed     bool                // the Backend has grants, and serves nobody else
	Problem    *controller.Outcome // why it cannot be used now; what is attached stays so: see Stopped
	// each server is one zone of a service, and a Zone that has none there is delivered nowhere
	Hosted  bool
	Passing bool                 // a server that is not named any more is gone, with all that it had
	Fleet   types.NamespacedName // whose primaries the servers are; zero: they are others
}

// places are all that there are, by their names.
type places map[string]*Place

// A Server is one server of a Place. Equal servers have equal names, whatever
// objects and Secrets they come from.
type Server struct {
	Name, View string
	Title      string       // what people call it; "": Name
	Zone       dnsname.Name // the only one that it takes; zero: any
	Backend    backend.Backend
	Ending     bool // it serves for a moment more, and gets what is new until then; nobody waits for it
}

// called is what people call a Place.
func (p *Place) called() string { return cmp.Or(p.Noun, "Backend") + " " + p.Name }

// serves reports whether a Zone that wants the backends refs, or those marked default
// if it names none, is to be delivered to p.
func (p *Place) serves(refs []string) bool {
	if len(refs) == 0 {
		return p.Default
	}
	return slices.Contains(refs, p.Name)
}

// at returns the servers of p that take a zone, and stay.
func (p *Place) at(zone dnsname.Name) []Server {
	var servers []Server
	for _, s := range p.Servers {
		if !s.Ending && (!p.Hosted || s.Zone.IsZero() || s.Zone == zone) {
			servers = append(servers, s)
		}
	}
	return servers
}

// restores reports whether what the servers of p hold of a zone that is withdrawn comes back at those that come in the
// place of others: that they are gone is no approval.
func (p *Place) restores() bool {
	return p.Passing && !p.Observe && p.Protection.Limited && p.Protection.Policy == plan.PolicySync
}

// names reports whether a target is at one of the servers of p that stay.
func (p *Place) names(target backend.TargetKey) bool {
	return slices.ContainsFunc(p.Servers, func(s Server) bool {
		return !s.Ending && s.Name == target.Server && s.View == target.View
	})
}

// allows reports whether the grants of p include a Zone, or one above it that
// delegates to it: who delegates passes on what was granted.
func (p *Place) allows(w *zone.World, id zone.ID) bool {
	if !p.Closed {
		return true
	}
	return w.GrantedThrough(p.Grants, id)
}

// Delivered says that a zone was, or is being, delivered to a Backend.
type Delivered struct {
	Place string
	Zone  dnsname.Name
}

// Stored is what an earlier run, or this one, stored about a Zone in the cluster.
type Stored struct {
	UID       types.UID
	Created   time.Time
	Refs      []string // the Backends that it names
	Deleting  bool
	Deleted   time.Time    // since when
	Leave     bool         // it is not to wait until it is withdrawn
	Name      dnsname.Name // that Serial, Content and Written are about
	Serial    uint32
	Ceiling   uint32
	Content   string                       // engine.Content.ID of what Serial labels
	Published func() (zone.Snapshot, bool) // what Serial labels, for a Zone that is frozen; false: it is not known
	Delivered []Delivered
	Approved  []string       // plans of deletions that somebody has approved: see Held
	Written   func() rr.Sets // the ledger: what may have been published where foreign sets stay
	Exact     bool           // of which only what a server still holds as it was written is its own
	Signed    bool           // servers sign it, and what they have nobody else can make
}

// of reports whether what was published last is what a snapshot says.
func (s Stored) of(now zone.Snapshot) bool {
	return s.Content != "" && s.Name == now.Name && s.Content == (engine.Content{SOA: now.SOA, Hash: now.Hash}).ID()
}
