package main

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
)

func TestPrefixes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an address", "192.0.2.1", "192.0.2.1/32"},
		{"addresses and prefixes", "10.1.2.3/8, 2001:db8::1", "10.0.0.0/8,2001:db8::1/128"},
		{"a name", "example.org", ""},
		{"nothing between commas", "10.0.0.0/8,,", ""},
		{"a prefix that is too long", "10.0.0.0/33", ""},
	} {
		var p prefixes
		if err := p.Set(c.text); (err != nil) != (c.want == "") || err == nil && p.String() != c.want {
			t.Errorf("%s: %q is %q (%v), want %q", c.name, c.text, p.String(), err, c.want)
		}
	}
}

// TestTenantsDoNotReachTheAPIServer has a tenant's Secret name the API server and this Pod.
func TestTenantsDoNotReachTheAPIServer(t *testing.T) {
	for _, c := range []struct{ name, host, pod, service, server string }{
		{"the API server as the Pod finds it", "https://192.0.2.10:443", "192.0.2.30", "192.0.2.10", "http://192.0.2.10:443"},
		{"another address of it", "https://192.0.2.11:6443", "", "192.0.2.10", "https://192.0.2.11:6443"},
		{"a configuration without a scheme", "192.0.2.12:6443", "", "", "https://192.0.2.12:6443"},
		{"the Pod", "https://192.0.2.10", "192.0.2.30", "", "http://192.0.2.30:8080"},
	} {
		guard := tenantServers{}.guard(t.Context(), &rest.Config{Host: c.host}, c.pod, c.service)
		account, err := all.NewPool(time.Now, nil).Open(all.ProviderConfig{
			Type: "powerdns", Data: map[string][]byte{"server": []byte(c.server), "apiKey": []byte("x")}, Guard: guard,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = account.HostedZones(t.Context()); backend.Class(err) != backend.ErrNotAuthorised ||
			!strings.Contains(err.Error(), "of the API server") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestANameOfTheAPIServerIsResolved(t *testing.T) {
	if found := resolve(t.Context(), "localhost"); !slices.ContainsFunc(found, netip.Addr.IsLoopback) {
		t.Errorf("localhost is %v", found)
	}
	if found := resolve(t.Context(), "none.invalid"); found != nil {
		t.Errorf("a name that does not exist is %v", found)
	}
}
