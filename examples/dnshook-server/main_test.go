package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/dnshook/conformance"
)

// TestConformance asks the server everything, twice, with a new start in between.
func TestConformance(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("a secret of sixteen"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := dnshook.Record{Type: "A", Domain: "example.com", Subdomain: "kept", Values: []string{"192.0.2.1"}, TTL: 60}
	for i := range 2 {
		z, err := open("example.com", filepath.Join(dir, "zone"), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		h, err := handler(z, secret)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(h)
		results, err := conformance.Run(t.Context(), conformance.Config{
			Server: s.URL, Key: &dnshook.Key{Secret: []byte("a secret of sixteen")}, Domain: "example.com", Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Verdict != conformance.Pass {
				t.Errorf("%s: %s: %s", r.Check, r.Verdict, r.Sentence)
			}
		}
		s.Close()
		if _, err := z.Get(t.Context(), kept.ID()); i == 0 {
			err = z.Upsert(t.Context(), kept)
			if err != nil {
				t.Error(err)
			}
		} else if err != nil {
			t.Errorf("after a new start: %v", err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "zone"))
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); err != nil || len(lines) != 3 ||
		lines[2] != "kept.example.com. 60 IN A 192.0.2.1" {
		t.Errorf("the zone file is\n%s", text)
	}
}

func TestAnAliasStandsAlone(t *testing.T) {
	z, err := open("example.com", filepath.Join(t.TempDir(), "zone"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sentence, kind, subdomain, value string
		want                             dnshook.Code
	}{
		{"an address", "A", "www", "192.0.2.1", ""},
		{"an alias beside it", "CNAME", "www", "example.net", dnshook.CodeInvalidRecord},
		{"an alias", "CNAME", "alias", "example.net", ""},
		{"an address beside it", "A", "alias", "192.0.2.1", dnshook.CodeInvalidRecord},
		{"an alias beside the SOA", "CNAME", "@", "example.net", dnshook.CodeInvalidRecord},
	} {
		r := dnshook.Record{Type: c.kind, Domain: "example.com", Subdomain: c.subdomain, Values: []string{c.value}, TTL: 60}
		if got := dnshook.CodeOf(z.Upsert(t.Context(), r)); got != c.want {
			t.Errorf("%s comes to %q, want %q", c.sentence, got, c.want)
		}
	}
}

// TestTheGuideIsThisServer holds the code of the guide to the code here.
func TestTheGuideIsThisServer(t *testing.T) {
	guide, err := os.ReadFile("../../docs/dnshook-server.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(guide, -1)
	if len(blocks) < 4 {
		t.Errorf("the guide has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(code), string(b[1])) {
			t.Errorf("main.go does not have\n%s", b[1])
		}
	}
}
