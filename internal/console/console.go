package console

import (
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// Options say what is shown, and to whom.
type Options struct {
	Source Source
	Addr   netip.AddrPort // where the server listens, an address of the loopback
	Edit   bool           // forms are shown and taken
	Random io.Reader      // for secrets
	Now    func() time.Time
}

// A Console answers the requests of one person.
type Console struct {
	*pages

	opts    Options
	access  access
	streams chan struct{}   // a place for each page that is kept up to date
	asking  chan struct{}   // a place for each question that servers are asked for
	gone    <-chan struct{} // closed when it is shown no more; nil: it always is
}

// An access decides to whom a Console shows anything.
type access interface {
	// admits reports whether a request is one of who may see the Console, as of now.
	admits(r *http.Request) bool
	// formSecret returns what forms carry that are filled in after this request.
	formSecret(r *http.Request) string
	// visitor returns what a page says of who looks at it; nil: nobody needs to be told.
	visitor(r *http.Request) *visitor
}

// A Linked Console is shown to who opens a link.
type Linked struct {
	*Console

	guard   *guard
	token   string
	handler http.Handler
}

const (
	loginPath = "/login"

	// Browsers have six connections to a server; pages that are kept up to date must leave some.
	maxStreams = 4
	maxAsking  = 4

	maxForm = 4 * maxData // which escapes make longer
)

// New returns a console for who opens its link.
func New(opts Options) (*Linked, error) {
	if !opts.Addr.Addr().IsLoopback() {
		return nil, errors.New("the console uses plain HTTP, and listens only on the loopback interface")
	}
	token, err := secret(opts.Random)
	if err != nil {
		return nil, err
	}
	all, err := parsePages()
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(int(opts.Addr.Port()))
	g := &guard{hosts: []string{opts.Addr.String(), "localhost:" + port}, cookie: "zonefold-console-" + port,
		token: sha256.Sum256([]byte(token)), random: opts.Random}
	l := &Linked{Console: newConsole(opts, all, g), guard: g, token: token}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+loginPath, l.login)
	mux.HandleFunc("GET /assets/{name}", serveAsset)
	mux.Handle("/", l.session(l.routes()))
	l.handler = mux
	return l, nil
}

func newConsole(opts Options, all *pages, a access) *Console {
	return &Console{pages: all, opts: opts, access: a, streams: make(chan struct{}, maxStreams),
		asking: make(chan struct{}, maxAsking)}
}

// Link is the address to open in a browser. It works once.
func (l *Linked) Link() string {
	link := url.URL{Scheme: "http", Host: l.opts.Addr.String(), Path: loginPath,
		RawQuery: url.Values{"token": {l.token}}.Encode()}
	return link.String()
}

// ServeHTTP answers a request.
func (l *Linked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if status, why := l.guard.refusal(r); status != 0 {
		http.Error(w, why, status)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	l.handler.ServeHTTP(w, r)
}

// routes are the pages.
func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	for path, page := range map[string]func(*http.Request) (*page, error){
		"/{$}": c.zones, "/zone": c.zone, "/explain": c.explain, "/delegation": c.delegation, "/servers": c.servers,
		"/differences": c.differences, "/history": c.history, "/refused": c.refused,
	} {
		mux.Handle("GET "+path, c.show(page))
	}
	mux.HandleFunc("GET /events", c.events)
	mux.Handle("GET /act", c.show(c.ask))
	mux.Handle("POST /act", c.show(c.act))
	mux.Handle("GET /edit", c.show(c.edit))
	mux.Handle("POST /review", c.show(c.askByForm))
	mux.Handle("/", c.show(func(*http.Request) (*page, error) {
		return nil, &statusError{http.StatusNotFound, "There is no such page."}
	}))
	return mux
}

// session answers those alone who have opened the link.
func (l *Linked) session(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !l.guard.admits(r) {
			l.write(w, http.StatusUnauthorized, &page{Title: "Who are you?", Body: "stranger"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// login exchanges the token of the link for a session. The answer is a page and no redirection: a browser that follows
// the link from elsewhere would not show the cookie to where it is sent on.
func (l *Linked) login(w http.ResponseWriter, r *http.Request) {
	session, err := l.guard.login(r.URL.Query().Get("token"))
	switch {
	case err != nil:
		l.write(w, http.StatusInternalServerError, &page{Title: "Error", Body: "error", Data: err.Error()})
	case session != "":
		http.SetCookie(w, l.guard.sessionCookie(session))
		l.write(w, http.StatusOK, &page{Title: "Welcome", Body: "welcome", Continue: true})
	case l.guard.admits(r): // the link was opened again in the same browser
		l.write(w, http.StatusOK, &page{Title: "Welcome", Body: "welcome", Continue: true})
	default:
		l.write(w, http.StatusForbidden, &page{Title: "This link does not work", Body: "stranger"})
	}
}

// A statusError is an error with the status that is answered.
type statusError struct {
	status  int
	message string // a sentence
}

// Error implements error.
func (e *statusError) Error() string { return e.message }

// show answers with a page, or with the error that keeps it from being shown.
func (c *Console) show(of func(*http.Request) (*page, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := of(r)
		status := http.StatusOK
		if err != nil {
			status = http.StatusBadGateway
			if known := new(statusError); errors.As(err, &known) {
				status = known.status
			}
			p = &page{Title: "Error", Body: "error", Data: err.Error()}
		}
		p.Self = r.URL.RequestURI()
		p.Path = r.URL.Path
		p.Edit = c.opts.Edit
		p.CSRF = c.access.formSecret(r)
		p.Visitor = c.access.visitor(r)
		p.World, _ = c.opts.Source.World()
		p.Inside = true
		if p.Status != 0 {
			status = p.Status
		}
		c.write(w, status, p)
	})
}
