package powerdns

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func name(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fake answers every request in one way.
func fake(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	c, err := New(Config{URL: s.URL + "/behind/a/proxy", APIKey: "secret-of-a-test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func saying(status int, header, value, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if header != "" {
			w.Header().Set(header, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestAnswers(t *testing.T) {
	const jsonType = "application/json"
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		class  backend.ErrorClass
		text   string
		after  time.Duration
	}{
		{"a key that may not", saying(403, "", "", "Forbidden"), backend.ErrNotAuthorised, "HTTP 403", 0},
		{"a redirect", saying(308, "Location", "http://192.0.2.1/", ""), backend.ErrUnavailable, "redirect", 0},
		{"too many requests", saying(429, "Retry-After", "17", "slow down"), backend.ErrThrottled, "429", 17 * time.Second},
		{"too many requests, no word until when", saying(429, "", "", ""), backend.ErrThrottled, "429", 0},
		{"busy for a while", saying(503, "Retry-After", "3", ""), backend.ErrThrottled, "503", 3 * time.Second},
		{"busy", saying(503, "", "", ""), backend.ErrUnavailable, "503", 0},
		{"a proxy without its server", saying(502, "Content-Type", "text/plain", "no upstream"), backend.ErrUnavailable,
			"HTTP 502: no upstream", 0},
		{"a failed transaction", saying(500, "Content-Type", jsonType, `{"error":"disk full"}`), backend.ErrUnavailable,
			"HTTP 500: disk full", 0},
		{"several errors", saying(422, "Content-Type", jsonType, `{"error":"one","errors":["two","three"]}`),
			backend.ErrUnavailable, "one two three", 0},
		{"a page", saying(200, "Content-Type", "text/html", "<html>"), backend.ErrUnavailable, "cannot be read", 0},
		{"an answer cut off", saying(200, "Content-Type", jsonType, `{"name":"example.org.","rrsets":[`),
			backend.ErrUnavailable, "cannot be read", 0},
		{"nothing", saying(200, "", "", ""), backend.ErrUnavailable, "cannot be read", 0},
		{"two answers", saying(200, "", "", `{"name":"example.org."} {}`), backend.ErrUnavailable, "something follows its end", 0},
		{"another zone", saying(200, "", "", `{"name":"example.com."}`), backend.ErrUnavailable, `zone "example.com."`, 0},
		{"a name that is none", saying(200, "", "", `{"name":"example.org.","rrsets":[{"name":"a..b.","type":"A"}]}`),
			backend.ErrUnavailable, "a..b.", 0},
		{"an invalid type", saying(200, "", "",
			`{"name":"example.org.","rrsets":[{"name":"a.","type":"NOPE","records":[{"content":"x"}]}]}`),
			backend.ErrUnavailable, "NOPE", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := fake(t, c.answer).Read(t.Context(), name(t, "example.org."), backend.Ask{})
			if backend.Class(err) != c.class || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, want %s with %q", err, c.class, c.text)
			}
			if detail, ok := errors.AsType[*backend.Error](err); !ok || detail.After != c.after {
				t.Errorf("it says to wait for %v, want %v", detail, c.after)
			}
			if err != nil && strings.Contains(err.Error(), "secret-of-a-test") {
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
}

func TestRefusedWrites(t *testing.T) {
	for status, temporary := range map[int]bool{400: false, 413: false, 422: false, 500: true} {
		c := fake(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				io.WriteString(w, `{"name":"example.org.","kind":"Native","serial":1}`)
				return
			}
			w.WriteHeader(status)
			io.WriteString(w, strings.Repeat("long ", 100_000))
		})
		_, err := c.Apply(t.Context(), name(t, "example.org."),
			backend.Batch{SOA: &rr.SOA{MName: dnsname.Root, RName: dnsname.Root}})
		detail, ok := errors.AsType[*backend.Error](err)
		if !ok || detail.Class != backend.ErrRejected || detail.Temporary != temporary || len(err.Error()) > 2000 {
			t.Errorf("HTTP %d to a PATCH is %v", status, err)
		}
	}
}

func TestRequests(t *testing.T) {
	var path, key, query string
	c := fake(t, func(w http.ResponseWriter, r *http.Request) {
		path, query, key = r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Get("X-API-Key")
		w.WriteHeader(http.StatusNotFound)
	})
	for zone, want := range map[string]string{
		"example.org.": "example.org.", ".": "=2E", "0/25.in-addr.arpa.": "0=2F25.in-addr.arpa.", `a\.b.`: "a=5C.b.",
	} {
		_, err := c.Read(t.Context(), name(t, zone), backend.Ask{})
		if !errors.Is(err, backend.ErrNoZone) {
			t.Error(err)
		}
		if path != "/behind/a/proxy/api/v1/servers/localhost/zones/"+want || query != "" || key != "secret-of-a-test" {
			t.Errorf("%s is asked for at %s?%s", zone, path, query)
		}
	}
}

func TestCertificates(t *testing.T) {
	s := httptest.NewTLSServer(saying(200, "", "", `[]`))
	defer s.Close()
	s.Config.ErrorLog = nil
	bundle := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	for text, ok := range map[string]bool{bundle: true, "": false} {
		c, err := New(Config{URL: s.URL, APIKey: "k", CABundle: text})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Zones(t.Context()); (err == nil) != ok {
			t.Errorf("with a bundle of %d octets the server is trusted: %v", len(text), err)
		}
	}
}

func TestConfigs(t *testing.T) {
	good := Config{URL: "https://pdns.example.org", APIKey: "k"}
	for what, change := range map[string]func(*Config){
		"no URL": func(c *Config) { c.URL = "" }, "another scheme": func(c *Config) { c.URL = "ftp://pdns" },
		"a user": func(c *Config) { c.URL = "https://user:word@pdns" }, "a query": func(c *Config) {
			c.URL = "https://pdns?x=y"
		},
		"no key": func(c *Config) { c.APIKey = "" }, "a key with a line break": func(c *Config) { c.APIKey = "a\nb" },
		"another kind": func(c *Config) { c.ZoneKind = "Slave" }, "no certificates": func(c *Config) { c.CABundle = "x" },
	} {
		cfg := good
		change(&cfg)
		if _, err := New(cfg); err == nil || strings.Contains(err.Error(), "word") {
			t.Errorf("a configuration with %s: %v", what, err)
		}
	}
	c, err := New(good)
	if err != nil || c.Server() != "https://pdns.example.org:443/api/v1/servers/localhost" {
		t.Errorf("the server is %s (%v)", c.Server(), err)
	}
}

func TestSizeIsAnUpperBound(t *testing.T) {
	for _, set := range []rr.Set{
		rr.NewSet(rr.Key{Name: name(t, `a\"b\\c.example.org.`), Type: rr.TypeTXT}, 4294967295, `"a \"quoted\" \\ text"`,
			`"second"`),
		rr.NewSet(rr.Key{Name: name(t, "a.example.org."), Type: rr.TypeHIP}, 1, "2 200100107B1A74DF365639CC39F1D578 AwEA"),
		rr.NewSet(rr.Key{Name: name(t, "a.example.org."), Type: rr.TypeAAAA}, 1, "::ffff:192.0.2.1"),
	} {
		change := plan.Change{Key: set.Key(), Want: set}
		out, err := toRRset(change)
		if err != nil {
			t.Fatal(err)
		}
		b, err := encode(out)
		if err != nil || len(b) > size(change) {
			t.Errorf("%s takes %d octets, size says %d (%v)", set.Key(), len(b), size(change), err)
		}
	}
}

// FuzzZones reads anything as a zone: nothing may panic, and what is read can be written.
func FuzzZones(f *testing.F) {
	f.Add("www.example.org.", "A", "192.0.2.1", uint32(300))
	f.Add(`a\.b.example.org.`, "TXT", `"x" "y"`, uint32(0))
	f.Add("x.", "SPF", `"x"`, uint32(1))
	f.Add("x.", "IPSECKEY", `10 0 2 AQ==`, uint32(1))
	f.Add("x.", "HIP", `\# 0 `, uint32(1))
	f.Add("x.", "SVCB", `1 . alpn=h2 ech="AA==" key8=""`, uint32(1))
	f.Fuzz(func(t *testing.T, owner, typ, content string, ttl uint32) {
		z := zone{RRsets: []rrset{{Name: owner, Type: typ, TTL: ttl, Records: []record{{Content: content}}}}}
		found, err := fromZone(z)
		if err != nil {
			return
		}
		for set := range found.Sets.All() {
			change := plan.Change{Key: set.Key(), Want: set}
			out, err := toRRset(change)
			if err != nil {
				continue // content of the server's own that is no rdata
			}
			if b, err := encode(out); err != nil || len(b) > size(change)+len(content)*6 {
				t.Errorf("%v takes %d octets, size says %d (%v)", out, len(b), size(change), err)
			}
			again, ok, err := fromRRset(out)
			if err != nil || !ok || again.Key() != set.Key() {
				t.Errorf("%v was written as %v and read as %v (%v)", set, out, again, err)
			}
		}
	})
}
