package dnshook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

// MaxBody is how long the body of a request may be, in octets.
const MaxBody = 1 << 20

// HandlerConfig says what a server does and whom it trusts.
type HandlerConfig struct {
	Provider Provider

	// Keys are those that may sign now; see Verifier.Keys. Without them Unsigned has to be set.
	Keys func() ([]Key, error)
	// Unsigned takes requests from everybody who can reach the server. Signatures are not looked at.
	Unsigned bool
	// Nonces remembers what was sent; nil: a MemoryNonces. Several servers with one secret need a store that they share.
	Nonces Nonces

	Path string // what comes before /health and /records in paths, such as "/dns"; "" if nothing does
	// how many requests are worked on at the same time, others are answered RATE_LIMITED; 0: any number
	Concurrency int
	Now         func() time.Time // tells the time
	Observe     func(Exchange)   // is told of each request when it is answered; may be nil

	// Extract reads from headers what belongs into the context of a Provider's methods, such as W3C Trace Context; anybody
	// on the way may have changed them. It may be nil.
	Extract func(context.Context, http.Header) context.Context
}

// An Exchange is one request and its answer, for logs and metrics.
type Exchange struct {
	Method   string
	Endpoint string // "health", "records", "record", "batch", or "" for what there is not
	ID       ID     // of what the request is about; may be zero
	Size     int    // operations of a batch
	Status   int
	Code     Code  // "" if all went well
	Err      error // what went wrong, with words that the answer does not have
	Took     time.Duration
}

// A Handler is a server of the protocol. It is made by NewHandler.
type Handler struct {
	cfg      HandlerConfig
	verifier *Verifier
	slots    chan struct{}
}

// NewHandler makes a server of a Provider. It bounds what is read of a request, but not how long a client takes to send
// it: that is for the http.Server (ReadHeaderTimeout, ReadTimeout).
func NewHandler(cfg HandlerConfig) (*Handler, error) {
	cfg.Path = strings.TrimRight(cfg.Path, "/")
	switch {
	case cfg.Provider == nil || cfg.Now == nil:
		return nil, errors.New("dnshook: HandlerConfig needs Provider and Now")
	case (cfg.Keys == nil) != cfg.Unsigned:
		return nil, errors.New(
			"dnshook: HandlerConfig needs Keys to verify requests with, or Unsigned to accept them from everyone")
	case cfg.Path != "" && !strings.HasPrefix(cfg.Path, "/"):
		return nil, fmt.Errorf("dnshook: the path %q does not start with /", cfg.Path)
	}
	h := &Handler{cfg: cfg}
	if !cfg.Unsigned {
		if cfg.Nonces == nil {
			cfg.Nonces = &MemoryNonces{}
		}
		h.verifier = &Verifier{Keys: cfg.Keys, Nonces: cfg.Nonces, Now: cfg.Now}
	}
	if cfg.Concurrency > 0 {
		h.slots = make(chan struct{}, cfg.Concurrency)
	}
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := h.cfg.Now()
	x := &exchange{Exchange: Exchange{Method: r.Method}, Handler: h, request: r}
	out := x.answer(w)
	out.write(w, x)
	if h.cfg.Observe != nil {
		x.Status, x.Took = out.status, h.cfg.Now().Sub(start)
		h.cfg.Observe(x.Exchange)
	}
}

// exchange is a request that is being answered.
type exchange struct {
	Exchange
	*Handler
	request *http.Request
	body    []byte
}

// answer has the request answered, whatever the provider does.
func (x *exchange) answer(w http.ResponseWriter) (out response) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			out = x.refuse(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	work, err := x.route()
	if err == nil {
		err = x.read(w)
	}
	if err == nil && x.verifier != nil {
		err = x.verifier.Verify(x.request.Context(), x.request, x.body)
	}
	if err != nil {
		return x.refuse(err)
	}
	if x.slots != nil {
		select {
		case x.slots <- struct{}{}:
			defer func() { <-x.slots }()
		default:
			return x.refuse(&Error{Code: CodeRateLimited, Message: "The server is overloaded.", RetryAfter: time.Second})
		}
	}
	ctx := x.request.Context()
	if x.cfg.Extract != nil {
		ctx = x.cfg.Extract(ctx, x.request.Header)
	}
	return work(ctx)
}

