package bind9

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	named "github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/bindcar"
)

// TestErrors has each way of failing lead to its own class.
func TestErrors(t *testing.T) {
	t.Parallel()
	p := startPod(t, named.Primary, false)
	zone := parse(t, "example.org.")
	moved := errors.New("the pod has another address")
	calls := map[string]func(*Client) error{
		"listing": func(c *Client) error { _, err := c.Zones(t.Context()); return err },
		"removing": func(c *Client) error {
			_, err := c.Apply(t.Context(), zone, backend.Batch{Remove: true})
			return err
		},
	}
	for _, c := range []struct {
		name   string
		change func(*grant)
		want   backend.ErrorClass
	}{
		{"a token that is not accepted", func(g *grant) { g.token = "another" }, backend.ErrNotAuthorised},
		{"a key that the server does not know", func(g *grant) { g.update = testKey("stranger") }, backend.ErrNotAuthorised},
		{"a key with another secret", func(g *grant) { g.update.Secret = testKey("stranger").Secret },
			backend.ErrNotAuthorised},
		{"no key", func(g *grant) { g.update = named.Key{} }, backend.ErrNotAuthorised},
		{"another pod at the address", func(g *grant) { g.update, g.gone = testKey("stranger"), moved },
			backend.ErrUnavailable},
		{"a token that is not accepted, at another's address", func(g *grant) { g.token, g.gone = "another", moved },
			backend.ErrUnavailable},
		{"nothing wrong", func(g *grant) { g.gone = moved }, ""},
	} {
		access := newGrant()
		c.change(access)
		for what, call := range calls {
			err := call(p.client(access))
			if backend.Class(err) != c.want {
				t.Errorf("%s, %s: %v, want %s", c.name, what, err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), token) ||
				strings.Contains(err.Error(), access.update.Secret) && access.update.Secret != "") {
				t.Errorf("%s: the error has a secret in it: %v", c.name, err)
			}
		}
		if _, err := p.client(access).Read(t.Context(), zone, backend.Ask{}); access.gone != nil &&
			errors.Is(err, backend.ErrNotAuthorised) {
			t.Errorf("%s, reading: %v", c.name, err)
		}
	}
	if _, err := p.client(newGrant()).Configure(t.Context(), zone); !errors.Is(err, backend.ErrNoZone) {
		t.Errorf("configuring a zone that is not there: %v", err)
	}
	p.stop()
	defer p.start()
	for what, call := range calls {
		if err := call(p.client(newGrant())); !errors.Is(err, backend.ErrUnavailable) {
			t.Errorf("%s at a server that is down: %v", what, err)
		}
	}
}

// TestAnotherPodOfTheInstance is at the address: it knows the keys and takes the token.
func TestAnotherPodOfTheInstance(t *testing.T) {
	t.Parallel()
	p := startPod(t, named.Primary, false)
	place := p.place()
	place.ID = "another"
	c, err := New(Config{Endpoint: place, Access: newGrant(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Zones(t.Context()); !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("asking it: %v", err)
	}
}

func TestThrottling(t *testing.T) {
	t.Parallel()
	p := startPod(t, named.Primary, false)
	p.stopSidecar()
	p.bindcar.Limit = bindcar.Limit{Enabled: true, Requests: 1, Period: 30 * time.Second, Burst: 1}
	p.startSidecar()
	c := p.client(newGrant())
	var err error
	for range 2 {
		_, err = c.Zones(t.Context())
	}
	detail, ok := errors.AsType[*backend.Error](err)
	if !ok || detail.Class != backend.ErrThrottled || detail.After <= 0 || detail.After > 30*time.Second {
		t.Errorf("the second of two calls: %v", err)
	}
}

// TestTheTokenIsForThePodOnly puts something at the address of a sidecar while what is at the DNS address does not know
// the key.
func TestTheTokenIsForThePodOnly(t *testing.T) {
	t.Parallel()
	var heard atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	defer thief.Close()
	p := startPod(t, named.Primary, false)
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	deaf.Close()
	stranger := newGrant()
	stranger.update = testKey("stranger")
	for _, c := range []struct {
		access Access
		dns    string
	}{{stranger, p.address().String()}, {newGrant(), deaf.Addr().String()}} {
		at := Endpoint{ID: "x", DNS: c.dns, Sidecar: thief.URL}
		client, err := New(Config{Endpoint: at, Access: c.access, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Zones(t.Context()); err == nil || heard.Load() != 0 {
			t.Errorf("%v; the sidecar's address got %d requests", err, heard.Load())
		}
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, place := range []Endpoint{
		{DNS: "192.0.2.1:53", Sidecar: "192.0.2.1:8080"},
		{DNS: "192.0.2.1:53", Sidecar: "http://user:password@192.0.2.1"},
		{DNS: "192.0.2.1:port", Sidecar: "http://192.0.2.1:8080"},
	} {
		if c, err := New(Config{Endpoint: place, Access: newGrant(), Now: time.Now}); err == nil {
			t.Errorf("%+v is taken as %s", place, c.Server())
		} else if strings.Contains(err.Error(), "password") {
			t.Errorf("the error has a password in it: %v", err)
		}
	}
}
