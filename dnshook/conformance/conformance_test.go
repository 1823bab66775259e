package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/dnshook/conformance"
)

var key = dnshook.Key{Secret: []byte("a secret that is shared"), Algorithm: dnshook.SHA512}

// A server is the one of package dnshook, with what may be wrong in it.
type server struct {
	provider dnshook.Provider
	nonces   dnshook.Nonces
	around   func(http.Handler) http.Handler
	unsigned bool
}

func (s server) run(t *testing.T) []conformance.Result {
	t.Helper()
	cfg := dnshook.HandlerConfig{Provider: s.provider, Nonces: s.nonces, Now: time.Now, Path: "/dns", Unsigned: s.unsigned}
	if !s.unsigned {
		cfg.Keys = func() ([]dnshook.Key, error) { return []dnshook.Key{key}, nil }
	}
	h, err := dnshook.NewHandler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	all := http.Handler(h)
	if s.around != nil {
		all = s.around(h)
	}
	at := httptest.NewServer(all)
	defer at.Close()
	ask := conformance.Config{Server: at.URL + "/dns/", Domain: "example.com", Now: time.Now}
	if !s.unsigned {
		ask.Key = &key
	}
	results, err := conformance.Run(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// those returns the names of the checks with a verdict.
func those(results []conformance.Result, v conformance.Verdict) string {
	var out []string
	for _, r := range results {
		if r.Verdict == v {
			out = append(out, r.Check)
		}
	}
	return strings.Join(out, ", ")
}

func TestOurServer(t *testing.T) {
	for _, unsigned := range []bool{false, true} {
		p := &dnshook.Memory{}
		results := server{provider: p, unsigned: unsigned}.run(t)
		for _, r := range results {
			if r.Verdict != conformance.Pass {
				t.Errorf("%s: %s: %s", r.Check, r.Verdict, r.Sentence)
			}
			if r.Sentence == "" {
				t.Errorf("%s has nothing to say", r.Check)
			}
		}
		if left := p.Records(); len(left) > 0 {
			t.Errorf("it leaves %v behind", left)
		}
		if unsigned != !strings.Contains(those(results, conformance.Pass), "replay") || len(results) < 30 {
			t.Errorf("with nothing signed being %t, %d checks were made", unsigned, len(results))
		}
	}
}

// careless is a provider with one thing wrong.
type careless struct {
	dnshook.Memory
	noGet, appends, fails, sweeps, lowers, noMX bool
}

func (c *careless) Upsert(ctx context.Context, r dnshook.Record) error {
	if before, err := c.Memory.Get(ctx, r.ID()); c.appends && err == nil {
		r.Values = append(slices.Clone(before.Values), r.Values...)
	}
	if c.lowers {
		for i := range r.Values {
			r.Values[i] = strings.ToLower(strings.TrimSpace(r.Values[i]))
		}
	}
	if c.noMX && (r.Type == "MX" || r.Type == "SRV") {
		return &dnshook.Error{Code: dnshook.CodeInvalidRecord, Message: "There are no such records here."}
	}
	return c.Memory.Upsert(ctx, r)
}

func (c *careless) Delete(ctx context.Context, id dnshook.ID) error {
	if c.sweeps {
		for _, r := range c.Records() {
			if r.ID().FQDN() == id.FQDN() && r.Type != id.Type {
				_ = c.Memory.Delete(ctx, r.ID())
			}
		}
	}
	err := c.Memory.Delete(ctx, id)
	if err != nil && c.fails {
		return errors.New("no rows")
	}
	return err
}

func (c *careless) Get(ctx context.Context, id dnshook.ID) (dnshook.Record, error) {
	if c.noGet {
		return dnshook.Record{}, dnshook.ErrNoGet
	}
	return c.Memory.Get(ctx, id)
}

// forgetful remembers no nonce.
type forgetful struct{}

func (forgetful) Use(context.Context, string, time.Time, time.Time) (bool, error) { return true, nil }

// hesitant looks, and notes later.
type hesitant struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (h *hesitant) Use(_ context.Context, nonce string, _, _ time.Time) (bool, error) {
	h.mu.Lock()
	used := h.seen[nonce]
	h.mu.Unlock()
	if used {
		return false, nil
	}
	<-time.After(20 * time.Millisecond)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen[nonce] = true
	return true, nil
}

// hasty notes nonces before it looks at signatures.
func hasty(next http.Handler) http.Handler {
	store := &dnshook.MemoryNonces{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, nonce := time.Now(), r.Header.Get(dnshook.HeaderNonce)
		if fresh, _ := store.Use(r.Context(), nonce, at, at.Add(time.Hour)); !fresh && nonce != "" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"success":false,"error":{"code":"NONCE_REUSED","message":"used"}}`)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// remarshals verifies what it would have sent itself.
func remarshals(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct {
			Record    dnshook.Record `json:"record"`
			Operation string         `json:"operation"`
		}
		if json.Unmarshal(body, &asked) == nil && asked.Record.Type != "" && len(body) < 1<<20 {
			body, _ = json.Marshal(asked)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// signsAnew signs some requests itself, so that they count whoever sent them.
func signsAnew(which func(*http.Request, []byte) bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if which(r, body) {
				_ = key.SignRequest(r, body, time.Now(), r.Header.Get(dnshook.HeaderNonce))
			}
			next.ServeHTTP(w, r)
		})
	}
}

// timeless requests are signed well, at some time.
func timeless(r *http.Request, body []byte) bool {
	want, err := key.Sign(dnshook.Message{
		Method: r.Method, Path: r.URL.EscapedPath(), Timestamp: r.Header.Get(dnshook.HeaderTimestamp),
		Nonce: r.Header.Get(dnshook.HeaderNonce), Body: body,
	})
	return err == nil && r.Header.Get(dnshook.HeaderSignature) == want
}

// answers changes what is answered.
func answers(change func(*http.Request, *httptest.ResponseRecorder)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			out := httptest.NewRecorder()
			next.ServeHTTP(out, r)
			change(r, out)
			for name, values := range out.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(out.Code)
			_, _ = w.Write(out.Body.Bytes())
		})
	}
}

func empty(method string) func(http.Handler) http.Handler {
	return answers(func(r *http.Request, out *httptest.ResponseRecorder) {
		if r.Method == method && out.Code == http.StatusOK && !strings.HasSuffix(r.URL.Path, "/batch") {
			out.Code = http.StatusNoContent
			out.Body.Reset()
		}
	})
}

func TestBrokenServers(t *testing.T) {
	for _, c := range []struct {
		sentence string
		server   server
		want     string // the checks that fail
	}{
		{"nonces are noted before signatures are verified", server{around: hasty, nonces: forgetful{}},
			"nonce of a stranger"},
		{"nonces are looked for, and noted later", server{nonces: &hesitant{seen: map[string]bool{}}}, "replay at once"},
		{"nonces are not noted", server{nonces: forgetful{}}, "replay, nonce of another, replay at once"},
		{"JSON is verified as it would be sent", server{around: remarshals}, "octets as sent"},
		{"only bodies are verified", server{around: signsAnew(func(r *http.Request, _ []byte) bool {
			return r.Method != http.MethodPost
		})}, "changed path, changed method"},
		{"timestamps are not compared with the clock", server{around: signsAnew(timeless)}, "stale, future"},
		{"signatures are compared as text", server{around: answers(func(r *http.Request, out *httptest.ResponseRecorder) {
			if s := r.Header.Get(dnshook.HeaderSignature); s != strings.ToLower(s) {
				out.Code = http.StatusUnauthorized
			}
		})}, "upper case"},
		{"an upsert is answered with nothing", server{around: empty(http.MethodPost)}, "upsert"},
		{"a deletion is answered with nothing", server{around: empty(http.MethodDelete)}, "delete"},
		{"what is not there cannot be deleted", server{provider: &careless{fails: true}}, "delete again, batch, clean up"},
		{"values are added to those that are there", server{provider: &careless{appends: true}}, "upsert replaces"},
		{"a deletion takes all types of a name", server{provider: &careless{sweeps: true}}, "delete leaves others"},
		{"values are written in lower case", server{provider: &careless{lowers: true}}, "type TXT, underscore"},
		{"405 comes without Allow", server{around: answers(func(_ *http.Request, out *httptest.ResponseRecorder) {
			out.Header().Del("Allow")
		})}, "unknown method"},
		{"everything is answered as text", server{around: answers(func(_ *http.Request, out *httptest.ResponseRecorder) {
			out.Header().Set("Content-Type", "text/plain")
		})}, "content type"},
		{"it is never well", server{around: answers(func(r *http.Request, out *httptest.ResponseRecorder) {
			if strings.HasSuffix(r.URL.Path, "/health") {
				out.Body = bytes.NewBufferString(`{"status":"ok"}`)
			}
		})}, "health, batch"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			t.Parallel()
			if c.server.provider == nil {
				c.server.provider = &dnshook.Memory{}
			}
			results := c.server.run(t)
			if got := those(results, conformance.Fail); got != c.want {
				t.Errorf("what fails is %q, want %q", got, c.want)
				for _, r := range results {
					t.Log(r)
				}
			}
		})
	}
}

func TestServersThatCanLess(t *testing.T) {
	for _, c := range []struct {
		sentence string
		server   server
		want     string
	}{
		{"without GET", server{provider: &careless{noGet: true}}, "get, domain itself"},
		{"without MX and SRV", server{provider: &careless{noMX: true}}, "type MX, type SRV"},
		{"without batches", server{provider: &dnshook.Memory{},
			around: answers(func(_ *http.Request, out *httptest.ResponseRecorder) {
				out.Body = bytes.NewBuffer(bytes.ReplaceAll(out.Body.Bytes(), []byte(`,"features":["batch"]`), nil))
			})}, "batch"},
		{"with a new connection each time", server{provider: &dnshook.Memory{},
			around: answers(func(_ *http.Request, out *httptest.ResponseRecorder) {
				out.Header().Set("Connection", "close")
			})}, "kept connections"},
	} {
		results := c.server.run(t)
		if fails, got := those(results, conformance.Fail), those(results, conformance.Unsupported); fails != "" ||
			got != c.want {
			t.Errorf("%s: %q is not supported, want %q; %q fails", c.sentence, got, c.want, fails)
		}
	}
}

func TestTheDomainItselfIsNotOverwritten(t *testing.T) {
	p := &dnshook.Memory{}
	spf := dnshook.Record{Type: "TXT", Domain: "example.com", Subdomain: "@", Values: []string{"v=spf1 -all"}, TTL: 60}
	if err := p.Upsert(t.Context(), spf); err != nil {
		t.Fatal(err)
	}
	results := server{provider: p}.run(t)
	if got := those(results, conformance.Unsupported); got != "domain itself" {
		t.Errorf("%q is not supported", got)
	}
	if left := p.Records(); len(left) != 1 || left[0].Values[0] != spf.Values[0] {
		t.Errorf("it leaves %v", left)
	}
}

func TestServersThatCannotBeAsked(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for sentence, cfg := range map[string]conformance.Config{
		"nobody listens":  {Server: gone.URL, Domain: "example.com", Now: time.Now},
		"no URL":          {Server: "dns", Domain: "example.com", Now: time.Now},
		"no domain":       {Server: gone.URL, Now: time.Now},
		"an empty secret": {Server: gone.URL, Domain: "example.com", Now: time.Now, Key: &dnshook.Key{}},
		"no such algorithm": {Server: gone.URL, Domain: "example.com", Now: time.Now,
			Key: &dnshook.Key{Secret: []byte("x"), Algorithm: "MD5"}},
		"nobody has a clock": {Server: gone.URL, Domain: "example.com"},
	} {
		if _, err := conformance.Run(t.Context(), cfg); err == nil {
			t.Errorf("%s: it is asked", sentence)
		}
	}
}

// A believer takes every record for what it says, under its path.
type believer struct {
	mu      sync.Mutex
	records map[string]json.RawMessage
	keeps   bool // a deletion of what is no valid name is refused, as it comes
}

func (b *believer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	body, _ := io.ReadAll(r.Body)
	switch {
	case strings.HasSuffix(r.URL.Path, "/health"):
		_, _ = io.WriteString(w, `{"status":"healthy"}`)
	case r.Method == http.MethodPost:
		var asked struct {
			Record json.RawMessage `json:"record"`
		}
		var id dnshook.ID
		if json.Unmarshal(body, &asked) != nil || json.Unmarshal(asked.Record, &id) != nil {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		b.records[id.Path()] = asked.Record
		_, _ = io.WriteString(w, `{"success":true}`)
	case b.records[strings.TrimPrefix(r.URL.Path, "/dns")] == nil:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"success":false,"error":{"code":"RECORD_NOT_FOUND","message":"There is none."}}`)
	case r.Method == http.MethodDelete && b.keeps && strings.Contains(r.URL.Path, "BOGUS"):
		http.Error(w, "no", http.StatusBadRequest)
	case r.Method == http.MethodDelete:
		delete(b.records, strings.TrimPrefix(r.URL.Path, "/dns"))
		_, _ = io.WriteString(w, `{"success":true}`)
	default:
		_, _ = w.Write(slices.Concat([]byte(`{"success":true,"record":`), b.records[strings.TrimPrefix(r.URL.Path, "/dns")],
			[]byte(`}`)))
	}
}

