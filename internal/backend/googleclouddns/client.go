// Package googleclouddns delivers zones to Google Cloud DNS by its API, with Google's client.
//
// A batch is one change, which the service carries out as a whole or not at all, and then publishes: it is pending
// until all of its name servers have it. What a change deletes has to be exactly what is there, so sets are known as
// the service writes them, from the last reading of the zone, or are looked up first. The service has an SOA and apex
// name servers of its own.
package googleclouddns

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/api/dns/v1"
	"google.golang.org/api/option"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/secretdata"
	"github.com/zonefold/zonefold/internal/backend/webcall"
)

// Config says whose zones. Equal Configs are one account.
type Config struct {
	// ServiceAccount is the JSON document of a service account's key; it is in no error and no log.
	ServiceAccount string
	// Endpoint is the address of the API; "" is the service's own.
	Endpoint string
	// TokenEndpoint is where tokens come from; "" is the service's own. What the document says of it does not count:
	// whoever writes the document would get to know signatures.
	TokenEndpoint string
	// HTTP is the way to both; nil: transports of the client's own.
	HTTP http.RoundTripper
}

// The service's own addresses.
const (
	DefaultEndpoint      = "https://dns.googleapis.com"
	DefaultTokenEndpoint = "https://oauth2.googleapis.com/token"
)

// ownEndpoint is the first as it is compared.
const ownEndpoint = "https://dns.googleapis.com:443"

// Calls a second, and at once: what others found a project's quota to allow.
const (
	perSecond = 100
	burst     = 20
)

const (
	maxAnswer   = 64 << 20 // octets, far above a page of sets
	callTimeout = time.Minute
)

// FromSecret reads a Config from the data of a Secret and from options.
func FromSecret(data map[string][]byte, _ string, options map[string]string) (Config, error) {
	r := secretdata.New(data, options)
	cfg := Config{ServiceAccount: r.Lines("serviceaccount.json"), Endpoint: r.Option("endpoint"), TokenEndpoint: r.Option(
		"tokenEndpoint")}
	if cfg.ServiceAccount == "" {
		r.Missing("serviceaccount.json")
	} else if _, err := readAccount(cfg.ServiceAccount); err != nil {
		r.Fail("%w", err)
	}
	return cfg, r.Err()
}

// serviceAccount is the document, as far as it is needed.
type serviceAccount struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	PrivateKeyID string `json:"private_key_id"`
	PrivateKey   string `json:"private_key"`
	ClientEmail  string `json:"client_email"`
}

// readAccount reads a document. Its errors do not show it.
func readAccount(text string) (serviceAccount, error) {
	var a serviceAccount
	if json.Unmarshal([]byte(text), &a) != nil {
		return a, errors.New("serviceaccount.json is not a JSON document")
	}
	switch {
	case a.Type != "service_account":
		return a, errors.New("serviceaccount.json is not a key of a service account: its type is not service_account")
	case !projectID.MatchString(a.ProjectID):
		return a, errors.New("serviceaccount.json has no valid project_id")
	case a.ClientEmail == "":
		return a, errors.New("serviceaccount.json has no client_email")
	}
	block, _ := pem.Decode([]byte(a.PrivateKey))
	if block == nil {
		return a, errors.New("the private_key in serviceaccount.json is not in PEM")
	}
	_, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if _, older := x509.ParsePKCS1PrivateKey(block.Bytes); err != nil && older != nil {
		return a, errors.New("the private_key in serviceaccount.json cannot be read")
	}
	return a, nil
}

// Client is one account.
type Client struct {
	endpoint string
	project  string
	http     *http.Client
	api      *dns.Service
}

var _ backend.Account = (*Client)(nil)

// New makes a client; nothing is sent yet.
func New(cfg Config) (*Client, error) { return newClient(cfg, rate.NewLimiter(perSecond, burst)) }

func newClient(cfg Config, limiter *rate.Limiter) (*Client, error) {
	account, err := readAccount(cfg.ServiceAccount)
	if err != nil {
		return nil, err
	}
	if cfg.Endpoint == "" {
		cfg.Endpoint = DefaultEndpoint
	}
	if cfg.TokenEndpoint == "" {
		cfg.TokenEndpoint = DefaultTokenEndpoint
	}
	base, err := webcall.URL("the API of Cloud DNS", cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	if _, err := webcall.URL("Google's tokens", cfg.TokenEndpoint); err != nil {
		return nil, err
	}
	calls, err := webcall.NewClient(webcall.Config{Limiter: limiter, MaxAnswer: maxAnswer, Judge: judge, HTTP: cfg.HTTP})
	if err != nil {
		return nil, err
	}
	tokens, err := newTokens(account, cfg)
	if err != nil {
		return nil, err
	}
	h := &http.Client{Transport: &authorised{calls.Transport, tokens}, Timeout: callTimeout}
	api, err := dns.NewService(context.Background(), option.WithHTTPClient(h), option.WithEndpoint(base.String()+"/"))
	if err != nil {
		return nil, fmt.Errorf("making a client of Cloud DNS: %w", err)
	}
	return &Client{endpoint: base.String(), project: account.ProjectID, http: calls, api: api}, nil
}

// Close closes idle connections. Calls that are under way, and later ones, still work.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}
