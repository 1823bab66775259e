package dnshook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

// provider fails as it is told.
type provider struct {
	dnshook.Memory
	err   error
	panic any
	noGet bool
	hold  chan struct{} // upserts wait for its end
	held  chan struct{} // and say so
}

func (p *provider) Upsert(ctx context.Context, r dnshook.Record) error {
	if p.panic != nil {
		panic(p.panic)
	}
	if p.hold != nil {
		p.held <- struct{}{}
		<-p.hold
	}
	if p.err != nil {
		return p.err
	}
	return p.Memory.Upsert(ctx, r)
}

func (p *provider) Get(ctx context.Context, id dnshook.ID) (dnshook.Record, error) {
	if p.noGet {
		return dnshook.Record{}, dnshook.ErrNoGet
	}
	return p.Memory.Get(ctx, id)
}

func (p *provider) Health(context.Context) error { return p.err }

// end is a server that runs.
type end struct {
	*httptest.Server
	mu   sync.Mutex
	seen []dnshook.Exchange
}

func run(t *testing.T, cfg dnshook.HandlerConfig) *end {
	t.Helper()
	e := &end{}
	cfg.Now = func() time.Time { return noon }
	cfg.Observe = func(x dnshook.Exchange) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.seen = append(e.seen, x)
	}
	h, err := dnshook.NewHandler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e.Server = httptest.NewServer(h)
	t.Cleanup(e.Close)
	return e
}

func unsigned(p dnshook.Provider) dnshook.HandlerConfig {
	return dnshook.HandlerConfig{Provider: p, Unsigned: true}
}

func keys(secrets ...string) func() ([]dnshook.Key, error) { return verifier(secrets...).Keys }

// said is what of an answer is looked at.
type said struct {
	status int
	header http.Header
}

// send makes a request and returns its answer.
func (e *end) send(t *testing.T, method, path, body string) (said, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, e.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the answer is no JSON: %v %v", response.Header, err)
	}
	return said{response.StatusCode, response.Header}, string(text)
}

