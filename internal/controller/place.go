package controller

import (
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Place is one Backend object, with the clients of its servers.
type Place struct {
	Name    string
	Created time.Time
	Kind    string // of the backend, such as "rfc2136"
	Servers []Server
	Default bool // serves Zones that name no Backend
	Keep    bool // foreign sets stay
	Observe bool // nothing is written
	Audit   time.Duration
	Grants  []zone.Grant // with Closed: who may have which zones here
	Closed  bool         // the Backend has grants, and serves nobody else
	Problem *Outcome     // why it cannot be used now; what is attached stays so
}

// A Server is one server of a Place. Equal servers have equal names, whatever
// objects and Secrets they come from.
type Server struct {
	Name, View string
	Backend    backend.Backend
}

// serves reports whether a Zone that wants the backends refs, or those marked default
// if it names none, is to be delivered to p.
func (p *Place) serves(refs []string) bool {
	if len(refs) == 0 {
		return p.Default
	}
	return slices.Contains(refs, p.Name)
}

// allows reports whether the grants of p include a Zone, or one above it that
// delegates to it: who delegates passes on what was granted.
func (p *Place) allows(w *zone.World, id zone.ID) bool {
	if !p.Closed {
		return true
	}
	for range 128 { // labels in a name
		v, ok := w.Verdict(id)
		if !ok || !v.Accepted {
			return false
		}
		if zone.Granted(p.Grants, id.Namespace, v.Name) {
			return true
		}
		if v.Zone.IsZero() {
			return false
		}
		id = v.Zone
	}
	return false
}

// Delivered says that a zone was, or is being, delivered to a Backend.
type Delivered struct {
	Place string
	Zone  dnsname.Name
}

// Stored is what an earlier run, or this one, stored about a Zone in the cluster.
type Stored struct {
	Created   time.Time
	Refs      []string // the Backends that it names
	Deleting  bool
	Name      dnsname.Name // that Serial, Content and Written are about
	Serial    uint32
	Ceiling   uint32
	Content   string // backend.Content.ID of what Serial labels
	Delivered []Delivered
	Written   func() rr.Sets // the ledger: what may have been published where foreign sets stay
}
