package bindcar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/budget"
)

// A Client calls one bindcar, ours or the existing one. The methods are safe for concurrent use.
type Client struct {
	// BaseURL is http://HOST:PORT.
	BaseURL string
	// Token returns the bearer token for a call; nil: calls have none.
	Token func() (string, error)
	// Pod is the UID of the pod that the calls are for; "": of whichever has the address.
	Pod string
	// HTTP sends the calls; nil: one with a time-out of 60 s.
	HTTP *http.Client
	// Leads reports whether nobody else can be doing the same by now; nil: nobody else ever does. Without it nothing that
	// changes a server is sent: ErrNotLeading.
	Leads func() bool
}

const (
	maxAnswer     = 16 << 20 // octets; a list of zones takes 255 each at most
	maxMemory     = 32 << 20 // octets, that an answer may become
	clientTimeout = time.Minute
)

// defaultHTTP follows no redirects: a token is for the server that was asked.
var defaultHTTP = &http.Client{
	Timeout: clientTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Create makes a zone. A zone that exists is no error; created is false then, and nothing about it has changed.
func (c *Client) Create(ctx context.Context, zone CreateZone) (created bool, err error) {
	if zone.ZoneConfig.NameServers == nil { // the server takes no null for these two
		zone.ZoneConfig.NameServers = []string{}
	}
	if zone.ZoneConfig.NameServerIPs == nil {
		zone.ZoneConfig.NameServerIPs = map[string]string{}
	}
	switch err := c.do(ctx, http.MethodPost, "/api/v1/zones", zone, nil); {
	case errors.Is(err, ErrConflict):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("creating zone %s at %s: %w", zone.ZoneName, c.BaseURL, err)
	}
	return true, nil
}

// Delete removes a zone with its files. A zone that is not there is no error.
func (c *Client) Delete(ctx context.Context, zone string) error {
	err := c.do(ctx, http.MethodDelete, zonePath(zone, ""), nil, nil)
	if err == nil || errors.Is(err, ErrNotFound) {
		return nil
	}
	return fmt.Errorf("deleting zone %s at %s: %w", zone, c.BaseURL, err)
}

// Modify changes the lists of a zone.
func (c *Client) Modify(ctx context.Context, zone string, change ModifyZone) error {
	return c.about("changing", zone, c.do(ctx, http.MethodPatch, zonePath(zone, ""), change, nil))
}

// Zone tells about a zone.
func (c *Client) Zone(ctx context.Context, zone string) (ZoneInfo, error) {
	var info ZoneInfo
	return info, c.about("asking about", zone, c.do(ctx, http.MethodGet, zonePath(zone, ""), nil, &info))
}

// Settings tells how a zone is configured.
func (c *Client) Settings(ctx context.Context, zone string) (ZoneSettings, error) {
	var settings ZoneSettings
	return settings, c.about("asking how it has", zone, c.do(ctx, http.MethodGet, zonePath(zone, "/settings"), nil,
		&settings))
}

// Status is what BIND says about a zone.
func (c *Client) Status(ctx context.Context, zone string) (ZoneResponse, error) {
	var status ZoneResponse
	return status, c.about("asking about", zone, c.do(ctx, http.MethodGet, zonePath(zone, "/status"), nil, &status))
}

// Zones lists the zones.
func (c *Client) Zones(ctx context.Context) ([]string, error) {
	var list ZoneList
	return list.Zones, c.server("listing the zones", c.do(ctx, http.MethodGet, "/api/v1/zones", nil, &list))
}

// Command gives a command about a zone: reload, freeze, thaw, notify, refresh or retransfer.
func (c *Client) Command(ctx context.Context, command, zone string) error {
	return c.about(command, zone, c.do(ctx, http.MethodPost, zonePath(zone, "/"+url.PathEscape(command)), nil, nil))
}

// Keys tells which keys of its key files the server accepts.
func (c *Client) Keys(ctx context.Context) (KeyList, error) {
	var list KeyList
	return list, c.server("asking for the keys", c.do(ctx, http.MethodGet, "/api/v1/server/keys", nil, &list))
}

// Content tells which zones the server waits for before it is ready.
func (c *Client) Content(ctx context.Context) (ContentStatus, error) {
	var status ContentStatus
	return status, c.server("asking for the content", c.do(ctx, http.MethodGet, "/api/v1/server/content", nil, &status))
}

// Declare says which zones those are.
func (c *Client) Declare(ctx context.Context, zones []string) error {
	if zones == nil {
		zones = []string{}
	}
	return c.server("declaring the content", c.do(ctx, http.MethodPut, "/api/v1/server/content", Content{Zones: zones},
		nil))
}

// Ready tells whether the server is, and what it looked at; it needs no token.
func (c *Client) Ready(ctx context.Context) (Readiness, error) {
	var r Readiness
	err := c.do(ctx, http.MethodGet, "/api/v1/ready", nil, &r)
	var answer *Error
	if errors.As(err, &answer) && answer.Status == http.StatusServiceUnavailable &&
		json.Unmarshal([]byte(answer.Text), &r) == nil {
		err = nil
	}
	return r, c.server("asking whether it is ready", err)
}

func zonePath(zone, rest string) string { return "/api/v1/zones/" + url.PathEscape(zone) + rest }

func (c *Client) about(doing, zone string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s zone %s at %s: %w", doing, zone, c.BaseURL, err)
}

func (c *Client) server(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s at %s: %w", doing, c.BaseURL, err)
}

// do makes one call. into is filled from the body of a success.
func (c *Client) do(ctx context.Context, method, path string, body, into any) error {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	client := c.HTTP
	if client == nil {
		client = defaultHTTP
	}
	if method != http.MethodGet && c.Leads != nil && !c.Leads() { // what comes before this may have taken long
		return &Error{Class: ErrNotLeading, Text: "nothing is sent"}
	}
	resp, err := client.Do(req)
	if err != nil {
		return noAnswer(ctx, err)
	}
	defer resp.Body.Close()
	meter := budget.NewPool(2*maxMemory).Begin(maxAnswer, func() {})
	defer meter.End()
	text, err := io.ReadAll(meter.JSON(resp.Body))
	exceeded, tooLarge := errors.AsType[*budget.Error](err)
	switch {
	case tooLarge:
		return &Error{Class: ErrUnavailable, Status: resp.StatusCode, Text: exceeded.Error()}
	case err != nil:
		return noAnswer(ctx, err)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return classify(resp, text)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return &Error{Class: ErrUnavailable, Status: resp.StatusCode, Text: "the answer is not as expected: " +
			err.Error()}
	}
	return nil
}

// noAnswer is the caller's own end where that is the cause, else a server that is not available.
func noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Class: ErrUnavailable, Text: err.Error()}
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.BaseURL, "/")+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Pod != "" {
		req.Header.Set(PodHeader, c.Pod)
	}
	if c.Token == nil {
		return req, nil
	}
	token, err := c.Token()
	if err != nil {
		return nil, &Error{Class: ErrUnauthorized, Text: "reading our token: " + err.Error()}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return req, nil
}
