package powerdns

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/secretdata"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// FromSecret reads the keys that the controllers of Gardener read for the provider type powerdns. There is no region
// and there are no options.
func FromSecret(data map[string][]byte, _ string, options map[string]string) (Config, error) {
	r := secretdata.New(data, options)
	cfg := Config{ // with the defaults of Backend objects, so that one server has one client
		ZoneKind: "Native",
		URL:      strings.TrimSuffix(r.Need("Server", "server"), "/"), APIKey: r.Need("ApiKey", "apiKey"),
		ServerID: cmp.Or(r.Text("VirtualHost", "virtualHost"), "localhost"), CABundle: r.Lines("TrustedCaCert",
			"trustedCaCert"),
		InsecureSkipVerify: r.Bool("InsecureSkipVerify", "insecureSkipVerify"),
	}
	if cfg.URL != "" && !strings.Contains(cfg.URL, "://") {
		r.Fail("the value of Server is not a URL; write one such as http://pdns.example.org:8081")
	}
	return cfg, r.Err()
}

// An Account is a server as a provider.
type Account struct{ client *Client }

var _ backend.Account = (*Account)(nil)

// NewAccount makes an Account of a client.
func NewAccount(client *Client) *Account { return &Account{client} }

// HostedZones lists the zones of the server.
func (a *Account) HostedZones(ctx context.Context) ([]backend.HostedZone, error) {
	names, err := a.client.Zones(ctx)
	if err != nil {
		return nil, err
	}
	zones := make([]backend.HostedZone, len(names))
	for i, name := range names {
		zones[i] = a.hosted(name)
	}
	return zones, nil
}

// HostedZone looks for a zone by its name, with or without the final dot.
func (a *Account) HostedZone(ctx context.Context, id string) (backend.HostedZone, error) {
	name, err := dnsname.Parse(strings.TrimSuffix(id, ".") + ".")
	if err != nil {
		return backend.HostedZone{}, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
			"a zone of PowerDNS is identified by its name: %w", err)}
	}
	var z zone
	if err := a.client.call(ctx, request{method: http.MethodGet, path: zonePath(name), query: "rrsets=false",
		inZone: true}, &z); err != nil {
		return backend.HostedZone{}, fmt.Errorf("looking for zone %s at %s: %w", name, a.client.Server(), err)
	}
	return a.hosted(name), nil
}

func (a *Account) hosted(name dnsname.Name) backend.HostedZone {
	return backend.HostedZone{ID: name.String(), Name: name, Target: backend.TargetKey{Server: a.client.Title(),
		Zone: name}}
}

// Backend returns the client, which knows zones by their names.
func (a *Account) Backend(backend.HostedZone) backend.Backend { return a.client }
