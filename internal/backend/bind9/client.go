// Package bind9 delivers zones to one primary of a fleet of BIND servers: a pod with named and the sidecar bindcar in
// it. Zones are made, removed and configured through the sidecar; what is in them is changed by UPDATEs and read by
// transfers, which package rfc2136 does.
//
// A zone is made whole, in one call. If it is too large for that, or BIND refuses a part of it, it is made held: until
// it is complete, only those who may update it can query or transfer it. A held zone is a building site. A run that
// finds one that it has not begun itself treats it as no zone, and starts over.
package bind9

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// An Endpoint is where one pod is reached.
type Endpoint struct {
	ID      string // the UID of the pod: who is to be there
	Name    string // what people call it; "": the ID
	DNS     string // host and port of named
	Sidecar string // the base URL of bindcar: http://HOST:PORT
}

// Access is what changes while an Endpoint stays. It is asked for each call, so that nothing has to be connected anew.
// It has to be comparable, as a pointer is.
type Access interface {
	// Keys are those that the servers accept now: the one that signs updates, and the one that may transfer.
	Keys() (update, transfer named.Key, err error)
	// Token is for the sidecar, which gets it after the pod has shown that it knows the key for updates.
	Token() (string, error)
	// Holds tells why the Endpoint is not the pod's any more, nil if it is. It is asked when credentials are refused, and
	// has to know better than a cache: somebody else may have the address by now.
	Holds(ctx context.Context, p Endpoint) error
	// Settings are those of a zone.
	Settings(zone dnsname.Name) Settings
}

// Config says which pod.
type Config struct {
	Endpoint Endpoint
	Access   Access
	Now      func() time.Time // part of every signature
	Reads    *budget.Pool     // bounds what is read; nil bounds each transfer alone
	Net      Network
}

// A Network is how pods are reached. Its zero value is the machine's.
type Network struct {
	HTTP http.RoundTripper                        // to sidecars; nil: a transport of each client's own
	DNS  func(rfc2136.Config) (Nameserver, error) // makes clients of named; nil: those of package rfc2136
	// Leads reports whether nobody else can be doing the same by now; nil: nobody else ever does.
	Leads func() bool
}

// A Nameserver is named as updates and transfers reach it.
type Nameserver interface {
	Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error)
	Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (backend.Result, error)
	// Prove has the server show that it knows the key for updates.
	Prove(ctx context.Context) error
	Limits() backend.Limits
	Server() string // its address
	Close() error
}

var _ Nameserver = (*rfc2136.Client)(nil)

func (n Network) dns(cfg rfc2136.Config) (Nameserver, error) {
	if n.DNS != nil {
		return n.DNS(cfg)
	}
	return rfc2136.New(cfg)
}

func (n Network) http() http.RoundTripper {
	if n.HTTP != nil {
		return n.HTTP
	}
	// a proxy would take the token to somebody else
	return &http.Transport{MaxIdleConnsPerHost: concurrency, IdleConnTimeout: time.Minute}
}

// Client is one primary. It keeps some connections open between calls; Close closes those that are idle.
type Client struct {
	pod
	mu    sync.Mutex
	begun map[dnsname.Name]site
}

// A site is a zone that was made by this client.
type site struct {
	held     bool   // it is not complete yet
	stand    rr.Set // the name servers that it got for want of its own
	standing bool
	follows  bool // the server was a secondary of the zone, and is one yet
}

var _ backend.Backend = (*Client)(nil)

// New makes a client; nothing is sent yet.
func New(cfg Config) (*Client, error) {
	p, err := newPod(cfg)
	if err != nil {
		return nil, err
	}
	return &Client{pod: p, begun: map[dnsname.Name]site{}}, nil
}

// A pod is what primaries and secondaries have in common: named and the sidecar.
type pod struct {
	endpoint Endpoint
	access   Access
	dns      Nameserver
	sidecar  *bindcar.Client
}

// concurrency is how many calls of one pod's sidecar keep their connection.
const concurrency = 4

