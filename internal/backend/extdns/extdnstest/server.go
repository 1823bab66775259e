// Package extdnstest is a webhook provider of external-dns, as its own HTTP server behaves.
package extdnstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Server is a webhook provider: external-dns' own HTTP server before a provider that checks what it is told one by one.
// Its fields are set before it is asked, or under its lock.
type Server struct {
	*httptest.Server
	sync.Mutex

	Filter map[string]any
	Sets   []Endpoint
	Down   bool
	Header string   // that calls must have
	Calls  []string // that were made

	Adjust func(Endpoint) []Endpoint // nil: as it is
	Lists  func(Endpoint) Endpoint   // how a set is told; nil: as it is
	Drops  []string                  // types that are taken and forgotten
	Fails  int                       // so many change sets fail in the middle
	Status int                       // of change sets that are refused; 0: 500
}

// Endpoint is a set, as external-dns writes it.
type Endpoint struct {
	DNSName          string            `json:"dnsName,omitempty"`
	Targets          []string          `json:"targets,omitempty"`
	RecordType       string            `json:"recordType,omitempty"`
	SetIdentifier    string            `json:"setIdentifier,omitempty"`
	RecordTTL        int64             `json:"recordTTL,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"`
	ProviderSpecific json.RawMessage   `json:"providerSpecific,omitempty"`
}

// Changes are what one call asks for.
type Changes struct {
	Create    []Endpoint `json:"create,omitempty"`
	UpdateOld []Endpoint `json:"updateOld,omitempty"`
	UpdateNew []Endpoint `json:"updateNew,omitempty"`
	Delete    []Endpoint `json:"delete,omitempty"`
}

const (
	mediaType = "application/external.dns.webhook+json;version=1"
	maxBody   = 32 << 20 // octets
)

