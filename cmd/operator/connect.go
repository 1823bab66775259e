package main

import (
	"context"

	protocol "github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/dnshook"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/controller/backends"
	"github.com/zonefold/zonefold/internal/controller/delivery"
)

// A connector makes clients of the backends that a resolved Backend object names: the
// controllers know no backend, and the backends no object.
type connector = func(backends.Settings) ([]delivery.Server, error)

// connects makes clients of a pool.
func connects(pool *all.Pool) connector {
	return func(s backends.Settings) ([]delivery.Server, error) {
		servers, err := pool.Connect(configOf(s))
		if err != nil {
			return nil, err
		}
		out := make([]delivery.Server, 0, len(servers))
		for _, server := range servers {
			out = append(out, delivery.Server{Name: server.Name, View: server.View, Backend: server.Backend})
		}
		return out, nil
	}
}

// hosts opens accounts of providers. Backends are the cluster's own, so they may have the credentials of the operator's
// Pod.
func hosts(pool *all.Pool) func(backends.ProviderSettings) (backends.Hosting, error) {
	return func(s backends.ProviderSettings) (backends.Hosting, error) {
		account, err := pool.Open(all.ProviderConfig{Type: s.Type, Data: s.Data, Region: s.Region, Options: s.Options,
			Surroundings: true})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, anew bool) ([]delivery.Server, error) {
			if r, ok := account.(backend.Refresher); ok && anew {
				r.Refresh()
			}
			if s.Zone == "" {
				zones, err := account.HostedZones(ctx)
				return backends.ServersOf(account, s.Type, zones), err
			}
			zone, err := account.HostedZone(ctx, s.Zone)
			if err != nil {
				return nil, err
			}
			return backends.ServersOf(account, s.Type, []backend.HostedZone{zone}), nil
		}, nil
	}
}

// tables opens registries of external-dns that are in tables.
func tables(pool *all.Pool) func(backends.TableSettings) (func(backend.Backend) backend.Backend, error) {
	return func(s backends.TableSettings) (func(backend.Backend) backend.Backend, error) {
		table, err := pool.Table(s.Name, all.ProviderConfig{Data: s.Data, Region: s.Region, Options: s.Options,
			Surroundings: true})
		if err != nil {
			return nil, err
		}
		return func(b backend.Backend) backend.Backend { return table.Beside(b, s.Owners) }, nil
	}
}

func configOf(s backends.Settings) all.Config {
	var c all.Config
	if e := s.Embedded; e != nil {
		c.Embedded = &all.Embedded{Group: e.Name}
	}
	if r := s.RFC2136; r != nil {
		c.RFC2136 = &all.RFC2136{
			Servers: r.Servers, View: r.View,
			Key: rfc2136.Key{Name: r.KeyName, Algorithm: r.Algorithm, Secret: r.Secret},
		}
	}
	if h := s.DNSHook; h != nil {
		c.DNSHook = &dnshook.Config{
			Server: h.URL, Secret: h.Secret, Algorithm: protocol.Algorithm(h.Algorithm), CABundle: h.CABundle,
			Timeout: h.Timeout, Blind: h.Blind, InRDATA: h.InRDATA,
		}
	}
	if p := s.PowerDNS; p != nil {
		c.PowerDNS = &powerdns.Config{
			URL: p.URL, ServerID: p.ServerID, APIKey: p.APIKey, ZoneKind: p.ZoneKind, CABundle: p.CABundle,
		}
	}
	return c
}
