package webhook

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// An exchange is one request that came by, and the status of the answer of the server behind; 0: it was not asked.
type exchange struct {
	method, path string
	header       http.Header
	body         []byte
	status       int
}

// A proxy stands between the operator and a server, keeps what comes by, and breaks some of it.
type proxy struct {
	*httptest.Server
	t      *testing.T
	target string

	mu     sync.Mutex
	random *rand.Rand // nil: nothing is broken
	seen   []exchange
	broken map[string]int // by the sentence of the fault
	strays int            // requests that came by a redirect
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	p := &proxy{t: t, target: target, broken: map[string]int{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

// breaks begins with faults, always the same ones for a seed; 0 ends them.
func (p *proxy) breaks(seed uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.random = nil; seed != 0 {
		p.random = rand.New(rand.NewPCG(seed, 0)) // it is to be repeated
	}
}

// take returns what came by since it was called last.
func (p *proxy) take() []exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.seen = nil }()
	return p.seen
}

// drawn is the fault for a request; nil: it is left alone, as is every third one.
func (p *proxy) drawn() *fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.random == nil || p.random.IntN(3) == 0 {
		return nil
	}
	return &faults[p.random.IntN(len(faults))]
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.URL.Path == "/stray" {
		p.mu.Lock()
		p.strays++
		p.mu.Unlock()
		return
	}
	x := exchange{r.Method, r.URL.RequestURI(), r.Header.Clone(), body, 0}
	f := p.drawn()
	if f != nil && f.before != nil {
		p.note(x, f)
		f.before(w, r)
		return
	}
	// What the client gives up is finished all the same: else it could come after what the client sends next.
	answer, err := x.send(context.WithoutCancel(r.Context()), p.target)
	if err != nil {
		p.t.Errorf("the server behind does not answer %s %s: %v", x.method, x.path, err)
		return
	}
	x.status = answer.status
	if x.status/100 != 2 {
		f = nil
	}
	p.note(x, f)
	if f != nil && f.after != nil {
		f.after(w, r, answer.text)
		return
	}
	for name, values := range answer.header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.text)
}

// note keeps an exchange, and counts what becomes of it; nil: it is left alone.
func (p *proxy) note(x exchange, f *fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, x)
	if f != nil {
		p.broken[f.sentence]++
	}
}

// A reply is what a server answers.
type reply struct {
	status int
	header http.Header
	text   []byte
}

// send sends a request as it came, signature and all.
func (x *exchange) send(ctx context.Context, target string) (out reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, x.method, target+x.path, bytes.NewReader(x.body))
	if err != nil {
		return out, err
	}
	r.Header = x.header.Clone()
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return out, err
	}
	defer func() { _ = answer.Body.Close() }()
	out.status, out.header = answer.StatusCode, answer.Header
	out.text, err = io.ReadAll(answer.Body)
	return out, err
}

// A fault is one way to break an exchange: before the server has had the request, or after it has done what was asked.
// A fault never says that something was done that was not: no client can see through that.
type fault struct {
	sentence string
	before   func(w http.ResponseWriter, r *http.Request)
	after    func(w http.ResponseWriter, r *http.Request, text []byte)
}

var faults = []fault{
	{sentence: "nothing answers, and the request is lost", before: func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}},
	{sentence: "nothing answers, and the request was done", after: func(_ http.ResponseWriter, r *http.Request, _ []byte) {
		<-r.Context().Done()
	}},
	{sentence: "the connection is reset, and the request is lost", before: func(w http.ResponseWriter, _ *http.Request) {
		reset(w, "")
	}},
	{sentence: "the connection is reset, and the request was done", after: func(w http.ResponseWriter, _ *http.Request,
		_ []byte) {
		reset(w, "")
	}},
	{sentence: "something answers that is no HTTP", before: func(w http.ResponseWriter, _ *http.Request) {
		reset(w, "SSH-2.0-none\r\n")
	}},
	{sentence: "500 without a body", before: says(500, "")},
	{sentence: "500 with JSON", before: says(500, `{"success":false,"error":{"code":"SERVER_ERROR","message":"no"}}`)},
	{sentence: "503 with a page", before: says(503, "<html>try later</html>")},
	{sentence: "200 that says that it failed",
		before: says(200, `{"success":false,"error":{"code":"SERVER_ERROR","message":"no"}}`)},
	{sentence: "404 with JSON", before: lost(
		says(404, `{"success":false,"error":{"code":"RECORD_NOT_FOUND","message":"none"}}`))},
	{sentence: "404 without JSON", before: lost(says(404, "404 page not found"))},
	{sentence: "a redirect", before: says(307, "", "Location", "/stray")},
	{sentence: "a redirect that turns into GET", before: says(302, "", "Location", "/stray")},
	{sentence: "429 with Retry-After",
		before: says(429, `{"success":false,"error":{"code":"RATE_LIMITED","message":"slower"}}`, "Retry-After", "1")},
	{sentence: "a body that comes slowly", after: slowly(20 * time.Millisecond)},
	{sentence: "a body that never ends", after: slowly(time.Hour)},
	{sentence: "JSON that ends in the middle", after: func(w http.ResponseWriter, _ *http.Request, text []byte) {
		_, _ = w.Write(text[:len(text)/2])
	}},
	{sentence: "a body that is shorter than announced", after: func(w http.ResponseWriter, _ *http.Request, text []byte) {
		reset(w, "HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n"+string(text))
	}},
	{sentence: "204 without a body", after: func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.WriteHeader(http.StatusNoContent)
	}},
}

// says answers.
func says(status int, body string, headers ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// lost is an answer that means success to a DELETE, which gets none.
func lost(answer func(http.ResponseWriter, *http.Request)) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			reset(w, "")
			return
		}
		answer(w, r)
	}
}

// slowly sends an answer in pieces with a pause between them, for as long as the client listens.
func slowly(pause time.Duration) func(http.ResponseWriter, *http.Request, []byte) {
	return func(w http.ResponseWriter, r *http.Request, text []byte) {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for at := 0; at < len(text); at += 16 {
			_, _ = w.Write(text[at:min(at+16, len(text))])
			_ = http.NewResponseController(w).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	}
}

// reset sends octets as they are, and ends the connection without saying goodbye.
func reset(w http.ResponseWriter, text string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, text)
	if tcp, ok := conn.(*net.TCPConn); ok && text == "" {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
