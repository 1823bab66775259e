// Package dnshook delivers zones to a server of the protocol of DNSClasses (package dnshook at the root of the
// repository): set by set, or in batches where the server announces them. Such a server owns the SOA and the apex name
// servers, and may show a set that one names, never a whole zone.
package dnshook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Config says which server, and with which secret.
type Config struct {
	Server    string // its URL
	Secret    string // "": nothing is signed; it is in no error and no log
	Algorithm dnshook.Algorithm
	// certificates, in PEM, of the authorities that may have signed the server's; "" are the system's
	CABundle string
	Timeout  time.Duration // of one request; 0: dnshook.DefaultTimeout
	Blind    bool          // the server has no GET for records; see Sees
	InRDATA  bool          // the server wants MX and SRV numbers in front of the values
}

// Client is one server.
type Client struct {
	cfg    Config
	server string
	hook   *dnshook.Client
	batch  atomic.Int32 // whether the server takes batches
}

// What is known of batches.
const (
	batchUnknown = iota
	batchNo
	batchYes
)

var _ backend.Backend = (*Client)(nil)

// New makes a client; nothing is sent yet.
func New(cfg Config, now func() time.Time) (*Client, error) {
	c := &Client{cfg: cfg}
	hook := dnshook.ClientConfig{Server: cfg.Server, Timeout: cfg.Timeout, Now: now, Inject: backend.Inject,
		InRDATA: cfg.InRDATA}
	if cfg.Secret != "" {
		key := dnshook.Key{Secret: []byte(cfg.Secret), Algorithm: cfg.Algorithm}
		if err := key.Validate(); err != nil {
			return nil, err
		}
		hook.Keys = func() (dnshook.Key, error) { return key, nil }
	}
	if cfg.CABundle != "" {
		hook.CABundle = []byte(cfg.CABundle)
	}
	var err error
	if c.hook, err = dnshook.NewClient(hook); err != nil {
		return nil, err
	}
	c.server, err = dnshook.CanonicalServer(cfg.Server)
	return c, err
}

// Server is the canonical URL, equal for all spellings of it.
func (c *Client) Server() string { return c.server }

// Close closes idle connections. Calls that are under way, and later ones, still work.
func (c *Client) Close() error {
	c.hook.Close()
	return nil
}

// Sees asks whether the server shows records, by a name of the zone: a Config whose server does not is Blind.
func (c *Client) Sees(ctx context.Context, zone dnsname.Name) (bool, error) {
	_, _, err := c.hook.Get(ctx, dnshook.ID{Type: "TXT", Domain: strings.TrimSuffix(zone.String(), "."),
		Subdomain: "_zonefold"})
	if errors.Is(err, dnshook.ErrNoGet) {
		return false, nil
	}
	if err != nil {
		return false, classed(err)
	}
	return true, nil
}

// concurrency is how many requests one server gets at the same time.
const concurrency = 8

// Limits are those of the protocol.
func (c *Client) Limits() backend.Limits {
	l := backend.Limits{
		Atomic: backend.AtomicSet, Read: backend.ReadSet, SOA: backend.SOAServer, ApexNS: backend.ApexNSServer,
		Confirms: true, Refuses: refuses, MinTTL: 1, MaxSetSize: dnshook.MaxValues,
		MaxChanges: dnshook.MaxBatch, MaxBytes: dnshook.MaxBody - 4096, Size: size, Concurrency: concurrency,
	}
	if c.cfg.Blind {
		l.Read = backend.ReadNone
	}
	return l
}

func refuses(t rr.Type) string {
	if slices.Contains(dnshook.Types(), t.String()) {
		return ""
	}
	return fmt.Sprintf("has no %s records: the protocol of DNSClasses knows %s", t, strings.Join(dnshook.Types(), ", "))
}

// size bounds what a change takes in a batch. An octet of a value takes at most six (\u003c), for which rdata writes at
// least one.
func size(change plan.Change) int {
	n := 200 + 2*len(change.Key.Name.String())
	for _, data := range change.Want.Data {
		n += 6*len(data) + 3
	}
	return n
}

// Zones is not supported: the protocol has no list of zones.
func (c *Client) Zones(context.Context) ([]dnsname.Name, error) {
	return nil, fmt.Errorf("listing the zones of %s: the protocol of DNSClasses does not support that", c.server)
}
