package bind9

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Secondary is one secondary. It is told which zones to follow and asked how far it is; the zones it transfers by
// itself.
type Secondary struct{ pod }

// NewSecondary makes a client; nothing is sent yet.
func NewSecondary(cfg Config) (*Secondary, error) {
	p, err := newPod(cfg)
	if err != nil {
		return nil, err
	}
	return &Secondary{p}, nil
}

// Follow has the secondary follow the primaries in a zone, with the transfer key of a name, or, if that is empty, with
// none, and reports whether anything had to be changed: after a rotation of keys it has. Anew, what the server has of
// the zone from when it was a primary goes first. Else that is ErrConflict, as is a zone of BIND's configuration files,
// which is somebody's.
func (s *Secondary) Follow(ctx context.Context, zone dnsname.Name, primaries []netip.AddrPort, key string,
	anew bool) (changed bool, err error) {
	if len(primaries) == 0 {
		err = errors.New("no primary is named")
	} else {
		changed, err = s.follow(ctx, zone, remotes(primaries, key), anew)
	}
	if err != nil {
		return false, fmt.Errorf("having %s follow the primaries of zone %s: %w", s.title(), zone, err)
	}
	return changed, nil
}

func (s *Secondary) follow(ctx context.Context, zone dnsname.Name, want []string, anew bool) (bool, error) {
	have, err := s.settings(ctx, zone)
	follows := have.ZoneType == bindcar.Secondary
	switch {
	case errors.Is(err, backend.ErrNoZone):
		return true, s.create(ctx, zone, want)
	case err != nil:
		return false, err
	case !follows && !have.Own:
		return false, &backend.Error{Class: backend.ErrConflict,
			Err: fmt.Errorf("it is a %s of the zone according to its own configuration", have.ZoneType)}
	case !follows && !anew:
		return false, &backend.Error{Class: backend.ErrConflict, Err: fmt.Errorf("it is a %s of the zone", have.ZoneType)}
	case !follows:
		if err := s.Remove(ctx, zone); err != nil {
			return false, err
		}
		return true, s.create(ctx, zone, want)
	}
	slices.Sort(have.Primaries)
	if slices.Equal(have.Primaries, want) {
		return false, nil
	}
	return true, s.call(ctx, func(sidecar *bindcar.Client) error {
		return sidecar.Modify(ctx, text(zone), bindcar.ModifyZone{Primaries: &want})
	})
}

// remotes are servers with the key that is used there, in order.
func remotes(servers []netip.AddrPort, key string) []string {
	var all []string
	for _, at := range servers {
		text := remote(at)
		if key != "" {
			text += " key " + key
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// create makes the zone. The SOA is one that the API wants and nobody reads.
func (s *Secondary) create(ctx context.Context, zone dnsname.Name, primaries []string) error {
	return s.call(ctx, func(sidecar *bindcar.Client) error {
		_, err := sidecar.Create(ctx, bindcar.CreateZone{
			ZoneName: text(zone), ZoneType: bindcar.Secondary,
			ZoneConfig: bindcar.ZoneConfig{Primaries: &primaries, SOA: bindcar.SOA{PrimaryNS: nobody, AdminEmail: nobody}},
		})
		return err
	})
}

// Remove ends the following of a zone. One that is not there is success.
func (s *Secondary) Remove(ctx context.Context, zone dnsname.Name) error {
	if err := s.call(ctx, func(sidecar *bindcar.Client) error { return sidecar.Delete(ctx, text(zone)) }); err != nil {
		return fmt.Errorf("removing zone %s from %s: %w", zone, s.title(), err)
	}
	return nil
}

// Serial asks for the serial that the secondary has of a zone: ErrNoZone when it does not know the zone, ErrUnavailable
// when it has not transferred it yet.
func (s *Secondary) Serial(ctx context.Context, zone dnsname.Name) (uint32, error) {
	found, err := s.dns.Read(ctx, zone, backend.Ask{Keys: []rr.Key{}})
	if err == nil {
		return found.SOA.Serial, nil
	}
	if errors.Is(err, backend.ErrNotAuthorised) {
		if _, asked := s.settings(ctx, zone); errors.Is(asked, backend.ErrNoZone) {
			err = asked
		}
	}
	return 0, s.stillThere(ctx, err)
}

// Limits says what of the secondary can be read.
func (s *Secondary) Limits() backend.Limits { return s.dns.Limits() }

// Read reads what the secondary has of a zone.
func (s *Secondary) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	found, err := s.dns.Read(ctx, zone, ask)
	if err != nil {
		return backend.Observed{}, s.stillThere(ctx, err)
	}
	return found, nil
}

// Holds reads all that the secondary has of a zone, and reports whether that is what is wanted, apart from what servers
// make themselves.
func (s *Secondary) Holds(ctx context.Context, zone dnsname.Name, want rr.Sets) (bool, error) {
	found, err := s.Read(ctx, zone, backend.Ask{})
	if err != nil {
		return false, err
	}
	return len(plan.Diff(found.Sets, want, plan.Scope{Apex: zone, ApexNS: plan.ApexNSRequired}).Changes) == 0, nil
}

// Renew has the secondary transfer the whole zone, whatever it has.
func (s *Secondary) Renew(ctx context.Context, zone dnsname.Name) error {
	return s.command(ctx, zone, "retransfer")
}

// Refresh has the secondary ask its primaries for a zone. These tell their secondaries of changes; it is for who did
// not hear it.
func (s *Secondary) Refresh(ctx context.Context, zone dnsname.Name) error {
	return s.command(ctx, zone, "refresh")
}
