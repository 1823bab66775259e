package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/hook"
)

// A server is where records go.
type server struct {
	zone  func(place) backend.Backend
	addrs []netip.AddrPort // where this process answers DNS questions
	close func(context.Context) error
}

// connect returns the server that the settings name.
func (s *settings) connect(ctx context.Context, zones []place, getenv environment, now func() time.Time,
	log *slog.Logger) (server, error) {
	if s.kind == embeddedKind {
		return s.here(ctx, zones, now, log)
	}
	cfg, err := s.providerConfig(getenv)
	if err != nil {
		return server{}, err
	}
	if _, ok := cfg.Options["zones"]; !ok && s.kind == "external-dns-webhook" {
		cfg.Options["zones"] = joined(zones)
	}
	account, err := all.NewPool(now, nil).Open(cfg)
	if err != nil {
		return server{}, err
	}
	named := sources()[s.kind].named
	zone := func(z place) backend.Backend {
		if named {
			z.id = cmp.Or(z.id, z.name.String())
		}
		return hook.Hosted(account, z.name, z.id)
	}
	return server{zone: zone, close: func(context.Context) error { return nil }}, nil
}

// joined are the names of zones with commas between them.
func joined(zones []place) string {
	names := make([]string, len(zones))
	for i, z := range zones {
		names[i] = z.name.String()
	}
	return strings.Join(names, ",")
}

// group is that of all zones that this process serves.
const group = "dnshook"

// here answers DNS questions from this process, once it has everything that was kept.
func (s *settings) here(ctx context.Context, zones []place, now func() time.Time, log *slog.Logger) (server, error) {
	opts := embedded.Options{Closed: true, Log: log}
	for _, text := range s.embedded {
		addr, err := netip.ParseAddrPort(text)
		if err != nil {
			return server{}, fmt.Errorf("--embedded %q is not an IP address with a port, such as 0.0.0.0:53", text)
		}
		opts.Listen = append(opts.Listen, addr)
	}
	var rule embedded.Rule
	for _, text := range s.transfer {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return server{}, fmt.Errorf("--allow-transfer %q is not a network, such as 192.0.2.0/24", text)
		}
		rule.Prefixes = append(rule.Prefixes, prefix)
	}
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return server{}, fmt.Errorf("--data: %w", err)
	}
	names, err := embedded.Serve(context.WithoutCancel(ctx), opts)
	if err != nil {
		return server{}, err
	}
	kept, err := hook.Keep(names.Group(group), s.data, now)
	if err != nil {
		return server{}, errors.Join(fmt.Errorf("--data: %w", err), names.Close(ctx))
	}
	out := server{zone: func(place) backend.Backend { return kept }, addrs: names.Addrs(),
		close: func(ctx context.Context) error { return errors.Join(names.Close(ctx), kept.Close()) }}
	err = names.SetPolicy(group, embedded.Policy{Transfer: []embedded.Rule{rule}})
	for _, zone := range zones {
		if err == nil {
			err = kept.Open(ctx, zone.name)
		}
	}
	if err != nil {
		return server{}, errors.Join(err, out.close(ctx))
	}
	names.Open()
	return out, nil
}