func TestAnswersOfTheDocument(t *testing.T) {
	e := run(t, unsigned(&provider{}))
	const found = `{"success":true,"record":{"type":"A","domain":"example.com","subdomain":"www","fqdn":"www.example.com","values":["192.168.1.100","192.168.1.101"],"ttl":600}`
	const none = `{"success":false,"error":{"code":"RECORD_NOT_FOUND","message":"Record does not exist","details":{}}}`
	const path = "/records/A/example.com/www"
	for i, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/health", "", 200,
			`{"status":"healthy","message":"DNS server is operational","timestamp":"2025-12-30T10:00:00Z","features":["batch"]}`},
		{"GET", path, "", 404, none},
		{"DELETE", path, "", 404, none},
		{"POST", "/records", example, 200, found + `,"message":"Record created successfully"}`},
		{"POST", "/records", example, 200, found + `,"message":"Record created successfully"}`},
		{"GET", path, "", 200, found + "}"},
		{"GET", "/records/a/Example.COM./WWW", "", 200, found + "}"},
		{"DELETE", path, "", 200, `{"success":true,"message":"Record deleted successfully"}`},
		{"DELETE", path, "", 404, none},
	} {
		if response, got := e.send(t, c.method, c.path, c.body); response.status != c.status || got != c.want {
			t.Errorf("%d: %s %s is answered %d\n%s\nwant %d\n%s", i, c.method, c.path, response.status, got, c.status, c.want)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	replaced := func(was, is string) string { return strings.Replace(example, was, is, 1) }
	for _, c := range []struct {
		sentence, method, path, body string
		status                       int
		code                         dnshook.Code
		words                        string
	}{
		{"no body", "POST", "/records", "", 400, "INVALID_RECORD", "no body"},
		{"no JSON", "POST", "/records", "{", 400, "INVALID_RECORD", "octet 1"},
		{"a second value", "POST", "/records", example + "{}", 400, "INVALID_RECORD", "after top-level value"},
		{"a list", "POST", "/records", "[]", 400, "INVALID_RECORD", "cannot be a JSON array"},
		{"a number as text", "POST", "/records", replaced("600", `"600"`), 400, "INVALID_RECORD",
			"record.ttl cannot be a JSON string"},
		{"a ttl below zero", "POST", "/records", replaced("600", `-1`), 400, "INVALID_RECORD", "record.ttl"},
		{"no UTF-8", "POST", "/records", replaced("www", "\xff"), 400, "INVALID_RECORD", "UTF-8"},
		{"no operation", "POST", "/records", replaced(`,"operation":"upsert"`, ""), 400, "INVALID_RECORD", "missing"},
		{"an operation that there is not", "POST", "/records", replaced("upsert", "create"), 400, "INVALID_RECORD", "create"},
		{"a deletion where there is none", "POST", "/records", replaced("upsert", "delete"), 400, "INVALID_RECORD", "upsert"},
		{"no record", "POST", "/records", `{"operation":"upsert"}`, 400, "INVALID_RECORD", "no type"},
		{"another type", "POST", "/records", replaced(`"A"`, `"SOA"`), 400, "INVALID_RECORD", "SOA"},
		{"another domain", "POST", "/records", replaced("example.com", "a b"), 400, "INVALID_DOMAIN", "a b"},
		{"another value", "POST", "/records", replaced("192.168.1.100", "x"), 400, "INVALID_VALUE", "x"},
		{"a body without end", "POST", "/records", strings.Repeat(" ", 1<<20+1), 413, "INVALID_RECORD", "1048576"},
		{"another method", "PUT", "/records", example, 405, "SERVER_ERROR", "POST"},
		{"another method of a record", "POST", "/records/A/example.com/www", "", 405, "SERVER_ERROR", "DELETE, GET"},
		{"another path", "GET", "/record", "", 404, "SERVER_ERROR", "/record"},
		{"a path that is too long", "DELETE", "/records/A/example.com/www/x", "", 404, "SERVER_ERROR", "nothing"},
		{"a path without a subdomain", "DELETE", "/records/A/example.com/", "", 404, "RECORD_NOT_FOUND", "empty"},
		{"deletion of another type", "DELETE", "/records/ANY/example.com/www", "", 404, "RECORD_NOT_FOUND", "ANY"},
		{"a look at another name", "GET", "/records/A/exa%20mple.com/www", "", 404, "RECORD_NOT_FOUND", ""},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			e := run(t, unsigned(&provider{}))
			response, text := e.send(t, c.method, c.path, c.body)
			if response.status != c.status || !strings.Contains(text, `"code":"`+string(c.code)+`"`) ||
				!strings.Contains(text, c.words) {
				t.Errorf("it is answered %d %s", response.status, text)
			}
			if allow := response.header.Get("Allow"); (allow != "") != (c.status == 405) || c.status == 405 && allow != c.words {
				t.Errorf("it allows %q", allow)
			}
			if len(e.seen) != 1 || e.seen[0].Status != c.status || e.seen[0].Code != c.code || e.seen[0].Err == nil {
				t.Errorf("%+v is seen", e.seen)
			}
		})
	}
}

func TestWhatIsTakenThoughItIsUnusual(t *testing.T) {
	for sentence, body := range map[string]string{
		"members that nobody knows": strings.Replace(example, `"ttl":600`, `"ttl":600,"proxied":true`, 1),
		"spaces and line feeds":     " \n" + strings.ReplaceAll(example, ",", " ,\n ") + "\n",
		"another order":             `{"operation":"upsert","record":{"values":["192.168.1.100","192.168.1.101"],"subdomain":"www","domain":"example.com","type":"A"}}`,
	} {
		p := &provider{}
		if response, text := run(t, unsigned(p)).send(t, "POST", "/records", body); response.status != 200 ||
			len(p.Records()) != 1 {
			t.Errorf("%s: %d %s", sentence, response.status, text)
		}
	}
}