// TestInvalidRecordsThatAServerTakesAreCleanedUp has a server that refuses nothing but what is no JSON, and that in
// words of its own.
func TestInvalidRecordsThatAServerTakesAreCleanedUp(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		b := &believer{records: map[string]json.RawMessage{}, keeps: keeps}
		at := httptest.NewServer(b)
		defer at.Close()
		results, err := conformance.Run(t.Context(), conformance.Config{Server: at.URL + "/dns", Domain: "example.com",
			Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]conformance.Result{}
		for _, r := range results {
			said[r.Check] = r
		}
		left := strings.Join(slices.Sorted(maps.Keys(b.records)), " ")
		clean := said["clean up"]
		switch {
		case !keeps && (left != "" || clean.Verdict != conformance.Pass):
			t.Errorf("%q is left, and it says %v", left, clean)
		case keeps && (strings.Count(left, "/records/") != 1 || clean.Verdict != conformance.Fail ||
			!strings.Contains(clean.Sentence, "BOGUS")):
			t.Errorf("%q is left, and it says %v", left, clean)
		}
		for check, want := range map[string]string{
			"invalid value": "it does not refuse it and answers 200", "no JSON": "it refuses it with 400 no, which is not " +
				"JSON with an error",
		} {
			if r := said[check]; r.Verdict != conformance.Fail || !strings.HasPrefix(r.Sentence, want) {
				t.Errorf("%s: %v, want %q", check, r, want)
			}
		}
	}
}
