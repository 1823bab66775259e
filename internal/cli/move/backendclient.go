package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	dialect "github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// Connect returns the servers of a Backend for a zone, which hold the same.
func (r Reached) Connect(ctx context.Context, pool *all.Pool, name dnsname.Name) ([]all.Server, error) {
	spec := &r.Object.Spec
	var cfg all.Config
	switch {
	case spec.RFC2136 != nil:
		key, err := r.key(ctx, spec.RFC2136.TSIG)
		if err != nil {
			return nil, err
		}
		cfg.RFC2136 = &all.RFC2136{Servers: spec.RFC2136.Servers, View: spec.RFC2136.View, Key: key}
	case spec.PowerDNS != nil:
		key, err := r.Value(ctx, spec.PowerDNS.SecretRef)
		if err != nil {
			return nil, err
		}
		full := dialect.PowerDNS(*spec.PowerDNS)
		cfg.PowerDNS = &powerdns.Config{URL: full.URL, APIKey: key, ServerID: full.ServerID, ZoneKind: full.ZoneKind,
			CABundle: full.CABundle}
	case spec.Provider != nil:
		client, err := r.provider(ctx, pool, name)
		return []all.Server{{Name: spec.Provider.Type, Backend: client}}, err
	case spec.Embedded != nil, spec.Bind9 != nil:
		return nil, errors.New("its servers are name servers; transfer the zone from one with import axfr, or read what " +
			"the operator has published with export")
	case spec.DNSClass != nil:
		return nil, errors.New("its server belongs to a DNSClass, whose records are already DNSRecords")
	default:
		return nil, errors.New("its spec names no kind of server; name one, such as rfc2136")
	}
	return pool.Connect(cfg)
}

// Beside has servers show what the table says that a registry of external-dns is in.
func (r Reached) Beside(ctx context.Context, pool *all.Pool, servers []all.Server) ([]all.Server, error) {
	t := dialect.TableOf(&r.Object.Spec)
	if t == nil {
		return servers, nil
	}
	var data map[string][]byte
	if t.SecretRef != nil {
		var err error
		if data, err = r.Secret(ctx, cmp.Or(t.SecretRef.Namespace, r.Operator), t.SecretRef.Name); err != nil {
			return nil, err
		}
	}
	table, err := pool.Table(t.Name, all.ProviderConfig{Data: data, Region: t.Region, Options: t.Options,
		Surroundings: r.Surroundings})
	if err != nil {
		return nil, err
	}
	for i := range servers {
		servers[i].Backend = table.Beside(servers[i].Backend, nil) // nothing is written
	}
	return servers, nil
}

// provider returns the client for a zone of an account.
func (r Reached) provider(ctx context.Context, pool *all.Pool, name dnsname.Name) (backend.Backend, error) {
	p := r.Object.Spec.Provider
	options := maps.Clone(p.Config)
	id := options["zone"] // which names a zone by its ID; the other options are the service's
	delete(options, "zone")
	var data map[string][]byte
	if p.SecretRef != nil {
		var err error
		if data, err = r.Secret(ctx, cmp.Or(p.SecretRef.Namespace, r.Operator), p.SecretRef.Name); err != nil {
			return nil, err
		}
	}
	account, err := pool.Open(all.ProviderConfig{Type: p.Type, Data: data, Region: p.Region, Options: options,
		Surroundings: r.Surroundings})
	if err != nil {
		return nil, err
	}
	return zoneAt(ctx, account, id, name)
}

// key reads a TSIG key; nil is none.
func (r Reached) key(ctx context.Context, spec *zonefold.TSIG) (rfc2136.Key, error) {
	if spec == nil {
		return rfc2136.Key{}, nil
	}
	name, err := dialect.KeyName(spec)
	if err != nil {
		return rfc2136.Key{}, fmt.Errorf("the TSIG keyName is no domain name: %w", err)
	}
	secret, err := r.Value(ctx, spec.SecretRef)
	return rfc2136.Key{Name: name, Algorithm: spec.Algorithm, Secret: secret}, err
}

// Value returns the one value that a reference names. What it says names the Secret and nothing that is in it.
func (r Reached) Value(ctx context.Context, ref zonefold.SecretKeyRef) (string, error) {
	namespace := cmp.Or(ref.Namespace, r.Operator)
	if ref.Name == "" {
		return "", errors.New("its spec names no Secret; name it in secretRef")
	}
	data, err := r.Secret(ctx, namespace, ref.Name)
	if err != nil {
		return "", err
	}
	value, err := dialect.ValueIn(data, ref.Key)
	if err != nil {
		return "", fmt.Errorf("the Secret %s/%s %w", namespace, ref.Name, err)
	}
	return strings.TrimSpace(value), nil
}
