package externaldns

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/controller/updates"
	"github.com/zonefold/zonefold/internal/endpoint"
)

// Config is what is needed from outside.
type Config struct {
	Tokens *Tokens
	Leader func() *updates.Updates // nil: another replica leads
	Pass   http.Handler            // has the leader answer
	Bodies *budget.Pool            // bounds what is read
	Log    *slog.Logger
}

// Handler returns the server. Statuses are those that external-dns goes on after (500 to 510), except where its
// settings are wrong: it ends then.
func Handler(c Config) http.Handler {
	s := &server{c}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /{$}", s.led(s.negotiate))
	mux.HandleFunc("GET /records", s.led(s.list))
	mux.HandleFunc("POST /records", s.led(s.change))
	mux.HandleFunc("POST /adjustendpoints", s.known(s.adjust))
	return mux
}

type server struct{ Config }

// known lets who has a token in.
func (s *server) known(next func(http.ResponseWriter, *http.Request, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, token, basic := r.BasicAuth()
		if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && !basic {
			token = bearer
		}
		namespace, refusal := s.Tokens.namespace(token)
		accept := r.Header.Get("Accept")
		switch {
		case refusal != "":
			w.Header().Set("WWW-Authenticate", `Basic realm="external-dns"`) // RFC 9110 §15.5.2
			http.Error(w, refusal, http.StatusUnauthorized)
		case strings.Contains(accept, "external.dns.webhook") &&
			!strings.Contains(strings.ReplaceAll(accept, " ", ""), endpoint.MediaType):
			http.Error(w, "This server speaks "+endpoint.MediaType+" alone.", http.StatusNotAcceptable)
		default:
			next(w, r, namespace)
		}
	}
}

// led is known where only the leader can answer.
func (s *server) led(next func(http.ResponseWriter, *http.Request, *updates.Updates, string)) http.HandlerFunc {
	return s.known(func(w http.ResponseWriter, r *http.Request, namespace string) {
		if here := s.Leader(); here != nil {
			next(w, r, here, namespace)
			return
		}
		s.Pass.ServeHTTP(w, r)
	})
}

// negotiate says which names are for this client. None are named where no Zone lets it in yet: that would be all.
func (s *server) negotiate(w http.ResponseWriter, _ *http.Request, here *updates.Updates, namespace string) {
	var filter struct {
		Include []string `json:"include,omitempty"`
	}
	for _, name := range here.Domains(namespace) {
		text := strings.TrimSuffix(name.String(), ".")
		if text == "" { // the root: all names
			filter.Include = nil
			break
		}
		filter.Include = append(filter.Include, text)
	}
	answer(w, filter)
}

func (s *server) list(w http.ResponseWriter, r *http.Request, here *updates.Updates, namespace string) {
	all, err := here.Endpoints(r.Context(), namespace)
	if err != nil {
		s.fail(w, namespace, err)
		return
	}
	answer(w, all)
}

func (s *server) change(w http.ResponseWriter, r *http.Request, here *updates.Updates, namespace string) {
	var changes endpoint.Changes
	if !s.read(w, r, &changes) {
		return
	}
	if err := here.ChangeEndpoints(r.Context(), namespace, changes); err != nil {
		s.fail(w, namespace, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) adjust(w http.ResponseWriter, r *http.Request, _ string) {
	all := []endpoint.Endpoint{}
	if !s.read(w, r, &all) {
		return
	}
	for i := range all {
		all[i] = all[i].Adjusted()
	}
	answer(w, all)
}

// read reads a body, or says why it does not.
func (s *server) read(w http.ResponseWriter, r *http.Request, into any) bool {
	meter := s.Bodies.Begin(endpoint.MaxBody, func() { _ = r.Body.Close() })
	defer meter.End()
	err := json.NewDecoder(meter.JSON(r.Body)).Decode(into)
	exceeded, tooMuch := errors.AsType[*budget.Error](err)
	switch {
	case err == nil:
		return true
	case tooMuch && exceeded.Shared:
		http.Error(w, "Too many requests are being read. Try again.", http.StatusServiceUnavailable)
	case tooMuch:
		http.Error(w, fmt.Sprintf("The body has more than %d %s: divide the sources among several instances of external-dns.",
			exceeded.Most, exceeded.What), http.StatusRequestEntityTooLarge)
	default:
		http.Error(w, fmt.Sprintf("The body cannot be read: %v.", err), http.StatusBadRequest)
	}
	return false
}

// sentences is how many are written for one request.
const sentences = 20

// fail says what is wrong. external-dns does not show it to anybody, so the log has it too.
func (s *server) fail(w http.ResponseWriter, namespace string, err error) {
	lines := strings.Split(err.Error(), "\n")
	if more := len(lines) - sentences; more > 0 {
		lines = append(lines[:sentences], fmt.Sprintf("and %d more", more))
	}
	for _, line := range lines {
		s.Log.Warn("a request of external-dns is not carried out", "namespace", namespace, "reason", line)
	}
	http.Error(w, strings.Join(lines, "\n"), http.StatusInternalServerError)
}

func answer(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", endpoint.MediaType)
	_ = json.NewEncoder(w).Encode(what) // the client is gone if it fails
}
