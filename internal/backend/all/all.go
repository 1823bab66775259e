// Package all is the one list of the kinds of servers that zones can be delivered to, and the pool of their clients. A
// new kind is a folder beside this one, a field of Config and a line of kinds.
package all

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/bind9"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/backend/dnshook"
	"github.com/zonefold/zonefold/internal/backend/dynamodb"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/budget"
)

// Config is what one kind needs, credentials included. Exactly one field is set.
type Config struct {
	Embedded *Embedded
	RFC2136  *RFC2136
	PowerDNS *powerdns.Config
	BIND9    *BIND9
	DNSHook  *dnshook.Config // the server of a DNSClass
}

// Embedded is a group of zones of this process' own name server.
type Embedded struct {
	Group string
}

// RFC2136 are primaries of the same zones that take the same key. Each is a target of its own, and all get everything.
type RFC2136 struct {
	Servers []string // see rfc2136.Config.Server
	View    string   // tells apart what one server holds for one zone under several keys; "" if it does not
	Key     rfc2136.Key
}

// BIND9 are the primaries of a fleet. Each pod is a target of its own, and all get everything.
type BIND9 struct {
	Primaries []Primary
	Net       bind9.Network
}

// A Primary is one pod, and what it is reached with.
type Primary struct {
	Endpoint bind9.Endpoint
	Access   bind9.Access
}

// A Server is one server that a Config names. What has the same Name and View is the same place, whatever the Config.
type Server struct {
	Name, View string
	Backend    backend.Backend
}

// A kind makes the clients of its field of a Config; it returns none when that is not set.
type kind struct {
	name    string
	connect func(*Pool, Config) ([]Server, error)
}

func kinds() []kind {
	return []kind{
		{"embedded", (*Pool).embedded},
		{"rfc2136", (*Pool).rfc2136},
		{"powerdns", (*Pool).powerdns},
		{"bind9", (*Pool).bind9},
		{"dnsClass", (*Pool).dnshook},
	}
}

// Kinds are the names of the kinds, as the spec of a Backend has them.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// A Pool makes clients, and one only for the same server and credentials, so that whoever uses it shares its
// connections. A client that nobody uses any more is forgotten, and its credentials with it. Those of pods are made for
// each call: whoever knows a pod has its client. It is safe for concurrent use.
type Pool struct {
	now   func() time.Time
	own   *embedded.Server
	reads *budget.Pool
	way   http.RoundTripper // see Over

	updates shelf[address, rfc2136.Client]
	apis    shelf[powerdns.Config, powerdns.Client]
	hooks   shelf[dnshook.Config, dnshook.Client]
	tables  shelf[dynamodb.Config, dynamodb.Table]

	accounts shelf[credentials, Account]
	reached  register
}

// NewPool makes an empty Pool. Now tells the time, which is part of signatures; own is this process' name server, nil
// if it is none.
func NewPool(now func() time.Time, own *embedded.Server) *Pool { return &Pool{now: now, own: own} }

// Bound has what is read from all servers bounded by one budget. It is called before any other method.
func (p *Pool) Bound(reads *budget.Pool) *Pool {
	p.reads = reads
	return p
}

// Over has Route 53, Cloudflare, Google Cloud DNS and servers of external-dns' protocol reached by a RoundTripper; nil:
// by transports of the clients' own. It is called before any other method.
func (p *Pool) Over(way http.RoundTripper) *Pool {
	p.way = way
	return p
}

// Connect returns the clients of the servers that a Config names; no server is asked anything. The clients are the same
// ones as long as anybody uses them, but for those of pods.
func (p *Pool) Connect(cfg Config) ([]Server, error) {
	var servers []Server
	named := 0
	for _, k := range kinds() {
		some, err := k.connect(p, cfg)
		if err != nil {
			return nil, fmt.Errorf("connecting to a server of the kind %s: %w", k.name, err)
		}
		if len(some) > 0 {
			servers, named = some, named+1
		}
	}
	if named != 1 {
		return nil, errors.New("the configuration of a backend names no server, or several kinds of servers")
	}
	return servers, nil
}

// An address is a server with the key that it is reached by, and what keeps from it who may not reach it.
type address struct {
	server string
	key    rfc2136.Key
	guard  *dialguard.Guard
}

func (p *Pool) embedded(cfg Config) ([]Server, error) {
	switch {
	case cfg.Embedded == nil:
		return nil, nil
	case p.own == nil:
		return nil, errors.New("this process is not a name server")
	}
	return []Server{{Name: "embedded " + cfg.Embedded.Group, Backend: p.own.Group(cfg.Embedded.Group)}}, nil
}

func (p *Pool) rfc2136(cfg Config) ([]Server, error) {
	if cfg.RFC2136 == nil {
		return nil, nil
	}
	var servers []Server
	seen := map[string]bool{}
	for _, text := range cfg.RFC2136.Servers {
		server, err := rfc2136.Canonical(text)
		if err != nil {
			return nil, err
		}
		if seen[server] {
			continue
		}
		seen[server] = true
		c, err := p.updater(address{server, cfg.RFC2136.Key, nil})
		if err != nil {
			return nil, err
		}
		servers = append(servers, Server{Name: c.Title(), View: cfg.RFC2136.View, Backend: c})
	}
	return servers, nil
}

// updater returns the client of a canonical address.
func (p *Pool) updater(a address) (*rfc2136.Client, error) {
	return p.updates.get(a, func() (*rfc2136.Client, error) {
		return rfc2136.New(rfc2136.Config{Server: a.server, Key: a.key, Now: p.now, Guard: a.guard, Reads: p.reads})
	})
}

func (p *Pool) powerdns(cfg Config) ([]Server, error) {
	if cfg.PowerDNS == nil {
		return nil, nil
	}
	c, err := p.api(*cfg.PowerDNS)
	if err != nil {
		return nil, err
	}
	return []Server{{Name: c.Title(), Backend: c}}, nil
}

// api returns the client of an API.
func (p *Pool) api(cfg powerdns.Config) (*powerdns.Client, error) {
	cfg.Reads = p.reads
	return p.apis.get(cfg, func() (*powerdns.Client, error) { return powerdns.New(cfg) })
}

func (p *Pool) bind9(cfg Config) ([]Server, error) {
	if cfg.BIND9 == nil {
		return nil, nil
	}
	var servers []Server
	for _, primary := range cfg.BIND9.Primaries {
		c, err := bind9.New(bind9.Config{Endpoint: primary.Endpoint, Access: primary.Access, Now: p.now, Reads: p.reads,
			Net: cfg.BIND9.Net})
		if err != nil {
			return nil, err
		}
		servers = append(servers, Server{Name: "bind9 " + c.Server(), Backend: c})
	}
	return servers, nil
}

func (p *Pool) dnshook(cfg Config) ([]Server, error) {
	if cfg.DNSHook == nil {
		return nil, nil
	}
	c, err := p.hooks.get(*cfg.DNSHook, func() (*dnshook.Client, error) { return dnshook.New(*cfg.DNSHook, p.now) })
	if err != nil {
		return nil, err
	}
	return []Server{{Name: "dnshook " + c.Server(), Backend: c}}, nil
}
