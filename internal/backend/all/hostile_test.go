package all

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/extdns"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/endpoint"
	"github.com/zonefold/zonefold/internal/rr"
)

// endless repeats something for as long as somebody reads.
type endless struct {
	begin, again string
	at           int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if e.at < len(e.begin) {
			c := copy(p[n:], e.begin[e.at:])
			n, e.at = n+c, e.at+c
			continue
		}
		i := (e.at - len(e.begin)) % len(e.again)
		c := copy(p[n:], e.again[i:])
		n, e.at = n+c, e.at+c
	}
	return n, nil
}

// babbler serves over HTTP what has no end.
func babbler(t *testing.T, contentType, begin, again string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.Copy(w, &endless{begin: begin, again: again})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// transferrer is a name server that answers AXFR and IXFR with messages of compressed records without end.
func transferrer(t *testing.T, increment bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	soa := func(serial uint32) dns.RR {
		return &dns.SOA{Hdr: dns.RR_Header{Name: "example.org.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 60},
			Ns: "ns.example.org.", Mbox: "host.example.org.", Serial: serial, Refresh: 1, Retry: 1, Expire: 1}
	}
	long := strings.Repeat(strings.Repeat("a", 60)+".", 3) + "example.org."
	var records []dns.RR
	for range 1200 {
		records = append(records, &dns.NS{Hdr: dns.RR_Header{Name: long, Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 60},
			Ns: long})
	}
	s := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		m := new(dns.Msg).SetReply(r)
		m.Compress = true
		if kind := r.Question[0].Qtype; kind != dns.TypeAXFR && kind != dns.TypeIXFR {
			m.Answer = []dns.RR{soa(9)}
			_ = w.WriteMsg(m)
			return
		}
		m.Answer = []dns.RR{soa(9)}
		if increment {
			m.Answer = append(m.Answer, soa(1))
		}
		for m.Answer = append(m.Answer, records...); w.WriteMsg(m) == nil; m.Answer = records {
		}
	})}
	go func() { _ = s.ActivateAndServe() }()
	t.Cleanup(func() { _ = s.Shutdown() })
	return l.Addr().String()
}

func powerdnsAt(url string) Config {
	return Config{PowerDNS: &powerdns.Config{URL: url, APIKey: "key-of-a-test"}}
}

// TestServersThatNeverEnd has servers of all protocols answer without end, at the same time: each reading ends with an
// error that names the limit, memory stays within it, and a good server is read beside them.
func TestServersThatNeverEnd(t *testing.T) {
	const memory = 64 << 20
	p := NewPool(time.Now, nil).Bound(budget.NewPool(memory))
	zone, err := dnsname.Parse("example.org.")
	if err != nil {
		t.Fatal(err)
	}
	read := func(cfg Config, known *backend.Known) func(context.Context) error {
		servers, err := p.Connect(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context) error {
			_, err := servers[0].Backend.Read(ctx, zone, backend.Ask{Known: known})
			return err
		}
	}
	webhook := func(begin, again string) func(context.Context) error {
		account, err := p.extdnsAccount(extdns.Config{URL: babbler(t, endpoint.MediaType, begin, again)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context) error {
			_, err := account.HostedZones(ctx)
			return err
		}
	}
	readings := map[string]func(context.Context) error{
		"a transfer of compressed names": read(Config{RFC2136: &RFC2136{Servers: []string{transferrer(t, false)}}}, nil),
		"an increment": read(Config{RFC2136: &RFC2136{Servers: []string{transferrer(t, true)}}},
			&backend.Known{SOA: rr.SOA{MName: zone, RName: zone, Serial: 1}}),
		"PowerDNS with empty sets": read(powerdnsAt(babbler(t, "application/json", `{"kind":"Native","rrsets":[`,
			`{},`)), nil),
		"PowerDNS with one long text":    read(powerdnsAt(babbler(t, "application/json", `{"kind":"`, `x`)), nil),
		"a webhook with empty endpoints": webhook(`[`, `{},`),
		"a webhook with many filters":    webhook(`{"filters":[`, `"a",`),
	}
	var before, most runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	type result struct {
		name string
		err  error
	}
	results := make(chan result)
	for name, f := range readings {
		go func() { results <- result{name, f(ctx)} }()
	}
	for range readings {
		r := <-results
		class := backend.Class(r.err)
		if class != backend.ErrTooLarge && class != backend.ErrThrottled || !strings.Contains(r.err.Error(), "octets") {
			t.Errorf("%s: %v", r.name, r.err)
		}
		var e *backend.Error
		if errors.As(r.err, &e) && class == backend.ErrTooLarge && strings.Contains(e.Error(), "memory") &&
			!strings.Contains(e.Error(), "--read-memory") {
			t.Errorf("%s names no way out: %v", r.name, r.err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&most)
	if grown := int64(most.HeapAlloc) - int64(before.HeapAlloc); grown > memory {
		t.Errorf("afterwards the heap has %d octets more", grown)
	}
	var one bytes.Buffer
	one.WriteString(`{"filters":["example.org"]}`)
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", endpoint.MediaType)
		_, _ = w.Write(one.Bytes())
	}))
	defer good.Close()
	account, err := p.extdnsAccount(extdns.Config{URL: good.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if zones, err := account.HostedZones(ctx); err != nil || len(zones) != 1 {
		t.Errorf("a good server beside them: %v, %v", zones, err)
	}
}

// TestAGoodServerBesideServersThatStall has two servers send almost as much as one reading may cost, and then nothing.
func TestAGoodServerBesideServersThatStall(t *testing.T) {
	const memory = 16 << 20
	p := NewPool(time.Now, nil).Bound(budget.NewPool(memory))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 2)
	for range 2 {
		sent := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", endpoint.MediaType)
			_, _ = io.WriteString(w, `{"filters":["`+strings.Repeat("x", memory/2-(64<<10)))
			_ = http.NewResponseController(w).Flush()
			close(sent)
			<-r.Context().Done()
		}))
		defer s.Close()
		account, err := p.extdnsAccount(extdns.Config{URL: s.URL}, nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, err := account.HostedZones(ctx)
			ended <- err
		}()
		<-sent
	}
	filters := `{"filters":["example.org"` + strings.Repeat(`,"a.example.org"`, 150_000) + "]}" // more than is free
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", endpoint.MediaType)
		_, _ = io.WriteString(w, filters)
	}))
	defer good.Close()
	account, err := p.extdnsAccount(extdns.Config{URL: good.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := account.HostedZones(ctx); err != nil {
		t.Errorf("two servers that stall keep a good one from being read: %v", err)
	}
	cancel()
	for range 2 {
		<-ended
	}
}
