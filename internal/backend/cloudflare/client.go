// Package cloudflare delivers zones to Cloudflare's DNS by its API, with the official SDK.
//
// The service has no sets, only records with IDs. A batch is one call of /dns_records/batch, which the service carries
// out in one transaction: it deletes, changes and makes exactly the records that differ. Their IDs are known from the
// last reading of the zone, or are looked up first. The service has an SOA and apex name servers of its own, and shows
// neither.
package cloudflare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/cloudflare/cloudflare-go/v7/dns"
	"github.com/cloudflare/cloudflare-go/v7/option"
	"github.com/cloudflare/cloudflare-go/v7/zones"
	"golang.org/x/time/rate"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/secretdata"
	"github.com/zonefold/zonefold/internal/backend/webcall"
)

// Config says whose zones. Equal Configs are one account.
type Config struct {
	// Token is an API token with the permissions Zone Read and DNS Edit; it is in no error and no log.
	Token string
	// Proxied has addresses and aliases answered by the service's proxies, with automatic TTLs.
	Proxied bool
	// Endpoint is the address of the API; "" is the service's own.
	Endpoint string
	// HTTP is the way there; nil: a transport of the client's own.
	HTTP http.RoundTripper
}

// DefaultEndpoint is the service's own.
const DefaultEndpoint = "https://api.cloudflare.com/client/v4"

// ownEndpoint is that as it is compared.
const ownEndpoint = "https://api.cloudflare.com:443/client/v4"

// The service takes 1,200 calls in five minutes of one user.
const (
	perSecond = 4
	burst     = 10
)

// maxAnswer is far above a page of records, in octets.
const maxAnswer = 64 << 20

// FromSecret reads a Config from the data of a Secret, in either spelling, and from options.
func FromSecret(data map[string][]byte, _ string, options map[string]string) (Config, error) {
	r := secretdata.New(data, options)
	cfg := Config{Token: r.Need("CLOUDFLARE_API_TOKEN", "apiToken"), Endpoint: r.Option("endpoint")}
	switch text := r.Option("proxied"); text {
	case "", "false":
	case "true":
		cfg.Proxied = true
	default:
		r.Fail("the setting proxied is %q, and must be true or false", text)
	}
	return cfg, r.Err()
}

// Client is one account.
type Client struct {
	endpoint string
	proxied  bool
	http     *http.Client
	zones    *zones.ZoneService
	records  *dns.RecordService
}

var _ backend.Account = (*Client)(nil)

// New makes a client; nothing is sent yet.
func New(cfg Config) (*Client, error) { return newClient(cfg, rate.NewLimiter(perSecond, burst)) }

func newClient(cfg Config, limiter *rate.Limiter) (*Client, error) {
	if cfg.Token == "" || strings.ContainsFunc(cfg.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New(
			"the API token for Cloudflare is empty, or has white space or other characters that no token has")
	}
	if cfg.Endpoint == "" {
		cfg.Endpoint = DefaultEndpoint
	}
	base, err := webcall.URL("Cloudflare's API", cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	h, err := webcall.NewClient(webcall.Config{Limiter: limiter, MaxAnswer: maxAnswer, Judge: judge, HTTP: cfg.HTTP})
	if err != nil {
		return nil, err
	}
	options := []option.RequestOption{
		option.WithBaseURL(base.String()), option.WithAPIToken(cfg.Token), option.WithHTTPClient(h), option.WithMaxRetries(0),
	}
	return &Client{
		endpoint: base.String(), proxied: cfg.Proxied, http: h, zones: zones.NewZoneService(options...),
		records: dns.NewRecordService(options...),
	}, nil
}

// Close closes idle connections. Calls that are under way, and later ones, still work.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// answer is what every answer of the API is made of.
type answer[T any] struct {
	Success bool `json:"success"`
	Result  T    `json:"result"`
	Info    struct {
		Page       int `json:"page"`
		PerPage    int `json:"per_page"`
		Count      int `json:"count"`
		TotalCount int `json:"total_count"`
	} `json:"result_info"`
}

// call makes a call of the SDK whose answer is read into a value of ours: the SDK's own lose the digits of numbers and
// stumble over types of records that it does not know.
func call[T any](ctx context.Context, do func(context.Context, option.RequestOption) error) (answer[T], error) {
	var raw []byte
	var got answer[T]
	if err := do(ctx, option.WithResponseBodyInto(&raw)); err != nil {
		return got, err
	}
	if err := json.Unmarshal(raw, &got); err != nil || !got.Success {
		return got, unreadable(err)
	}
	return got, nil
}

func unreadable(err error) error {
	if err == nil {
		err = errors.New("it does not say success")
	}
	return &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf("the service's answer cannot be read: %w", err)}
}

// pages reads a list whole. A list that changed under way shows as one of another length, and is an error.
func pages[T any](ctx context.Context, perPage int,
	page func(ctx context.Context, number float64, into option.RequestOption) error) ([]T, error) {
	var all []T
	for number := 1; ; number++ {
		got, err := call[[]T](ctx, func(ctx context.Context, into option.RequestOption) error {
			return page(ctx, float64(number), into)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, got.Result...)
		switch total := got.Info.TotalCount; {
		case len(all) == total:
			return all, nil
		case len(all) > total, len(got.Result) == 0, len(got.Result) < perPage && len(got.Result) < got.Info.PerPage:
			return nil, &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf("the service lists %d but counts %d",
				len(all), total)}
		}
	}
}
