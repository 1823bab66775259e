package rfc2136

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/secretdata"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// AccountConfig is a server as Secrets of the provider type rfc2136 have it.
type AccountConfig struct {
	Server string // canonical
	Zone   dnsname.Name
	Key    Key
}

// FromSecret reads the keys that the controllers of Gardener read. There is no region and there are no options.
func FromSecret(data map[string][]byte, _ string, options map[string]string) (AccountConfig, error) {
	r := secretdata.New(data, options)
	cfg := AccountConfig{Key: Key{
		Algorithm: strings.ToLower(r.Text("TSIGSecretAlgorithm", "tsigSecretAlgorithm", "tsigAlgorithm", "algorithm")),
		Secret:    r.Text("TSIGSecret", "tsigSecret"),
	}}
	var err error
	if text := r.Need("Server", "server"); text != "" {
		if cfg.Server, err = Canonical(text); err != nil {
			r.Fail("%w", err)
		}
	}
	cfg.Zone = domain(r, "Zone", "zone")
	cfg.Key.Name = domain(r, "TSIGKeyName", "tsigKeyName")
	if cfg.Key.Name.IsZero() != (cfg.Key.Secret == "") {
		r.Fail("a TSIG key needs TSIGKeyName and TSIGSecret, but the Secret has only one of them")
	} else if _, err := newSigner(cfg.Key); err != nil {
		r.Fail("TSIG key: %w", err)
	}
	return cfg, r.Err()
}

// domain reads a name that may lack its final dot.
func domain(r *secretdata.Reader, names ...string) dnsname.Name {
	text := r.Text(names...)
	if text == "" {
		return dnsname.Name{}
	}
	name, err := dnsname.Parse(strings.TrimSuffix(text, ".") + ".")
	if err != nil {
		r.Fail("%s: %w", names[0], err)
	}
	return name
}

// An Account is a server as a provider: its zones have their names for IDs. The protocol has no list of zones.
type Account struct {
	client *Client
	zone   dnsname.Name
}

var _ backend.Account = (*Account)(nil)
var _ backend.ZoneFinder = (*Account)(nil)

// NewAccount makes an Account of a client. The zone is the one that the credentials are for; zero: any that the server
// has.
func NewAccount(client *Client, zone dnsname.Name) *Account { return &Account{client, zone} }

// HostedZones returns the one zone that the credentials are for.
func (a *Account) HostedZones(ctx context.Context) ([]backend.HostedZone, error) {
	if a.zone.IsZero() {
		return nil, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid,
			Err: fmt.Errorf("DNS servers do not list their zones, and the credentials for %s name none; add the key Zone to "+
				"the Secret, or set config.zone", a.client.server)}
	}
	zone, err := a.look(ctx, a.zone)
	if err != nil {
		return nil, err
	}
	return []backend.HostedZone{zone}, nil
}

// HostedZone looks for a zone by its name.
func (a *Account) HostedZone(ctx context.Context, id string) (backend.HostedZone, error) {
	name, err := dnsname.Parse(strings.TrimSuffix(id, ".") + ".")
	if err != nil {
		return backend.HostedZone{}, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
			"a zone of a DNS server is identified by its name: %w", err)}
	}
	if !a.zone.IsZero() && name != a.zone {
		return backend.HostedZone{}, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
			"the credentials are for %s, not for %s", a.zone, name)}
	}
	return a.look(ctx, name)
}

// look asks the server for the SOA of a zone.
func (a *Account) look(ctx context.Context, name dnsname.Name) (backend.HostedZone, error) {
	err := a.client.talk(ctx, reading, func(link *conn) error {
		_, err := a.client.soa(link, name)
		return a.client.unknown(link, name, err)
	})
	if e, ok := errors.AsType[*backend.Error](err); ok && e.Class == backend.ErrNoZone {
		e.Cause = backend.CauseInvalid
	}
	if err != nil {
		return backend.HostedZone{}, fmt.Errorf("looking for zone %s at %s: %w", name, a.client.server, err)
	}
	return a.hosted(name), nil
}

// unknown finds out whether REFUSED means a zone that the server does not have: BIND says it to queries then, too, and
// NOTAUTH to an UPDATE (RFC 2136 §3.1.2), of which an empty one changes nothing.
func (c *Client) unknown(link *conn, zone dnsname.Name, refused error) error {
	if e, ok := errors.AsType[*backend.Error](refused); !ok || e.Words != rcodeName(dns.RcodeRefused) {
		return refused
	}
	rcode, err := c.send(link, newUpdate(zone))
	if err != nil || rcode != dns.RcodeNotAuth {
		return refused
	}
	return &backend.Error{Class: backend.ErrNoZone, Words: rcodeName(rcode), Err: errors.New(
		"the server does not have the zone")}
}

func (a *Account) hosted(name dnsname.Name) backend.HostedZone {
	return backend.HostedZone{ID: name.String(), Name: name, Target: backend.TargetKey{Server: a.client.Title(),
		Zone: name}}
}

// FindZone asks for the SOA of a name and of all above it, up to the first that has one.
func (a *Account) FindZone(ctx context.Context, name dnsname.Name) (backend.HostedZone, error) {
	if !a.zone.IsZero() {
		if name.Under(a.zone) {
			return a.look(ctx, a.zone)
		}
		return backend.HostedZone{}, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
			"%s is not in %s, the zone that the credentials are for", name, a.zone)}
	}
	for at, ok := name, true; ok; at, ok = at.Parent() {
		zone, err := a.look(ctx, at)
		if !errors.Is(err, backend.ErrNoZone) {
			return zone, err
		}
	}
	return backend.HostedZone{}, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
		"%s has no zone that contains %s", a.client.server, name)}
}

// Backend returns the client, which knows zones by their names.
func (a *Account) Backend(backend.HostedZone) backend.Backend { return a.client }
