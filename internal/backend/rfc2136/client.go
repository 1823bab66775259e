// Package rfc2136 delivers zones to one primary name server that takes dynamic updates (RFC 2136), signed with TSIG
// (RFC 8945), and lets itself be read by zone transfers (RFC 5936, RFC 1995).
//
// One batch is one UPDATE message: it is applied whole or not at all, carries the new SOA, and so has one serial. A
// prerequisite on the old SOA makes it a compare-and-swap. What is served by several primaries is several clients, each
// a target of its own that must confirm.
package rfc2136

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Config says which server, and with which key.
type Config struct {
	// Server is "host", "host:port", "[IPv6]:port" or an IPv6 address; the port is 53 by default.
	Server string
	// Key signs everything that is sent and must have signed every answer. The zero Key signs nothing: the server then
	// has to accept the client by its address.
	Key Key
	// Keys takes the place of Key where keys change while the client is in use: it is asked for each call.
	Keys func() (Keys, error)
	// Now tells the time, which is part of every signature (RFC 8945 §5.2.3).
	Now func() time.Time
	// Guard is for a server that a tenant chose: what it refuses is not dialled.
	Guard *dialguard.Guard
	// Dial connects in the place of the machine's TCP, and of Guard.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Reads bounds what is read. Nil bounds each transfer alone.
	Reads *budget.Pool
}

// Client is one server. It keeps some TCP connections open between calls; Close closes those that are idle.
type Client struct {
	server string
	reads  *budget.Pool
	keys   keyring
	now    func() time.Time
	conns  pool
	dear   sync.Map // zones whose server has no increments: dnsname.Name to nothing
}

var _ backend.Backend = (*Client)(nil)

// New makes a client; nothing is sent yet.
func New(cfg Config) (*Client, error) {
	server, err := Canonical(cfg.Server)
	if err != nil {
		return nil, err
	}
	c := &Client{server: server, reads: cfg.Reads, now: cfg.Now,
		conns: pool{server: server, now: cfg.Now, connect: cfg.Guard.DialContext}, keys: keyring{current: cfg.Keys}}
	if cfg.Dial != nil {
		c.conns.connect = cfg.Dial
	}
	if cfg.Keys == nil {
		if err := c.keys.set(Keys{Update: cfg.Key}); err != nil {
			return nil, fmt.Errorf("TSIG key for %s: %w", server, err)
		}
	}
	if cfg.Now == nil {
		return nil, errors.New("rfc2136: Config.Now is not set")
	}
	return c, nil
}

// Server is the canonical address, equal for all spellings of it: "192.0.2.1:53", "[2001:db8::1]:53",
// "ns.example.org:53".
func (c *Client) Server() string { return c.server }

// Title is what targets call the server.
func (c *Client) Title() string { return "dns " + c.server }

// Close closes the idle connections. Calls that are under way, and later ones, still work.
func (c *Client) Close() error {
	c.conns.close()
	return nil
}

// maxMessage is the size of a DNS message over TCP (RFC 1035 §4.2.2).
const maxMessage = 65535

// overhead bounds what an UPDATE holds besides its changes: header, zone section, the old SOA, the new SOA, and the
// TSIG with names of 255 octets each and a MAC of 64.
const overhead = 12 + (255 + 4) + 2*(2+10+2*255+20) + (255 + 10 + 255 + 16 + 64)

// Limits are those of the protocol; a server's own (BIND takes 100 records in a set) are found by its answers.
func (c *Client) Limits() backend.Limits {
	return backend.Limits{
		Atomic: backend.AtomicBatch, Read: backend.ReadZone, SOA: backend.SOAClient, ApexNS: backend.ApexNSRequired,
		MaxBytes: maxMessage - overhead, Size: size, Concurrency: concurrency,
	}
}

// Zones is not supported: the protocol has no list of zones.
func (c *Client) Zones(context.Context) ([]dnsname.Name, error) {
	return nil, fmt.Errorf("listing the zones of %s: the DNS protocol does not support that", c.server)
}

// size is an upper bound of what a change takes in an UPDATE: the deletion of the old set and the addition of the new
// one, or for the apex NS each value that goes and comes. Presentation form is at least as long as wire format but for
// the fixed parts of some types and the length octets, for which allowance is made.
func size(change plan.Change) int {
	owner := wireLength(change.Key.Name) + 10 // type, class, TTL, length
	n := 0
	if !change.Creates() {
		n += owner
	}
	if change.Key.Type == rr.TypeNS {
		n += sizeOf(change.Have, owner)
	}
	return n + sizeOf(change.Want, owner)
}

func sizeOf(set rr.Set, owner int) int {
	n := 0
	for _, data := range set.Data {
		n += owner + wireData(set.Type, data)
	}
	return n
}

// wireData bounds the length of rdata. Addresses are exact. For the others each field's text is as long as its octets
// but for numbers: one digit may stand for four octets (SOA, LOC), so three octets more are counted for each field.
func wireData(t rr.Type, data string) int {
	switch t {
	case rr.TypeA:
		return 4
	case rr.TypeAAAA:
		return 16
	}
	fields := 1
	for i := range len(data) {
		if data[i] == ' ' {
			fields++
		}
	}
	return len(data) + 2 + 3*fields
}

// wireLength bounds the length of a name: one length octet for each label and the root, where text has dots.
func wireLength(n dnsname.Name) int { return len(n.String()) + 1 }