func TestProvidersThatFail(t *testing.T) {
	for _, c := range []struct {
		sentence   string
		p          *provider
		status     int
		code       dnshook.Code
		retryAfter string
	}{
		{"an error without a code", &provider{err: errors.New("the password is s3cret")}, 500, "SERVER_ERROR", ""},
		{"a panic", &provider{panic: "s3cret"}, 500, "SERVER_ERROR", ""},
		{"too many", &provider{err: &dnshook.Error{Code: dnshook.CodeRateLimited, Message: "slowly",
			RetryAfter: 1500 * time.Millisecond}}, 429, "RATE_LIMITED", "2"},
		{"too many, for how long is not said",
			&provider{err: fmt.Errorf("x: %w", &dnshook.Error{Code: dnshook.CodeRateLimited})}, 429, "RATE_LIMITED", "1"},
		{"no room", &provider{err: &dnshook.Error{Code: dnshook.CodeQuotaExceeded}}, 403, "QUOTA_EXCEEDED", ""},
		{"a status of its own", &provider{err: &dnshook.Error{Status: 503, Code: dnshook.CodeServerError}}, 503,
			"SERVER_ERROR", ""},
		{"a status that is none", &provider{err: &dnshook.Error{Status: 200}}, 500, "SERVER_ERROR", ""},
		{"details that are no JSON", &provider{err: &dnshook.Error{Code: dnshook.CodeInvalidRecord, Details: map[string]any{
			"f": func() {}}}}, 500, "SERVER_ERROR", ""},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			e := run(t, unsigned(c.p))
			response, text := e.send(t, "POST", "/records", example)
			if got := response.header.Get("Retry-After"); response.status != c.status || got != c.retryAfter {
				t.Errorf("it is answered %d with Retry-After %q", response.status, got)
			}
			if !strings.Contains(text, `"code":"`+string(c.code)+`"`) || strings.Contains(text, "s3cret") {
				t.Errorf("it is answered %s", text)
			}
			if len(e.seen) != 1 || e.seen[0].Err == nil || e.seen[0].ID != www.ID() {
				t.Errorf("%+v is seen", e.seen)
			}
			if c.p.panic == nil {
				response, text = e.send(t, "GET", "/health", "")
				if response.status != 503 || !strings.Contains(text, `"status":"unhealthy"`) || strings.Contains(text, "s3cret") {
					t.Errorf("its health is %d %s", response.status, text)
				}
			}
		})
	}
}

func TestProvidersWithoutGet(t *testing.T) {
	e := run(t, dnshook.HandlerConfig{Provider: &provider{noGet: true}, Keys: keys(secret)})
	if _, _, err := clientOf(t, e.URL).Get(t.Context(), www.ID()); !errors.Is(err, dnshook.ErrNoGet) {
		t.Errorf("a look comes to %v", err)
	}
	e = run(t, unsigned(&provider{noGet: true}))
	if response, _ := e.send(t, "GET", www.ID().Path(), ""); response.status != 405 ||
		response.header.Get("Allow") != "DELETE" {
		t.Errorf("it is answered %d, allowed is %s", response.status, response.header.Get("Allow"))
	}
}

func TestTheClientAndTheServer(t *testing.T) {
	p := &provider{}
	e := run(t, dnshook.HandlerConfig{Provider: p, Keys: keys("new", secret), Path: "/dns/"})
	c := clientOf(t, e.URL+"/dns/")
	if h, err := c.Health(t.Context()); err != nil || h.Timestamp != noon {
		t.Errorf("its health is %+v, %v", h, err)
	}
	if r, err := c.Upsert(t.Context(), www); err != nil || r.FQDN != "www.example.com" {
		t.Errorf("an upsert comes to %+v, %v", r, err)
	}
	if r, there, err := c.Get(t.Context(), www.ID()); err != nil || !there || r.TTL != 600 {
		t.Errorf("a look comes to %+v, %t, %v", r, there, err)
	}
	for range 2 {
		if err := c.Delete(t.Context(), www.ID()); err != nil {
			t.Error(err)
		}
	}
	if _, err := clientOf(t, e.URL).Upsert(t.Context(), www); dnshook.CodeOf(err) != dnshook.CodeServerError {
		t.Errorf("without the path it comes to %v", err)
	}
	if response, _ := e.send(t, "POST", "/dns/records", example); response.status != 401 {
		t.Errorf("without a signature it is answered %d", response.status)
	}
	if len(p.Records()) != 0 {
		t.Errorf("it has %v", p.Records())
	}
}

// traced says which trace its requests belong to.
type traced struct {
	provider
	seen string
}

type traceKey struct{}

func (p *traced) Upsert(ctx context.Context, _ dnshook.Record) error {
	p.seen, _ = ctx.Value(traceKey{}).(string)
	return nil
}

