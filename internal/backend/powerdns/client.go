// Package powerdns delivers zones to the PowerDNS Authoritative Server by its HTTP API, version 1.
//
// One batch is one PATCH, which the server carries out in one database transaction, with the SOA and its serial in it.
// The API has no compare-and-swap: the serial is looked at before each batch, so that another writer is noticed unless
// it writes in the same moment or does not count. The server's own counting (SOA-EDIT-API) is switched off in the zones
// that are written to, or the zone could not carry the same serial here as on its other servers.
package powerdns

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// Config says which server, and with which key.
type Config struct {
	// URL is the address of the API without "/api/v1", such as "https://pdns.example.org:8081".
	URL string
	// ServerID names the server behind the API; "" is "localhost".
	ServerID string
	// APIKey is in no error and no log.
	APIKey string
	// CABundle holds the certificates, in PEM, of the authorities that may have signed the server's; "" are the system's.
	CABundle string
	// ZoneKind is that of zones that are created: "Native", "Master" or "Primary", which is the newer word for Master;
	// "" is Native.
	ZoneKind string
	// InsecureSkipVerify has the certificate of the server not looked at: whoever is in between can read the key.
	InsecureSkipVerify bool
	// Guard is for a server that a tenant chose: what it refuses is not dialled, and no words of the server are shown.
	Guard *dialguard.Guard
	// Reads bounds what is read. Nil bounds each answer alone.
	Reads *budget.Pool
}

// Client is one server.
type Client struct {
	base     *url.URL // up to and with the server's id
	key      string
	zoneKind string
	http     *http.Client
	guard    *dialguard.Guard
	reads    *budget.Pool
	writing  chan struct{} // holds one: see call
}

var _ backend.Backend = (*Client)(nil)

// New makes a client; nothing is sent yet.
func New(cfg Config) (*Client, error) {
	base, err := baseURL(cfg.URL, cfg.ServerID)
	if err != nil {
		return nil, err
	}
	if cfg.APIKey == "" || strings.ContainsFunc(cfg.APIKey, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, errors.New("the API key of PowerDNS is empty or has characters that an HTTP header cannot contain")
	}
	kind, err := zoneKind(cfg.ZoneKind)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: concurrency, IdleConnTimeout: time.Minute,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	transport.TLSClientConfig.InsecureSkipVerify = cfg.InsecureSkipVerify // whoever has the key says so
	if cfg.CABundle != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(cfg.CABundle)) {
			return nil, errors.New("the CA bundle for PowerDNS contains no PEM certificate")
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	cfg.Guard.Transport(transport)
	// A redirect could take the key to somebody else.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		base: base, key: cfg.APIKey, zoneKind: kind, guard: cfg.Guard, reads: cfg.Reads,
		http: &http.Client{Transport: transport, CheckRedirect: stay}, writing: make(chan struct{}, 1),
	}, nil
}

// baseURL is everything of the API's addresses that is the same for all zones.
func baseURL(text, server string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the URL of PowerDNS's API: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, fmt.Errorf("the URL of PowerDNS's API, %q, is not http:// or https:// with a host and at most a path",
			u.Redacted())
	}
	u.Host = strings.ToLower(u.Host)
	if u.Port() == "" {
		u.Host += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	}
	if server == "" {
		server = "localhost"
	}
	return u.JoinPath("api/v1/servers", url.PathEscape(server)), nil
}

// zoneKind returns the word that every version of the server knows.
func zoneKind(kind string) (string, error) {
	switch kind {
	case "", "Native":
		return "Native", nil
	case "Master", "Primary":
		return "Master", nil
	}
	return "", fmt.Errorf("zones of kind %q cannot be created; use Native or Primary", kind)
}

// Server is the canonical address of the API with the server's id, equal for all spellings of it.
func (c *Client) Server() string { return c.base.String() }

// Title is what targets call the server.
func (c *Client) Title() string { return "powerdns " + c.Server() }

// Close closes idle connections. Calls that are under way, and later ones, still work.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// concurrency is how many calls one server gets at the same time.
const concurrency = 4

// maxBody keeps a PATCH below the server's default of 2 MiB (webserver-max-bodysize).
const maxBody = 1_900_000

// Limits are those of PowerDNS with any of its database backends.
func (c *Client) Limits() backend.Limits {
	return backend.Limits{
		Atomic: backend.AtomicBatch, Read: backend.ReadZone, SOA: backend.SOAClient, ApexNS: backend.ApexNSFree,
		ListsZones: true, Creates: true, Confirms: true, Refuses: refuses,
		MaxBytes: maxBody - 4096, Size: size, Concurrency: concurrency,
	}
}

// Zones lists the zones of the server.
func (c *Client) Zones(ctx context.Context) ([]dnsname.Name, error) {
	var listed []zone
	if err := c.call(ctx, request{method: http.MethodGet, path: "zones"}, &listed); err != nil {
		return nil, fmt.Errorf("listing the zones of %s: %w", c.Server(), err)
	}
	names := make([]dnsname.Name, len(listed))
	for i, z := range listed {
		name, err := parseName(z.Name)
		if err != nil {
			return nil, fmt.Errorf("listing the zones of %s: %w", c.Server(), err)
		}
		names[i] = name
	}
	return names, nil
}
