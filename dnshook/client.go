package dnshook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"time"
)

// DefaultTimeout bounds one call.
const DefaultTimeout = 30 * time.Second

// maxAnswer is how much of an answer is read, in octets.
const maxAnswer = 1 << 20

// ClientConfig says where a server is and how to talk to it.
type ClientConfig struct {
	Server    string              // its URL, http or https; a path is part of every path, and is signed
	Keys      func() (Key, error) // asked for each request; nil: nothing is signed
	Timeout   time.Duration       // of one call; 0: DefaultTimeout
	Now       func() time.Time
	Nonce     func() string     // nil: NewNonce
	Transport http.RoundTripper // nil: one of its own, which keeps connections
	// for that: certificates, in PEM, of the authorities that may have signed the server's; nil: the system's
	CABundle []byte
	// MX and SRV records are sent, and told, with their numbers in front of each value: see Record.InRDATA
	InRDATA bool

	// Inject adds headers to a request, such as those of W3C Trace Context; they are not signed. It may be nil.
	Inject func(context.Context, http.Header)
}

// A Client asks one server. It is safe for concurrent use.
type Client struct {
	cfg  ClientConfig
	base string
	http *http.Client
}

// NewClient makes a client; nothing is sent yet.
func NewClient(cfg ClientConfig) (*Client, error) {
	if err := checkServer(cfg.Server); err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		return nil, errors.New("dnshook: ClientConfig.Now is not set")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Nonce == nil {
		cfg.Nonce = NewNonce
	}
	if cfg.Transport == nil {
		own, err := ownTransport(cfg.CABundle)
		if err != nil {
			return nil, err
		}
		cfg.Transport = own
	}
	return &Client{cfg: cfg, base: strings.TrimRight(cfg.Server, "/"), http: &http.Client{
		Transport: cfg.Transport,
		// A redirect would take a signed request, or the records in it, to somebody else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// ownTransport trusts the authorities in a bundle; nil: the system's.
func ownTransport(bundle []byte) (*http.Transport, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("dnshook: ClientConfig.Transport is not set, and http.DefaultTransport is shared")
	}
	own := base.Clone()
	own.MaxIdleConnsPerHost = 16
	if bundle == nil {
		return own, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		return nil, errors.New("the CA bundle for the server of a DNSClass contains no PEM certificate")
	}
	own.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return own, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Health is what a server says of itself.
type Health struct {
	Status    string    `json:"status"` // "healthy", or what is wrong
	Message   string    `json:"message,omitempty"`
	Timestamp time.Time `json:"timestamp,omitzero"`
	Features  []string  `json:"features,omitempty"` // what the server can do beyond what all can
}

// UnmarshalJSON implements json.Unmarshaler. The status counts: a server is not ill because it writes times otherwise.
func (h *Health) UnmarshalJSON(body []byte) error {
	var in struct {
		Status                       string
		Message, Timestamp, Features json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	*h = Health{Status: in.Status}
	take(in.Message, &h.Message)
	take(in.Timestamp, &h.Timestamp)
	take(in.Features, &h.Features)
	return nil
}

// Healthy is the status of a server that works.
const Healthy = "healthy"

// Health asks a server how it is. That it is not healthy is an *Error; that nothing answers, one of ErrUnreachable.
func (c *Client) Health(ctx context.Context) (Health, error) {
	a, err := c.ask(ctx, http.MethodGet, "/health", nil)
	if err != nil {
		return Health{}, fmt.Errorf("asking %s for its health: %w", c.base, err)
	}
	var h Health
	readErr := json.Unmarshal(a.body, &h)
	h.Message = clipped(h.Message)
	switch {
	case a.status != http.StatusOK:
		if h.Message == "" {
			h.Message = "it answers " + strconv.Itoa(a.status)
		}
		return h, &Error{Status: a.status, Code: a.code(CodeServerError), Message: h.Message}
	case readErr != nil:
		return h, &Error{Status: a.status, Code: CodeServerError, Message: "its answer to /health is not JSON"}
	case h.Status != Healthy:
		return h, &Error{Status: a.status, Code: CodeServerError,
			Message: fmt.Sprintf("it says that it is %q: %s", clipped(h.Status), h.Message)}
	}
	return h, nil
}

// Upsert has a record made, or changed to what it is here. It returns what the server says it has, which is r where it
// says nothing.
func (c *Client) Upsert(ctx context.Context, r Record) (Record, error) {
	r.FQDN = ""
	body, err := json.Marshal(struct {
		Record    Record `json:"record"`
		Operation string `json:"operation"`
	}{c.told(r), "upsert"})
	if err != nil {
		return Record{}, fmt.Errorf("encoding %s: %w", r.ID(), err)
	}
	a, err := c.ask(ctx, http.MethodPost, "/records", body)
	if err == nil {
		err = a.failure()
	}
	if err != nil {
		return Record{}, fmt.Errorf("upserting %s at %s: %w", r.ID(), c.base, c.advised(r, err))
	}
	if a.answer.Record != nil {
		return c.heard(*a.answer.Record), nil
	}
	return r, nil
}

// doubt is why an answer that says that a record is not there, or cannot be, does not count: what stands in front of a
// server that is away answers so about everything. The server's own words count, and its health.
func (c *Client) doubt(ctx context.Context, a *reply) error {
	if a.status != http.StatusNotFound && a.status != http.StatusBadRequest || a.ofProtocol() {
		return nil
	}
	if _, err := c.Health(ctx); err != nil {
		return &Error{Code: CodeServerError, Err: err, Message: fmt.Sprintf(
			"%s, which is not an answer of the protocol, and it is not healthy: something else may answer instead",
			a.said())}
	}
	return nil
}

// advised names the way out where a server may not know of numbers beside the values: one that makes the body anew to
// verify it leaves them out, and takes the signatures of all records but of those that have some.
func (c *Client) advised(r Record, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Code == CodeAuthFailed && r.Metadata != nil && !c.cfg.InRDATA {
		e.Message += "; if it accepts records of other types, it may verify the body without record.metadata: set " +
			"spec.numbersIn of its DNSClass to Values"
	}
	return err
}

// told is a record as the server wants it, and heard is one of the server's as all others have it.
func (c *Client) told(r Record) Record {
	r.FQDN = ""
	if c.cfg.InRDATA {
		return r.InRDATA()
	}
	return r
}

func (c *Client) heard(r Record) Record {
	if c.cfg.InRDATA {
		return r.fromRDATA()
	}
	return r
}

// Delete has a record removed. One that is not there is success.
func (c *Client) Delete(ctx context.Context, id ID) error {
	a, err := c.ask(ctx, http.MethodDelete, id.Path(), nil)
	if err == nil {
		err = c.doubt(ctx, &a)
	}
	if err == nil && !a.absent() {
		err = a.failure()
	}
	if err != nil {
		return fmt.Errorf("deleting %s at %s: %w", id, c.base, err)
	}
	return nil
}

// Get returns a record as the server has it; false: there is none. A server need not repeat what it was asked for.
func (c *Client) Get(ctx context.Context, id ID) (Record, bool, error) {
	a, err := c.ask(ctx, http.MethodGet, id.Path(), nil)
	if err == nil {
		err = c.doubt(ctx, &a)
	}
	switch {
	case err != nil:
	case a.absent():
		return Record{}, false, nil
	case a.status == http.StatusMethodNotAllowed, a.status == http.StatusNotImplemented:
		err = ErrNoGet
	default:
		err = a.failure()
	}
	if err == nil && a.answer.Record == nil {
		err = &Error{Status: a.status, Code: CodeServerError, Message: "its answer contains no record"}
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("reading %s at %s: %w", id, c.base, err)
	}
	r := *a.answer.Record
	r.Type = cmp.Or(r.Type, id.Type)
	r.Domain, r.Subdomain = cmp.Or(r.Domain, id.Domain), cmp.Or(r.Subdomain, id.Subdomain)
	return c.heard(r), true, nil
}

// ask sends one signed request, and a question once more where the server had closed the connection that was kept for
// it.
func (c *Client) ask(ctx context.Context, method, path string, body []byte) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	var sought, had bool // a connection; a transport that has none tells of neither
	var kept bool        // it has carried other requests before
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { sought = true },
		GotConn: func(i httptrace.GotConnInfo) { had, kept = true, i.Reused },
	})
	out, err := c.once(traced, method, path, body)
	switch {
	case !errors.Is(err, ErrUnreachable) || out.status != 0:
	case sought && !had:
		err = unsent{err}
	case kept && method == http.MethodGet && ctx.Err() == nil:
		c.Close()
		return c.once(ctx, method, path, body)
	}
	return out, err
}

// once sends one request with a nonce of its own.
func (c *Client) once(ctx context.Context, method, path string, body []byte) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, fmt.Errorf("making the request: %w", err)
	}
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.cfg.Inject != nil {
		c.cfg.Inject(ctx, request.Header)
	}
	sentOnce(request)
	if c.cfg.Keys != nil {
		key, err := c.cfg.Keys()
		if err == nil {
			err = key.Validate()
		}
		if err == nil {
			err = key.SignRequest(request, body, c.cfg.Now(), c.cfg.Nonce())
		}
		if err != nil {
			return reply{}, fmt.Errorf("signing the request: %w", err)
		}
	}
	response, err := c.http.Do(request)
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer response.Body.Close()
	return read(response, c.cfg.Now())
}

// sentOnce keeps a [http.Transport] from sending a request again by itself, with the nonce that the server may have
// seen: it does so with those that have no body and a method that is safe, and with all that have one of these headers.
func sentOnce(request *http.Request) {
	request.Header.Del("Idempotency-Key")
	request.Header.Del("X-Idempotency-Key")
	if request.Method == http.MethodGet {
		request.Body, request.GetBody = io.NopCloser(http.NoBody), nil
	}
}