func newPod(cfg Config) (pod, error) {
	if cfg.Access == nil {
		return pod{}, errors.New("bind9: Config.Access is not set")
	}
	base, err := url.Parse(cfg.Endpoint.Sidecar)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil {
		return pod{}, errors.New("the address of a sidecar is not http://HOST:PORT")
	}
	dns, err := cfg.Net.dns(rfc2136.Config{Server: cfg.Endpoint.DNS, Now: cfg.Now, Reads: cfg.Reads,
		Keys: func() (rfc2136.Keys, error) { return keysOf(cfg.Access) }})
	if err != nil {
		return pod{}, err
	}
	// A redirect would take the token to somebody else.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return pod{
		endpoint: cfg.Endpoint, access: cfg.Access, dns: dns,
		sidecar: &bindcar.Client{BaseURL: cfg.Endpoint.Sidecar, Pod: cfg.Endpoint.ID, Token: cfg.Access.Token,
			HTTP: &http.Client{Transport: cfg.Net.http(), CheckRedirect: stay}, Leads: cfg.Net.Leads},
	}, nil
}

// keysOf are the keys of now: what is written is signed with the one for updates, what is read with the one for
// transfers, so that a zone is seen as the secondaries see it.
func keysOf(access Access) (rfc2136.Keys, error) {
	update, transfer, err := access.Keys()
	if err != nil {
		return rfc2136.Keys{}, err
	}
	var keys rfc2136.Keys
	if keys.Update, err = keyOf(update); err == nil {
		keys.Read, err = keyOf(transfer)
	}
	return keys, err
}

func keyOf(k named.Key) (rfc2136.Key, error) {
	if err := k.Validate(); err != nil {
		return rfc2136.Key{}, err
	}
	name, err := dnsname.Parse(k.Name + ".")
	return rfc2136.Key{Name: name, Algorithm: string(k.Algorithm), Secret: k.Secret}, err
}

// Server names the pod, whatever its address.
func (p *pod) Server() string {
	if p.endpoint.ID != "" {
		return p.endpoint.ID
	}
	return p.dns.Server()
}

// title is the pod for people.
func (p *pod) title() string { return cmp.Or(p.endpoint.Name, p.Server()) }

// Close closes the idle connections. Calls that are under way, and later ones, still work.
func (p *pod) Close() error {
	p.sidecar.HTTP.CloseIdleConnections()
	return p.dns.Close()
}

// maxSet is how many records BIND takes in one set (max-records-per-type), and loads of a zone file.
const maxSet = 100

// maxCreate bounds the zone that one call makes, in the octets that Limits.Size counts. As JSON a record takes up to
// four times as many, and the sidecar takes bodies of 2 MiB.
const maxCreate = 512 << 10

// Limits are those of the UPDATE protocol, with zones that come and go.
func (c *Client) Limits() backend.Limits {
	l := c.dns.Limits()
	l.ListsZones, l.Creates, l.Removes, l.Followed = true, true, true, true
	l.MaxSetSize, l.CreateBytes = maxSet, maxCreate
	return l
}

// Zones lists the zones that the sidecar knows.
func (c *Client) Zones(ctx context.Context) ([]dnsname.Name, error) {
	var texts []string
	err := c.call(ctx, func(s *bindcar.Client) (err error) {
		texts, err = s.Zones(ctx)
		return err
	})
	var zones []dnsname.Name
	for _, text := range texts {
		name, parseErr := dnsname.Parse(text + ".")
		zones, err = append(zones, name), errors.Join(err, parseErr)
	}
	if err != nil {
		return nil, fmt.Errorf("listing the zones of %s: %w", c.title(), err)
	}
	return zones, nil
}

// Read reads as rfc2136 does. A zone that is refused may be one that is not there, or one that is held.
func (c *Client) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	if c.site(zone).follows || ask.Keys == nil && ask.Known == nil && c.access.Settings(zone).Sole {
		if err := c.secondary(ctx, zone); err != nil {
			return backend.Observed{}, err
		}
	}
	found, err := c.dns.Read(ctx, zone, ask)
	if err == nil {
		return found, nil
	}
	if errors.Is(err, backend.ErrNotAuthorised) {
		err = c.refused(ctx, zone, err)
	}
	return backend.Observed{}, c.stillThere(ctx, err)
}

// refused finds out why a zone is.
func (c *Client) refused(ctx context.Context, zone dnsname.Name, err error) error {
	settings, asked := c.settings(ctx, zone)
	switch {
	case errors.Is(asked, bindcar.ErrNotFound):
		return &backend.Error{Class: backend.ErrNoZone, Err: fmt.Errorf("the sidecar of %s does not know the zone",
			c.title())}
	case asked != nil:
		return err
	case settings.Held:
		return &backend.Error{Class: backend.ErrNoZone, Err: fmt.Errorf(
			"%s has only a part of the zone, and does not serve it", c.title())}
	}
	return err
}
