package all

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
)

// TestServersOfTenants has a server that answers with what its caller alone may see: an account of a tenant is not
// told, and one that may not be reached is not asked.
func TestServersOfTenants(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("a secret of the inside"))
	}))
	defer s.Close()
	allows := dialguard.New(dialguard.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	address := strings.TrimPrefix(s.URL, "http://")
	for _, c := range []struct {
		name, provider string
		data           map[string]string
	}{
		{"PowerDNS", "powerdns", map[string]string{"server": s.URL, "apiKey": "x"}},
		{"a webhook of external-dns", "external-dns-webhook", map[string]string{"url": s.URL}},
		{"a server of UPDATE messages", "rfc2136", map[string]string{
			"Server": address, "TSIGKeyName": "k.", "TSIGSecret": "MDEyMzQ1Njc4OWFiY2RlZg==",
			"TSIGSecretAlgorithm": "hmac-sha256", "Zone": "example.org",
		}},
	} {
		for _, g := range []struct {
			name  string
			guard *dialguard.Guard
			class backend.ErrorClass
		}{
			{"that may not be reached", dialguard.New(dialguard.Config{}), backend.ErrNotAuthorised},
			{"that may be reached", allows, backend.ErrUnavailable},
		} {
			if c.provider == "rfc2136" && g.guard == allows {
				continue // what is no DNS message is never shown, whoever chose the server
			}
			asked = 0
			data := map[string][]byte{}
			for key, value := range c.data {
				data[key] = []byte(value)
			}
			account, err := NewPool(time.Now, nil).Open(ProviderConfig{Type: c.provider, Data: data, Guard: g.guard})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			_, err = account.HostedZones(t.Context())
			if backend.Class(err) != g.class || strings.Contains(err.Error(), "secret of the inside") {
				t.Errorf("%s %s: %v", c.name, g.name, err)
			}
			if reached := asked > 0; reached && g.guard != allows {
				t.Errorf("%s %s was asked", c.name, g.name)
			}
		}
	}
}
