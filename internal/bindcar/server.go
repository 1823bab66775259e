package bindcar

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a Server is made of.
type Options struct {
	Settings Settings
	Version  string
	Log      *slog.Logger
	Now      func() time.Time
}

// A Server is the API of one BIND server.
type Server struct {
	*bind
	version  string
	auth     authenticator // nil: disabled
	limiter  *limiter
	mux      *http.ServeMux
	handler  http.Handler // mux, behind what every request goes through
	document []byte       // openapi.json
	leaving  atomic.Bool
}

// bind is the BIND server itself, with what is kept beside it: whatever is asked of it, and followed, without HTTP.
type bind struct {
	settings Settings
	log      *slog.Logger
	now      func() time.Time
	metrics  *Metrics
	control  *control
	store    *store
	content  *content
	loaded   *loaded
	locks    lockMap
}

// New makes a server and reads the zone directory. BIND need not run yet.
func New(o Options) (*Server, error) {
	b := &bind{settings: o.Settings, log: o.Log, now: o.Now, control: newControl(o)}
	s := &Server{bind: b, version: o.Version, limiter: newLimiter(o.Settings.Limit, o.Now)}
	var err error
	tell := func(err error) { o.Log.Warn("a zone may be missing from lists", "err", err) }
	if b.store, err = openStore(o.Settings.ZoneDir, tell); err != nil {
		return nil, err
	}
	if b.content, err = openContent(o.Settings.ZoneDir, o.Settings.Pod); err != nil {
		return nil, err
	}
	b.metrics = newMetrics(o.Version, func() float64 { return float64(b.store.count()) })
	b.control.metrics = b.metrics
	b.loaded = newLoaded(b)
	switch {
	case o.Settings.Token != "":
		s.auth = newSharedToken(o.Settings.Token)
	case o.Settings.Review != nil:
		s.auth = newReviews(*o.Settings.Review, o.Now, s.metrics)
	}
	s.handler = s.routesHandler()
	s.document, err = document(s.routes(), o.Version)
	return s, err
}

// Handler serves the API.
func (s *Server) Handler() http.Handler { return s.handler }

// Time limits of HTTP. Writing waits for BIND, which may load a large zone.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 90 * time.Second
	idleTimeout   = 2 * time.Minute
	stopWithin    = 10 * time.Second
)

// Serve answers on the listener, and follows the keys, until the context ends. It answers for LeaveFor then, and is not
// ready; requests under way are finished.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { s.followKeys(ctx) })
	work.Go(func() { s.adopt(ctx) })
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		s.leaving.Store(true)
		select {
		case err = <-done:
			done <- err
		case <-time.After(s.settings.LeaveFor):
		}
		ending, end := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
		err = h.Shutdown(ending)
		end()
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			// one that had not begun yet closes the listener only now
			err = errors.Join(err, served)
		}
	}
	cancel()
	work.Wait()
	return err
}

// routesHandler puts the routes behind what every request goes through.
func (s *Server) routesHandler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		h := s.serve(r)
		if !r.open {
			h = s.authenticated(h)
		}
		if !r.unlimited {
			h = s.limited(h)
		}
		h = s.addressed(h)
		mux.Handle(r.method+" "+r.path, h)
	}
	s.mux = mux
	return s.observed(mux)
}

// observed counts and logs requests, and keeps the mux from redirecting paths with dots in them to other paths.
func (s *Server) observed(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.now()
		seen := &statusWriter{ResponseWriter: w}
		template := "unmatched"
		if p := r.URL.EscapedPath(); path.Clean(p) != p {
			writePlain(seen, http.StatusNotFound, "Not Found")
		} else {
			mux.ServeHTTP(seen, r)
			if _, found, ok := bytes.Cut([]byte(r.Pattern), []byte(" ")); ok {
				template = string(found)
			}
		}
		took := s.now().Sub(began)
		s.metrics.request(methodLabel(r.Method), template, seen.code(), took)
		s.log.Debug("answered", "method", r.Method, "route", template, "status", seen.code(), "peer", r.RemoteAddr, "took",
			took)
	})
}

// methodLabel keeps labels few: anybody can invent a method.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead:
		return method
	}
	return "other"
}

// serve calls a route's handler and writes what it returns.
func (s *Server) serve(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		status, body, err := r.handle(w, req)
		if r.operation != "" {
			s.metrics.operation(r.operation, err)
		}
		if err != nil {
			s.fail(w, req, err)
			return
		}
		if body == nil {
			return // the handler has written
		}
		writeJSON(w, status, body)
	})
}

// fail answers with an error. What happened inside is for the log alone.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{status: http.StatusInternalServerError}
	}
	switch {
	case f.status >= http.StatusInternalServerError:
		s.log.Error("failing a request", "method", r.Method, "path", r.URL.Path, "status", f.status, "err", err)
		writeJSON(w, f.status, ErrorBody{Error: "Internal server error"})
	case f.plain:
		writePlain(w, f.status, f.text)
	default:
		writeJSON(w, f.status, ErrorBody{Error: f.text})
	}
}

// writeJSON writes a body as the existing bindcar does: compact, without a newline, nothing escaped that need not be.
func writeJSON(w http.ResponseWriter, status int, body any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		writePlain(w, http.StatusInternalServerError, "Internal server error")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n"))) // the caller may be gone
}

func writePlain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// A statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

// Unwrap is for http.ResponseController and http.MaxBytesReader.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// A lockMap has a lock for each zone, so that two callers do not change one zone's files at once.
type lockMap struct{ held sync.Map }

func (l *lockMap) lock(ctx context.Context, name string) (unlock func(), err error) {
	for {
		mine := make(chan struct{})
		other, taken := l.held.LoadOrStore(name, mine)
		if !taken {
			return func() { l.held.Delete(name); close(mine) }, nil
		}
		select {
		case <-other.(chan struct{}):
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for another change of %s: %w", name, ctx.Err())
		}
	}
}
