// Command dnshook is a server for DNSClasses: it has their records served by a provider such as Cloudflare or Amazon
// Route 53, by a DNS server that takes dynamic updates, by PowerDNS, or by this process. docs/dnshook.md is its manual.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/hook"
	"github.com/zonefold/zonefold/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], surroundings{os.Getenv, time.Now, os.Stderr})
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "dnshook:", err)
		os.Exit(1)
	}
}

// surroundings are what the process finds around it.
type surroundings struct {
	getenv environment
	now    func() time.Time
	log    io.Writer
}

// run serves until the context ends.
func run(ctx context.Context, args []string, around surroundings) error {
	now, to := around.now, around.log
	s, err := parse(args, to)
	if err != nil {
		return err
	}
	if s.version.Asked() {
		return s.version.Answer(os.Stdout, "dnshook", version.Read())
	}
	level := slog.LevelInfo
	if s.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level}))
	zones, err := s.places()
	if err != nil {
		return err
	}
	at, err := s.connect(ctx, zones, around.getenv, now, log)
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		if err := at.close(end); err != nil {
			log.Error("leaving the DNS server", "error", err)
		}
	}()
	return s.serve(ctx, at, zones, now, log)
}

// farewell is how long the DNS server may take at the end.
const farewell = 5 * time.Second

// serve serves the protocol before a DNS server.
func (s *settings) serve(ctx context.Context, at server, zones []place, now func() time.Time, log *slog.Logger) error {
	provider, err := s.provider(at, zones, now)
	if err != nil {
		return err
	}
	metrics := hook.NewMetrics(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	handler, err := s.handler(provider, metrics.Observer(log), log, now)
	if err != nil {
		return err
	}
	following, flush, err := traced(ctx, handler, log)
	if err != nil {
		return err
	}
	defer flush()
	cfg := hook.ServeConfig{Handler: following, Health: provider.Health, Metrics: metrics, Log: log}
	if s.certFile != "" {
		if cfg.TLS, err = (&hook.Certificate{CertFile: s.certFile, KeyFile: s.keyFile, Log: log}).Config(); err != nil {
			return err
		}
	}
	if cfg.Listener, err = new(net.ListenConfig).Listen(ctx, "tcp", s.listen); err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	admin := ""
	if s.admin != "" {
		if cfg.Admin, err = new(net.ListenConfig).Listen(ctx, "tcp", s.admin); err != nil {
			return errors.Join(fmt.Errorf("--admin: %w", err), cfg.Listener.Close())
		}
		admin = cfg.Admin.Addr().String()
	}
	log.Info("listening", "version", version.Release(), "address", cfg.Listener.Addr().String(), "admin", admin,
		"zones", s.zones, "dns", at.addrs, "signed", !s.unsigned)
	if err := hook.Serve(ctx, cfg); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// handler is the server of the protocol.
func (s *settings) handler(p dnshook.Provider, observe func(dnshook.Exchange), log *slog.Logger,
	now func() time.Time) (*dnshook.Handler, error) {
	cfg := dnshook.HandlerConfig{Provider: p, Unsigned: s.unsigned, Path: s.path, Concurrency: s.concurrency, Now: now,
		Observe: observe}
	if !s.unsigned {
		secrets := &hook.Secrets{Files: s.secretFiles, Algorithm: dnshook.Algorithm(s.algorithm), Grace: s.grace, Now: now,
			Log: log}
		if _, err := secrets.Keys(); err != nil {
			return nil, err
		}
		cfg.Keys = secrets.Keys
	} else {
		log.Warn("the server accepts requests from everyone who can reach it, because of --unsigned")
	}
	return dnshook.NewHandler(cfg)
}
