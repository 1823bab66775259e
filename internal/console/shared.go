package console

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// SharedOptions say what is shown to many people, each of whom sees what is theirs.
type SharedOptions struct {
	Cluster Cluster
	Hosts   []string      // names that the Host header may have, besides those of the loopback
	Edit    bool          // forms are shown and taken
	People  int           // how many may be there at a time
	Idle    time.Duration // after which who asks for nothing is gone
	Believe time.Duration // how long it is believed what the API server says of a token
	Random  io.Reader     // for secrets
	Now     func() time.Time
	Say     func(sentence string) // for those who look after the server
}

// A Shared console answers the requests of many people. Each comes with a token that the API server accepts, in the
// header of each request or once in a form, and sees what the API server shows to that token.
type Shared struct {
	viewers *viewers
	hosts   []string
	handler http.Handler
	all     *sync.WaitGroup
}

// What a request waits for, and how long.
const (
	reviewTakes = 10 * time.Second
	openTakes   = 25 * time.Second
)

// Why somebody is not shown anything.
var (
	errNobody = errors.New("no token came with the request")
	errFull   = &statusError{http.StatusServiceUnavailable, "The console has no room for more people. Try again later, " +
		"use kubectl zonefold console, or ask its administrator for more room (--people)."}
	errParty = &statusError{http.StatusServiceUnavailable, "You, or another ServiceAccount of your namespace, are " +
		"already signed in, with other rights. Sign out there, or try again later."}
	errReading = &statusError{http.StatusServiceUnavailable, "Your objects are still being read. Load the page again."}
	errBusy    = &statusError{http.StatusServiceUnavailable, "You sent too many requests at a time. Load the page again."}
)

// NewShared returns a console that ends with the context. Wait waits for that.
func NewShared(ctx context.Context, opts SharedOptions) (*Shared, error) {
	all, err := parsePages()
	if err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	if _, err := io.ReadFull(opts.Random, key); err != nil {
		return nil, err
	}
	s := &Shared{all: &sync.WaitGroup{}, viewers: &viewers{opts: opts, pages: all, key: key,
		places: make(chan struct{}, maxReviews)}}
	s.viewers.keepNothing()
	s.viewers.spawn = func(work func(context.Context)) context.CancelFunc {
		ctx, end := context.WithCancel(ctx)
		s.all.Go(func() { work(ctx) })
		return end
	}
	for _, host := range append([]string{"localhost", "127.0.0.1", "::1"}, opts.Hosts...) {
		s.hosts = append(s.hosts, strings.ToLower(host))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /assets/{name}", serveAsset)
	mux.HandleFunc("GET "+loginPath, func(w http.ResponseWriter, r *http.Request) { s.strangers(w, r, "") })
	mux.HandleFunc("POST "+loginPath, s.login)
	mux.HandleFunc("POST /logout", s.visited(s.logout))
	mux.HandleFunc("POST /namespaces", s.visited(s.choose))
	mux.HandleFunc("/", s.visited(s.serve))
	s.handler = mux
	s.viewers.spawn(s.sweep)
	return s, nil
}

// Wait returns when everything has ended.
func (s *Shared) Wait() { s.all.Wait() }

func (s *Shared) sweep(ctx context.Context) {
	every := time.NewTicker(s.viewers.opts.Believe)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			s.viewers.sweep(ctx)
		}
	}
}

// ServeHTTP answers a request.
func (s *Shared) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" { // of probes, which know the address alone
		_, _ = io.WriteString(w, "ok\n") // who has left needs no answer
		return
	}
	if status, why := s.refusal(r); status != 0 {
		http.Error(w, why, status)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	s.handler.ServeHTTP(w, r)
}

// refusal says why a request is not answered, whoever makes it. Of those that come from elsewhere, a link may be
// followed: a page that is opened in a window of its own tells the other site nothing.
func (s *Shared) refusal(r *http.Request) (status int, why string) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !slices.Contains(s.hosts, strings.ToLower(strings.Trim(host, "[]"))) {
		return http.StatusMisdirectedRequest,
			"This console does not answer under the requested name. Its administrator sets the names (--host)."
	}
	follows := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
	if !fromOwnPage(r) && !follows {
		return http.StatusForbidden, "The request comes from a page of another site. Type the address."
	}
	return 0, ""
}

// bearer returns the token in the header of a request; "": there is none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

type visitKey struct{}

// visitIn returns the visit that a request is.
func visitIn(r *http.Request) *visit {
	v, _ := r.Context().Value(visitKey{}).(*visit)
	return v
}

// visited answers those whom the API server knows.
func (s *Shared) visited(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := s.viewers.visitOf(r)
		switch {
		case errors.Is(err, errNobody):
			s.strangers(w, r, "")
		case errors.Is(err, ErrStranger):
			s.strangers(w, r, sentence(err))
		case err != nil:
			s.fail(w, err)
		default:
			next(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
		}
	}
}

// strangers answers with the form to sign in.
func (s *Shared) strangers(w http.ResponseWriter, r *http.Request, why string) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	if r.Header.Get("HX-Request") != "" {
		w.Header().Set("HX-Refresh", "true") // nothing is left on the page of who is not shown it any more
	}
	s.viewers.pages.write(w, http.StatusUnauthorized, &page{Title: "Sign in", Body: "login", Data: why})
}

// fail answers with a sentence.
func (s *Shared) fail(w http.ResponseWriter, err error) {
	known := unavailable(err)
	if known.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "10")
	}
	s.viewers.pages.write(w, known.status, &page{Title: "Error", Body: "error", Data: known.message})
}

// unavailable is an error with a status, which is Service Unavailable where it has none.
func unavailable(err error) *statusError {
	if known, ok := errors.AsType[*statusError](err); ok {
		return known
	}
	return &statusError{http.StatusServiceUnavailable, sentence(err)}
}

// serve answers with what the person of a visit sees.
func (s *Shared) serve(w http.ResponseWriter, r *http.Request) {
	v := visitIn(r)
	namespaces := chosen(r)
	if namespaces == nil && v.person.Own != "" {
		namespaces = []string{v.person.Own}
	}
	one, err := s.viewers.admit(v, namespaces)
	if err != nil {
		s.fail(w, err)
		return
	}
	select {
	case one.requests <- struct{}{}:
		defer func() { <-one.requests }()
	default:
		s.fail(w, errBusy)
		return
	}
	patience := time.NewTimer(openTakes)
	defer patience.Stop()
	select {
	case <-one.ready:
	case <-r.Context().Done():
		return
	case <-patience.C:
		s.fail(w, errReading)
		return
	}
	if one.err != nil {
		s.fail(w, one.err)
		return
	}
	one.handler.ServeHTTP(w, r)
}
