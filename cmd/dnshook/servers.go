package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/hook"
)

// A server is where records go.
type server struct {
	backend.Backend
	addrs []netip.AddrPort // where this process answers DNS questions
	close func(context.Context) error
}

// connect returns the server that the settings name.
func (s *settings) connect(ctx context.Context, zones []dnsname.Name, now func() time.Time, log *slog.Logger) (server, error) {
	switch {
	case s.powerdns != "":
		return s.toPowerDNS()
	case s.update != "":
		return s.toRFC2136(now)
	}
	return s.here(ctx, zones, now, log)
}

func (s *settings) toPowerDNS() (server, error) {
	cfg := powerdns.Config{URL: s.powerdns, ServerID: s.serverID}
	var err error
	if cfg.APIKey, err = credential(s.powerdnsKeyFile); err != nil {
		return server{}, err
	}
	if s.powerdnsCAs != "" {
		if cfg.CABundle, err = credential(s.powerdnsCAs); err != nil {
			return server{}, err
		}
	}
	c, err := powerdns.New(cfg)
	if err != nil {
		return server{}, err
	}
	return server{Backend: c, close: func(context.Context) error { return c.Close() }}, nil
}

func (s *settings) toRFC2136(now func() time.Time) (server, error) {
	cfg := rfc2136.Config{Server: s.update, Now: now}
	if s.tsigFile != "" {
		name, err := dnsname.Parse(strings.TrimSuffix(s.tsigName, ".") + ".")
		if err != nil {
			return server{}, fmt.Errorf("--tsig-name %q is no name: %w", s.tsigName, err)
		}
		secret, err := credential(s.tsigFile)
		if err != nil {
			return server{}, err
		}
		cfg.Key = rfc2136.Key{Name: name, Algorithm: s.tsigAlg, Secret: secret}
	}
	c, err := rfc2136.New(cfg)
	if err != nil {
		return server{}, err
	}
	return server{Backend: c, close: func(context.Context) error { return c.Close() }}, nil
}

// group is that of all zones that this process serves.
const group = "dnshook"

// here answers DNS questions from this process, once it has everything that was kept.
func (s *settings) here(ctx context.Context, zones []dnsname.Name, now func() time.Time, log *slog.Logger) (server, error) {
	opts := embedded.Options{Closed: true, Log: log}
	for _, text := range s.embedded {
		addr, err := netip.ParseAddrPort(text)
		if err != nil {
			return server{}, fmt.Errorf("--embedded %q is no IP address with a port, such as 0.0.0.0:53", text)
		}
		opts.Listen = append(opts.Listen, addr)
	}
	var rule embedded.Rule
	for _, text := range s.transfer {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return server{}, fmt.Errorf("--allow-transfer %q is no network, such as 192.0.2.0/24", text)
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
	kept := hook.Keep(names.Group(group), s.data, now)
	out := server{Backend: kept, addrs: names.Addrs(), close: func(ctx context.Context) error { return errors.Join(names.Close(ctx), kept.Close()) }}
	err = names.SetPolicy(group, embedded.Policy{Transfer: []embedded.Rule{rule}})
	for _, zone := range zones {
		if err == nil {
			err = kept.Open(ctx, zone)
		}
	}
	if err != nil {
		return server{}, errors.Join(err, out.close(ctx))
	}
	names.Open()
	return out, nil
}
