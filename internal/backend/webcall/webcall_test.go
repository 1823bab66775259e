package webcall

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
)

func judge(a Answer) *backend.Error {
	class := backend.ErrRejected
	if a.Status == http.StatusTooManyRequests {
		class = backend.ErrThrottled
	}
	return &backend.Error{Class: class, Words: Words(a.Status, a.Text())}
}

func TestCalls(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		case "/busy":
			w.Header().Set("Retry-After", "12")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/bad":
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, strings.Repeat("long\n", 1000))
		case "/gone":
			panic(http.ErrAbortHandler)
		default:
			io.WriteString(w, strings.Repeat("x", 11))
		}
	}))
	defer s.Close()
	bundle := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	client := func(most int64, bundle string) *http.Client {
		c, err := NewClient(Config{CABundle: bundle, MaxAnswer: most, Judge: judge, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		name, path string
		client     *http.Client
		class      backend.ErrorClass
		after      time.Duration
	}{
		{"a good answer", "/", client(11, bundle), "", 0},
		{"an answer that is too long", "/", client(10, bundle), backend.ErrTooLarge, 0},
		{"a certificate of nobody that is trusted", "/", client(11, ""), backend.ErrUnavailable, 0},
		{"a redirect", "/away", client(11, bundle), backend.ErrUnavailable, 0},
		{"a connection that breaks", "/gone", client(11, bundle), backend.ErrUnavailable, 0},
		{"too many calls", "/busy", client(11, bundle), backend.ErrThrottled, 12 * time.Second},
		{"a bad call", "/bad", client(11, bundle), backend.ErrRejected, 0},
	} {
		resp, err := c.client.Get(s.URL + c.path)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if backend.Class(err) != c.class {
			t.Errorf("%s: %v, want class %q", c.name, err, c.class)
		}
		if e, ok := errors.AsType[*backend.Error](err); ok && (e.After != c.after || len([]rune(e.Words)) > 520) {
			t.Errorf("%s: %d characters, after %v", c.name, len(e.Words), e.After)
		}
	}
	if _, err := NewClient(Config{CABundle: "x"}); err == nil {
		t.Error("a bundle without certificates is taken")
	}
}

func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"https://API.example.org/v1/": "https://api.example.org:443/v1", "http://x": "http://x:80",
		"http://x:81/": "http://x:81",
		"ftp://x":      "", "https://": "", "https://u:s3cret@x": "", "http://x?s3cret": "", "http://x/#s3cret": "",
		"://s3cret": "", "x": "",
	} {
		u, err := URL("a test", text)
		switch {
		case want != "" && (err != nil || u.String() != want):
			t.Errorf("%s is %v (%v), want %s", text, u, err, want)
		case want == "" && (err == nil || strings.Contains(err.Error(), "u:s3cret")):
			t.Errorf("%s: %v", text, err)
		}
	}
}