func TestTracesGoFromEndToEnd(t *testing.T) {
	p := &traced{}
	e := run(t, dnshook.HandlerConfig{Provider: p, Keys: keys(secret),
		Extract: func(ctx context.Context, h http.Header) context.Context {
			return context.WithValue(ctx, traceKey{}, h.Get("traceparent"))
		}})
	c, err := dnshook.NewClient(dnshook.ClientConfig{
		Server: e.URL, Now: func() time.Time { return noon }, Keys: func() (dnshook.Key, error) {
			return dnshook.Key{Secret: []byte(secret)}, nil
		},
		Inject: func(ctx context.Context, h http.Header) {
			trace, _ := ctx.Value(traceKey{}).(string)
			h.Set("traceparent", trace)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	if _, err := c.Upsert(context.WithValue(t.Context(), traceKey{}, trace), www); err != nil || p.seen != trace {
		t.Errorf("the provider sees %q, %v", p.seen, err)
	}
}

func TestAFullStoreOfNoncesRefuses(t *testing.T) {
	e := run(t, dnshook.HandlerConfig{Provider: &provider{}, Keys: keys(secret), Nonces: &dnshook.MemoryNonces{Max: 1}})
	c := clientOf(t, e.URL)
	if _, err := c.Upsert(t.Context(), www); err != nil {
		t.Fatal(err)
	}
	err := c.Delete(t.Context(), www.ID())
	var full *dnshook.Error
	if !errors.As(err, &full) || full.Status != 503 || full.RetryAfter == 0 {
		t.Errorf("it comes to %v", err)
	}
}

func TestMoreRequestsThanItTakes(t *testing.T) {
	p := &provider{hold: make(chan struct{}), held: make(chan struct{})}
	cfg := unsigned(p)
	cfg.Concurrency = 1
	e := run(t, cfg)
	var first sync.WaitGroup
	first.Go(func() {
		if response, _ := e.send(t, "POST", "/records", example); response.status != 200 {
			t.Errorf("the first is answered %d", response.status)
		}
	})
	<-p.held
	if response, text := e.send(t, "DELETE", www.ID().Path(), ""); response.status != 429 || response.header.Get(
		"Retry-After") != "1" || !strings.Contains(text, "RATE_LIMITED") {
		t.Errorf("the second is answered %d %s", response.status, text)
	}
	close(p.hold)
	first.Wait()
	if response, _ := e.send(t, "DELETE", www.ID().Path(), ""); response.status != 200 {
		t.Errorf("later it is answered %d", response.status)
	}
}

func TestConfigurationsThatAreNone(t *testing.T) {
	now := func() time.Time { return noon }
	for sentence, cfg := range map[string]dnshook.HandlerConfig{
		"no provider":                    {Unsigned: true, Now: now},
		"no clock":                       {Provider: &provider{}, Unsigned: true},
		"neither keys nor the word":      {Provider: &provider{}, Now: now},
		"keys that nobody would look at": {Provider: &provider{}, Now: now, Unsigned: true, Keys: keys(secret)},
		"a path without a slash":         {Provider: &provider{}, Now: now, Unsigned: true, Path: "dns"},
	} {
		if _, err := dnshook.NewHandler(cfg); err == nil {
			t.Errorf("%s is a server", sentence)
		}
	}
}

// together is a provider that takes batches.
type together struct {
	provider
	got   [][]dnshook.Operation
	short bool
}

func (p *together) Batch(ctx context.Context, operations []dnshook.Operation) []error {
	p.got = append(p.got, operations)
	errs := make([]error, len(operations))
	if p.short {
		return nil
	}
	for i, o := range operations {
		if o.Action == dnshook.ActionDelete {
			errs[i] = p.Delete(ctx, o.Record.ID())
		}
	}
	return errs
}

func TestBatches(t *testing.T) {
	one := func(subdomain string, values ...string) dnshook.Record {
		return dnshook.Record{Type: "A", Domain: "example.com", Subdomain: subdomain, Values: values}
	}
	operations := []dnshook.Operation{
		{Action: dnshook.ActionUpsert, Record: one("a", "192.0.2.1")},
		{Action: dnshook.ActionUpsert, Record: one("b", "x")},
		{Action: dnshook.ActionDelete, Record: one("c")},
		{Action: "rename", Record: one("d")},
		{Action: dnshook.ActionDelete, Record: one("e..")},
		{Action: dnshook.ActionDelete, Record: one("a")},
		{Action: dnshook.ActionUpsert, Record: one("f", "192.0.2.2")},
	}
	want := []dnshook.Code{"", dnshook.CodeInvalidValue, "", dnshook.CodeInvalidRecord, "", "", ""}
	for _, p := range []interface {
		dnshook.Provider
		Records() []dnshook.Record
	}{&provider{}, &together{}} {
		e := run(t, dnshook.HandlerConfig{Provider: p, Keys: keys(secret)})
		c := clientOf(t, e.URL)
		if features, err := c.Features(t.Context()); err != nil || len(features) != 1 || features[0] != dnshook.FeatureBatch {
			t.Errorf("it can %v, %v", features, err)
		}
		errs, err := c.Batch(t.Context(), operations)
		if err != nil || len(errs) != len(want) {
			t.Fatalf("%d errors, %v", len(errs), err)
		}
		for i, err := range errs {
			if dnshook.CodeOf(err) != want[i] {
				t.Errorf("operation %d comes to %v, want %q", i, err, want[i])
			}
		}
		if b, ok := p.(*together); ok {
			if len(b.got) != 1 || len(b.got[0]) != 4 {
				t.Errorf("it was given %v", b.got)
			}
		} else if got := p.Records(); len(got) != 1 || got[0].Subdomain != "f" {
			t.Errorf("it has %v", got)
		}
	}
}

func TestBatchesThatAreNone(t *testing.T) {
	e := run(t, unsigned(&provider{}))
	many := strings.Repeat(`,{"operation":"delete","record":{"type":"A","domain":"example.com","subdomain":"x"}}`, 501)[1:]
	for sentence, c := range map[string]struct {
		method, body string
		status       int
	}{
		"nothing to do": {"POST", `{"operations":[]}`, 400}, "one record": {"POST", example, 400},
		"no JSON":       {"POST", `[`, 400},
		"more than 500": {"POST", `{"operations":[` + many + `]}`, 413}, "a look": {"GET", "", 405},
	} {
		if response, text := e.send(t, c.method, "/records/batch", c.body); response.status != c.status {
			t.Errorf("%s: %d %s", sentence, response.status, text)
		}
	}
	if response, text := run(t, unsigned(&together{short: true})).send(t, "POST", "/records/batch",
		`{"operations":[{"operation":"delete","record":{"type":"A","domain":"example.com","subdomain":"x"}}]}`); response.status != 500 {
		t.Errorf("a provider that answers too little: %d %s", response.status, text)
	}
}

func TestAnswersToBatches(t *testing.T) {
	operations := []dnshook.Operation{{Action: dnshook.ActionUpsert, Record: www}}
	for _, c := range []struct {
		sentence string
		status   int
		body     string
		none     bool // the server does not support batches
		code     dnshook.Code
	}{
		{"no such path", 404, "404 page not found", true, ""},
		{"no such path, in JSON", 404, `{"success":false,"error":{"code":"SERVER_ERROR","message":"x"}}`, true, ""},
		{"another method", 405, "", true, ""},
		{"too many", 429, "", false, dnshook.CodeRateLimited},
		{"nothing to read", 200, "ok", false, dnshook.CodeServerError},
		{"too few results", 200, `{"success":true,"results":[]}`, false, dnshook.CodeServerError},
		{"too many results", 200, `{"success":true,"results":[{"success":true},{"success":true}]}`, false,
			dnshook.CodeServerError},
	} {
		errs, err := clientOf(t, serve(t, c.status, c.body).URL).Batch(t.Context(), operations)
		if errors.Is(err, dnshook.ErrNoBatch) != c.none || dnshook.CodeOf(err) != c.code || errs != nil {
			t.Errorf("%s comes to %v, %v", c.sentence, errs, err)
		}
	}
	errs, err := clientOf(t, serve(t, 200,
		`{"success":false,"results":[{"success":false,"error":{"code":"QUOTA_EXCEEDED","message":"full"}}]}`).URL).Batch(
		t.Context(), operations)
	var full *dnshook.Error
	if err != nil || len(errs) != 1 || !errors.As(errs[0], &full) || full.Status != 403 {
		t.Errorf("it comes to %v, %v", errs, err)
	}
}
