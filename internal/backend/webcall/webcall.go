// Package webcall makes the calls of backends whose service is reached by HTTP: at the service's rate, to where they
// were addressed and nowhere else, with bounded answers and errors of a class.
package webcall

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/budget"
)

// Config says how calls are made.
type Config struct {
	// certificates, in PEM, of the authorities that may have signed the server's; "" are the system's
	CABundle  string
	Limiter   *rate.Limiter // nil: no limit
	MaxAnswer int64         // octets; a longer answer is an error
	Reads     *budget.Pool  // bounds what is read; nil bounds each answer alone
	Timeout   time.Duration // of one call, the answer read; 0: only the context's
	// Guard is for a server that a tenant chose: what it refuses is not dialled, and no words of the server are shown.
	Guard *dialguard.Guard
	// HTTP is the way to the server, in the place of a transport that connects as other fields say; nil: there is none.
	HTTP http.RoundTripper

	// Judge gives an answer that is not 2xx a class. It may leave After to this package.
	Judge func(Answer) *backend.Error
}

// An Answer is one that is not 2xx.
type Answer struct {
	Request *http.Request
	Status  int
	Header  http.Header
	Body    []byte // its beginning
}

// maxError is how much of an answer that is an error is read, in octets.
const maxError = 1 << 16

// NewClient makes an HTTP client. What its calls return as an error is, or wraps, a *backend.Error.
func NewClient(cfg Config) (*http.Client, error) {
	if cfg.HTTP != nil {
		return &http.Client{Transport: &transport{cfg, cfg.HTTP}, Timeout: cfg.Timeout}, nil
	}
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}
	cfg.Guard.Transport(base)
	if cfg.CABundle != "" {
		base.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !base.TLSClientConfig.RootCAs.AppendCertsFromPEM([]byte(cfg.CABundle)) {
			return nil, errors.New("the CA bundle contains no PEM certificate")
		}
	}
	return &http.Client{Transport: &transport{cfg, base}, Timeout: cfg.Timeout}, nil
}

// transport is a RoundTripper that knows no answers but good ones.
type transport struct {
	cfg  Config
	base http.RoundTripper
}

// RoundTrip makes one call.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	err := t.wait(req.Context())
	if err == nil {
		err = backend.MaySend(req.Context())
	}
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		if refused := dialguard.Refusal(err); refused != nil {
			return nil, refused
		}
		return nil, &backend.Error{Class: backend.ErrUnavailable, Err: err}
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		body := resp.Body
		meter := t.cfg.Reads.Begin(t.cfg.MaxAnswer, func() { _ = body.Close() })
		resp.Body = &bounded{body, meter.JSON(body), meter}
		return resp, nil
	}
	defer resp.Body.Close()
	if resp.StatusCode < 400 {
		// A redirect could take the credentials to somebody else.
		return nil, &backend.Error{Class: backend.ErrUnavailable, Words: "HTTP " + strconv.Itoa(resp.StatusCode),
			Err: errors.New("the server answers with a redirect, which zonefold does not follow; use the URL that it leads to")}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if err != nil || t.cfg.Guard != nil {
		body = nil
	}
	e := t.cfg.Judge(Answer{req, resp.StatusCode, resp.Header, body})
	if e.Class == backend.ErrThrottled && e.After == 0 {
		e.After = RetryAfter(resp.Header)
	}
	return nil, e
}

// CloseIdleConnections is called by http.Client.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// wait keeps to the rate.
func (t *transport) wait(ctx context.Context) error {
	if t.cfg.Limiter == nil {
		return nil
	}
	if err := t.cfg.Limiter.Wait(ctx); err != nil {
		return &backend.Error{Class: backend.ErrThrottled, Err: fmt.Errorf("waiting because of the service's rate limit: %w",
			err)}
	}
	return nil
}

// bounded is a body in JSON that ends with an error when it is too large.
type bounded struct {
	io.Closer
	content io.Reader
	meter   *budget.Meter
}

// Read reads on.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.content.Read(p)
	if exceeded := backend.Exceeded(err); exceeded != nil {
		return 0, exceeded
	}
	return n, err
}

// Close ends the reading.
func (b *bounded) Close() error {
	b.meter.End()
	return b.Closer.Close()
}

// RetryAfter reads the header in its form in seconds; a date would need the server's clock.
func RetryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// Words are what a server says, in one line that is not too long, with the status before it; 0: there is none, as in
// the answer to a part of a request.
func Words(status int, said string) string {
	said = strings.Join(strings.Fields(strings.ToValidUTF8(said, "?")), " ")
	const longest = 500
	if runes := []rune(said); len(runes) > longest {
		said = string(runes[:longest]) + "…"
	}
	switch {
	case status == 0:
		return said
	case said == "":
		return "HTTP " + strconv.Itoa(status)
	}
	return "HTTP " + strconv.Itoa(status) + ": " + said
}

// Text is the body of an answer if it is text that people read, else "".
func (a Answer) Text() string {
	if trimmed := bytes.TrimSpace(a.Body); len(trimmed) > 0 && trimmed[0] != '<' {
		return string(trimmed)
	}
	return ""
}

// URL reads the address of an API in the form in which it is compared: the host in lower case, the port always there,
// no final slash. What is its name in messages.
func URL(what, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the URL of %s cannot be read", what) // the error of package url shows passwords
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, fmt.Errorf("the URL of %s, %q, is not http:// or https:// with a host and at most a path", what,
			u.Redacted())
	}
	u.Host = strings.ToLower(u.Host)
	if u.Port() == "" {
		u.Host += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}