// Start starts a server of some zones, under /p, for the time of a test.
func Start(t testing.TB, zones ...string) *Server {
	f := &Server{Filter: map[string]any{"include": zones}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /p/{$}", f.negotiate)
	mux.HandleFunc("GET /p", f.negotiate)
	mux.HandleFunc("GET /p/records", f.records)
	mux.HandleFunc("POST /p/records", f.apply)
	mux.HandleFunc("POST /p/adjustendpoints", f.adjustEndpoints)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.Lock()
		defer f.Unlock()
		f.Calls = append(f.Calls, r.Method+" "+r.URL.Path)
		name, value, _ := strings.Cut(f.Header, ": ")
		switch {
		case f.Down:
			panic(http.ErrAbortHandler)
		case f.Header != "" && r.Header.Get(name) != value:
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case r.Header.Get("Accept") != mediaType || r.Method == http.MethodPost && r.Header.Get("Content-Type") != mediaType:
			http.Error(w, "client must provide an accept header", http.StatusNotAcceptable)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *Server) say(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", mediaType)
	_ = json.NewEncoder(w).Encode(v)
}

func (f *Server) negotiate(w http.ResponseWriter, _ *http.Request) { f.say(w, f.Filter) }

func (f *Server) records(w http.ResponseWriter, _ *http.Request) {
	all := slices.Clone(f.Sets)
	for i := range all {
		if f.Lists != nil {
			all[i] = f.Lists(all[i])
		}
	}
	f.say(w, all)
}

func (f *Server) adjustEndpoints(w http.ResponseWriter, r *http.Request) {
	var all, out []Endpoint
	if err := json.NewDecoder(r.Body).Decode(&all); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, e := range all {
		if f.Adjust != nil {
			out = append(out, f.Adjust(e)...)
		} else {
			out = append(out, e)
		}
	}
	f.say(w, out)
}

func (f *Server) apply(w http.ResponseWriter, r *http.Request) {
	var c Changes
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&c); err != nil ||
		len(c.UpdateOld) != len(c.UpdateNew) {
		http.Error(w, "cannot be decoded", http.StatusBadRequest)
		return
	}
	if err := f.CarryOut(c); err != nil {
		code := f.Status
		if errors.Is(err, errBusy) {
			code = http.StatusServiceUnavailable
		}
		if code == 0 {
			code = http.StatusInternalServerError
		}
		http.Error(w, err.Error(), code)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Index finds a set as external-dns tells sets apart.
func (f *Server) Index(e Endpoint) int {
	return slices.IndexFunc(f.Sets, func(o Endpoint) bool {
		return o.DNSName == e.DNSName && o.RecordType == e.RecordType && o.SetIdentifier == e.SetIdentifier
	})
}

func exactly(a, b Endpoint) bool {
	return slices.Equal(a.Targets, b.Targets) && a.RecordTTL == b.RecordTTL &&
		string(a.ProviderSpecific) == string(b.ProviderSpecific) && fmt.Sprint(a.Labels) == fmt.Sprint(b.Labels)
}

var errBusy = errors.New("the provider's API has failed")

// CarryOut does one thing after the other, deletions first, until one fails. What was to be deleted or updated has to
// be exactly as it is told.
func (f *Server) CarryOut(c Changes) error {
	told := func(e Endpoint) Endpoint {
		if f.Lists != nil {
			return f.Lists(e)
		}
		return e
	}
	for _, e := range c.Delete {
		i := f.Index(e)
		if i < 0 || !exactly(told(f.Sets[i]), e) {
			return fmt.Errorf("no such record: %v", e)
		}
		f.Sets = slices.Delete(f.Sets, i, i+1)
	}
	for n, e := range c.UpdateOld {
		i, next := f.Index(e), c.UpdateNew[n]
		if i < 0 || !exactly(told(f.Sets[i]), e) || next.DNSName != e.DNSName || next.RecordType != e.RecordType {
			return fmt.Errorf("no such record: %v", e)
		}
		if err := valid(next); err != nil {
			return err
		}
		f.Sets[i] = next
	}
	for n, e := range c.Create {
		if f.Fails > 0 && n == len(c.Create)/2 {
			f.Fails--
			return errBusy
		}
		if f.Index(e) >= 0 {
			return fmt.Errorf("record already exists: %v", e)
		}
		if err := valid(e); err != nil {
			return err
		}
		if slices.ContainsFunc(f.Sets, func(o Endpoint) bool {
			return o.DNSName == e.DNSName && (o.RecordType == "CNAME" || e.RecordType == "CNAME") &&
				o.SetIdentifier == e.SetIdentifier
		}) {
			return fmt.Errorf("a CNAME and something else: %v", e)
		}
		if !slices.Contains(f.Drops, e.RecordType) {
			f.Sets = append(f.Sets, e)
		}
	}
	return nil
}

// valid is what a provider refuses.
func valid(e Endpoint) error {
	if strings.HasSuffix(e.DNSName, ".") || len(e.Targets) == 0 || e.RecordTTL < 0 {
		return fmt.Errorf("no endpoint: %v", e)
	}
	for _, target := range e.Targets {
		if _, err := parsed(e, target); err != nil || len(target) > 2000 {
			return fmt.Errorf("target %.30q of %s is refused: %w", target, e.DNSName, err)
		}
	}
	return nil
}

func parsed(e Endpoint, target string) (dns.RR, error) {
	return dns.NewRR(fmt.Sprintf("$ORIGIN .\n%s. %d IN %s %s", e.DNSName, e.RecordTTL, e.RecordType, target))
}

// Truth is what resolvers would be told of a zone.
func (f *Server) Truth(t testing.TB, zone dnsname.Name) rr.Sets {
	f.Lock()
	defer f.Unlock()
	var all []dns.RR
	for _, e := range f.Sets {
		for _, target := range e.Targets {
			record, err := parsed(e, target)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, record)
		}
	}
	sets, err := rr.FromRRs(all)
	if err != nil {
		t.Fatal(err)
	}
	txn := rr.Sets{}.Txn()
	for _, set := range sets {
		if set.Name.Under(zone) {
			txn.Put(set)
		}
	}
	return txn.Sets()
}
