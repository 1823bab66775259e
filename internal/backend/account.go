package backend

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// An Account is what credentials open at a service that hosts zones, where one name may have several zones (a public
// and a private one) and a zone is known by an ID. Its methods are safe for concurrent use, try every call once, keep
// to the service's rate by waiting as long as the context allows, and return errors of a class.
type Account interface {
	// HostedZones lists all zones that the credentials reach. It asks the service every time, unless the Account is a
	// Refresher.
	HostedZones(ctx context.Context) ([]HostedZone, error)

	// HostedZone looks up one zone by its ID in any form that the service's tools know ("Z1", "/hostedzone/Z1"), without
	// listing others, or returns ErrNoZone.
	HostedZone(ctx context.Context, id string) (HostedZone, error)

	// Backend reaches one zone of this account; its methods take only the name of that zone.
	Backend(zone HostedZone) Backend
}

// A Refresher is an Account that answers from memory for a while, so that thousands may ask it for zones.
type Refresher interface {
	// Refresh has the next question go to the service, unless that was asked a moment ago.
	Refresh()
}

// A ZoneFinder is an Account that can tell which of its zones a name is in although it may not be able to list them.
type ZoneFinder interface {
	// FindZone returns the zone, or ErrNoZone.
	FindZone(ctx context.Context, name dnsname.Name) (HostedZone, error)
}

// A HostedZone is one zone of an Account.
type HostedZone struct {
	ID   string // as status.zone of a DNSRecord has it
	Name dnsname.Name
	// answers only inside of a network; of two zones with one name the public one is meant unless the ID is named
	Private bool

	// Inactive says that the service does not answer for it, or not yet: of two zones with one name the other one is
	// meant.
	Inactive bool

	// Target is the place that the zone is. Zones that are reached with other credentials, or through another kind of
	// object, have an equal Target if and only if they are the same zone.
	Target TargetKey
}

// Cause says more exactly than an ErrorClass why a service did not do something, where it tells.
type Cause string

// What a service may complain about. Whoever reports to people or to other programs chooses words by it.
const (
	CauseUnauthenticated Cause = "unauthenticated" // it does not know the credentials, or they do not sign as they should
	CauseUnauthorised    Cause = "unauthorised"    // it knows them, and they are not allowed to do this
	CauseQuota           Cause = "quota"           // a limit that waiting does not lift
	// what it was asked for is wrong: a zone that is not there, a name that is not in it
	CauseInvalid Cause = "invalid"
	// this program cannot use such a service at all, or a service cannot hold such a set
	CauseUnsupported Cause = "unsupported"
	CauseOwned       Cause = "owned" // somebody else has it: see registrar
	CauseHeld        Cause = "held"  // a Protection holds the change: see brake
)

// FindZone returns the zone of an account that a name is in: the one with the longest name, and of several with that
// name a public one, of those an active one, and of those the one whose ID comes first. It returns ErrNoZone if there
// is none.
func FindZone(ctx context.Context, account Account, name dnsname.Name) (HostedZone, error) {
	if finder, ok := account.(ZoneFinder); ok {
		return finder.FindZone(ctx, name)
	}
	zones, err := account.HostedZones(ctx)
	if err != nil {
		return HostedZone{}, err
	}
	zone, ok := ZoneOf(zones, name)
	if !ok {
		return HostedZone{}, &Error{Class: ErrNoZone, Cause: CauseInvalid, Err: fmt.Errorf(
			"none of the %d zones that the credentials reach contains %s", len(zones), name)}
	}
	return zone, nil
}

// ZoneOf chooses as FindZone does.
func ZoneOf(zones []HostedZone, name dnsname.Name) (HostedZone, bool) {
	var holding []HostedZone
	for _, z := range zones {
		if name.Under(z.Name) {
			holding = append(holding, z)
		}
	}
	if len(holding) == 0 {
		return HostedZone{}, false
	}
	return slices.MinFunc(holding, HostedZone.Compare), true
}

// Compare orders zones as they are preferred for a name that all of them hold.
func (z HostedZone) Compare(o HostedZone) int {
	return cmp.Or(cmp.Compare(o.Name.NumLabels(), z.Name.NumLabels()), compareBool(z.Private, o.Private),
		compareBool(z.Inactive, o.Inactive), cmp.Compare(z.ID, o.ID))
}

// TargetKey identifies one place that can hold one zone. Whoever makes it sees to it that one place has one key.
type TargetKey struct {
	Server string // canonical name of the server or account; targets of one share its limits and its throttling
	Zone   dnsname.Name
	View   string
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