// route finds what the request is for.
func (x *exchange) route() (func(context.Context) response, error) {
	path, below := strings.CutPrefix(x.request.URL.Path, x.cfg.Path)
	parts := strings.Split(path, "/")
	methods := map[string]func(context.Context) response{}
	switch {
	case !below:
	case path == "/health":
		x.Endpoint = "health"
		methods[http.MethodGet] = x.health
	case path == "/records":
		x.Endpoint = "records"
		methods[http.MethodPost] = x.upsert
	case path == "/records/batch":
		x.Endpoint = "batch"
		methods[http.MethodPost] = x.batch
	case len(parts) == 5 && parts[1] == "records":
		x.Endpoint, x.ID = "record", ID{parts[2], parts[3], parts[4]}
		methods[http.MethodGet], methods[http.MethodDelete] = x.get, x.remove
	}
	work := methods[x.request.Method]
	switch {
	case len(methods) == 0:
		return nil, &Error{Status: http.StatusNotFound, Code: CodeServerError,
			Message: fmt.Sprintf("There is nothing at %q; there are /health and /records.", clip(x.request.URL.Path))}
	case work == nil:
		return nil, notAllowed(x.request.Method, methods)
	}
	return work, nil
}

// read takes the body in.
func (x *exchange) read(w http.ResponseWriter) error {
	var err error
	x.body, err = io.ReadAll(http.MaxBytesReader(w, x.request.Body, MaxBody))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return &Error{Status: http.StatusRequestEntityTooLarge, Code: CodeInvalidRecord, Message: fmt.Sprintf(
			"The body is longer than %d octets.", MaxBody)}
	}
	if err != nil {
		return &Error{Code: CodeInvalidRecord, Message: "The body breaks off.", Err: err}
	}
	return nil
}

func (x *exchange) health(ctx context.Context) response {
	out := Health{Status: Healthy, Message: "DNS server is operational",
		Timestamp: x.cfg.Now().UTC().Truncate(time.Second), Features: []string{FeatureBatch}}
	err := x.cfg.Provider.Health(ctx)
	if err == nil {
		return response{status: http.StatusOK, body: out}
	}
	x.note(err)
	out.Status, out.Message = "unhealthy", public(err).Message
	return response{status: http.StatusServiceUnavailable, body: out}
}

func (x *exchange) upsert(ctx context.Context) response {
	var asked operation
	if err := decode(x.body, &asked); err != nil {
		return x.refuse(err)
	}
	x.ID = asked.Record.ID()
	o, err := asked.canonical()
	if err == nil && o.Action != ActionUpsert {
		err = failed(CodeInvalidRecord, "There is no operation %q here; there is %s.", clip(string(o.Action)), ActionUpsert)
	}
	if err == nil {
		x.ID = o.Record.ID()
		err = x.cfg.Provider.Upsert(ctx, o.Record)
	}
	if err != nil {
		return x.refuse(err)
	}
	return success(&o.Record, "Record created successfully")
}

func (x *exchange) remove(ctx context.Context) response {
	id, err := x.ID.Canonical()
	err = Absent(err)
	if err == nil {
		x.ID = id
		err = x.cfg.Provider.Delete(ctx, id)
	}
	if err != nil {
		return x.refuse(err)
	}
	return success(nil, "Record deleted successfully")
}

func (x *exchange) get(ctx context.Context) response {
	id, err := x.ID.Canonical()
	err = Absent(err)
	var found Record
	if err == nil {
		x.ID = id
		found, err = x.cfg.Provider.Get(ctx, id)
	}
	if errors.Is(err, ErrNoGet) {
		err = notAllowed(http.MethodGet, map[string]func(context.Context) response{http.MethodDelete: nil})
	}
	if err != nil {
		return x.refuse(err)
	}
	found.Type, found.Domain, found.Subdomain = id.Type, id.Domain, id.Subdomain
	return success(&found, "")
}
