// Package extdns delivers zones to a server of external-dns' webhook protocol, as every webhook provider of
// external-dns is one, and external-dns itself with --webhook-server.
//
// Such a server lists everything it has in one answer, takes creations, updates and deletions that name exactly what is
// there, and answers for all of them at once. It may adjust what is wanted, leave out types that it does not know
// without a word, and do a part of what it then reports as failed: so what is there is read before it is changed, and
// read back after.
package extdns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/backend/secretdata"
	"github.com/zonefold/zonefold/internal/backend/webcall"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/endpoint"
)

// Config says which server. Equal Configs are one account.
type Config struct {
	URL string // with a path, if there are several providers behind one address
	// certificates, in PEM, of the authorities that may have signed the server's; "" are the system's
	CABundle string
	// "Name: value", sent with every call, because the protocol has no credentials; it is in no error and no log
	Header  string
	Zones   string        // names with commas between them; "" are those that the server tells
	Timeout time.Duration // of one call; 0 is 30 seconds
	// Guard is for a server that a tenant chose.
	Guard *dialguard.Guard
	Reads *budget.Pool // bounds what is read; nil bounds each answer alone
	// HTTP is the way there; nil: a transport of the client's own.
	HTTP http.RoundTripper
}

// defaultTimeout is how long a server may take by default.
const defaultTimeout = 30 * time.Second

// FromSecret reads a Config from the data of a Secret and from options.
func FromSecret(data map[string][]byte, _ string, options map[string]string) (Config, error) {
	r := secretdata.New(data, options)
	cfg := Config{URL: r.Text("url", "URL"), CABundle: r.Lines("ca.crt", "caBundle"), Header: r.Text("header"),
		Zones: r.Option("zones")}
	if option := r.Option("url"); option != "" {
		if cfg.URL != "" && cfg.URL != option {
			r.Fail("the Secret and the settings have different URLs: remove one")
		}
		cfg.URL = option
	}
	if cfg.URL == "" {
		r.Fail("there is no url, neither in the settings nor in the Secret")
	} else if u, err := webcall.URL("the webhook provider", cfg.URL); err != nil {
		r.Fail("%w", err)
	} else {
		cfg.URL = u.String() // so that all spellings are one account
	}
	if option := r.Option("caBundle"); option != "" && cfg.CABundle == "" {
		cfg.CABundle = option
	}
	if token := r.Text("token"); token != "" {
		if cfg.Header != "" {
			r.Fail("the Secret has a token and a header: a token is the header Authorization: Bearer, so remove one")
		}
		cfg.Header = "Authorization: Bearer " + token
	}
	if text := r.Option("timeout"); text != "" {
		var err error
		if cfg.Timeout, err = time.ParseDuration(text); err != nil || cfg.Timeout <= 0 {
			r.Fail("the setting timeout is %q, and must be a duration such as 30s", text)
		}
	}
	if _, err := zoneNames(cfg.Zones); err != nil {
		r.Fail("the setting zones: %w", err)
	}
	return cfg, r.Err()
}

// Client is one server.
type Client struct {
	base   *url.URL
	header [2]string
	zones  []string // of the settings
	http   *http.Client
	now    func() time.Time

	turn chan struct{} // holds one: calls go one after the other, and whoever has it owns the fields below
	offer
	list  list
	known map[place]remembered
}

var _ backend.Account = (*Client)(nil)

// New makes a client; nothing is sent yet. Now tells the time.
func New(cfg Config, now func() time.Time) (*Client, error) {
	base, err := webcall.URL("the webhook provider", cfg.URL)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base, now: now, turn: make(chan struct{}, 1), known: map[place]remembered{}}
	if cfg.Header != "" {
		name, value, ok := strings.Cut(cfg.Header, ":")
		value = strings.Trim(value, " \t")
		if !ok || value == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) ||
			strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
			return nil, errors.New(`the header for the webhook provider is not of the form "Name: value", in ASCII`)
		}
		c.header = [2]string{name, value}
	}
	if c.zones, err = zoneNames(cfg.Zones); err != nil {
		return nil, err
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	c.http, err = webcall.NewClient(webcall.Config{CABundle: cfg.CABundle, MaxAnswer: endpoint.MaxBody,
		Timeout: cfg.Timeout,
		Guard:   cfg.Guard, Reads: cfg.Reads, Judge: judge, HTTP: cfg.HTTP})
	return c, err
}

// Server is the canonical URL, equal for all spellings of it.
func (c *Client) Server() string { return c.base.String() }

// Close closes idle connections. Calls that are under way, and later ones, still work.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// lock waits for its turn as long as the context allows.
func (c *Client) lock(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf("waiting for another call of the server: %w",
			context.Cause(ctx))}
	}
}

func (c *Client) unlock() { <-c.turn }

// call makes a call whose success is exactly one status, and reads its answer unless result is nil.
func (c *Client) call(ctx context.Context, method, path string, body, result any) error {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return &backend.Error{Class: backend.ErrRejected, Err: err}
		}
		content = bytes.NewReader(b)
	}
	u := c.base
	if path != "" {
		u = c.base.JoinPath(path)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), content)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", endpoint.MediaType)
	if body != nil {
		req.Header.Set("Content-Type", endpoint.MediaType)
	}
	if c.header[0] != "" {
		req.Header.Set(c.header[0], c.header[1])
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	want := http.StatusOK
	if result == nil {
		want = http.StatusNoContent
	}
	switch {
	case resp.StatusCode != want:
		return broken("it answers HTTP %d to %s /%s, instead of %d", resp.StatusCode, method, path, want)
	case result == nil:
		return nil
	case path == "" && !sameType(resp.Header.Get("Content-Type")):
		return broken("it answers with the content type %q instead of %s: it is another server, or has another version",
			resp.Header.Get("Content-Type"), endpoint.MediaType)
	}
	if err := json.NewDecoder(resp.Body).Decode(result); err != nil {
		if exceeded, ok := errors.AsType[*backend.Error](err); ok {
			return exceeded
		}
		return broken("its answer cannot be read: %w", err)
	}
	return nil
}

func broken(format string, args ...any) error {
	return &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf(format, args...)}
}

// sameType compares media types, in which white space may be written.
func sameType(s string) bool {
	return strings.ReplaceAll(strings.ToLower(s), " ", "") == endpoint.MediaType
}

// status is the status of an answer.
type status int

// Error shows it.
func (s status) Error() string { return "HTTP " + strconv.Itoa(int(s)) }

// judge gives an answer that is not 2xx a class.
func judge(a webcall.Answer) *backend.Error {
	e := &backend.Error{Class: backend.ErrUnavailable, Words: webcall.Words(a.Status, a.Text())}
	writes := a.Request.Method != http.MethodGet
	switch {
	case a.Status == http.StatusUnauthorized:
		e.Class, e.Cause = backend.ErrNotAuthorised, backend.CauseUnauthenticated
	case a.Status == http.StatusForbidden:
		e.Class, e.Cause = backend.ErrNotAuthorised, backend.CauseUnauthorised
	case a.Status == http.StatusTooManyRequests, a.Status == http.StatusServiceUnavailable &&
		webcall.RetryAfter(a.Header) > 0:
		e.Class = backend.ErrThrottled
	case a.Status == http.StatusNotFound:
		e.Err = errors.New("the URL is wrong, or the server does not speak the protocol")
	case a.Status < 500 && writes:
		e.Class = backend.ErrRejected
	case a.Status == http.StatusInternalServerError && writes:
		e.Err = status(a.Status)
	}
	return e
}
