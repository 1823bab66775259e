// Command bindcar is the sidecar of a BIND server: it adds, changes and removes zones by HTTP. docs/bindcar.md is its
// manual.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if slices.ContainsFunc(os.Args[1:], func(arg string) bool { return arg == "-h" || arg == "--help" || arg == "help" }) {
		fmt.Print(bindcar.Usage)
		return
	}
	if question, ok := asked(os.Args[1:]); ok {
		if err := question.Answer(os.Stdout, "bindcar", version.Read()); err != nil {
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bindcar:", err)
		os.Exit(1)
	}
}

// asked looks for --version or -V, which no other argument matters beside.
func asked(args []string) (question version.Question, ok bool) {
	for _, arg := range args {
		name, value, valued := strings.Cut(arg, "=")
		if name != "--version" && arg != "-V" {
			continue
		}
		if !valued {
			value = "true"
		}
		return question, question.Set(value) == nil
	}
	return question, false
}

func run(ctx context.Context, args []string, env func(string) string, to io.Writer) error {
	settings, err := bindcar.ParseSettings(args, env)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level(settings.LogLevel)}))
	for _, warning := range settings.Warnings {
		log.Warn(warning)
	}
	server, err := bindcar.New(bindcar.Options{Settings: settings, Version: version.Release(), Log: log, Now: time.Now})
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", settings.Listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	log.Info("listening", "address", l.Addr().String(), "version", version.Release(), "zones", settings.ZoneDir, "rndc",
		settings.RNDC)
	if err := server.Serve(ctx, l); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("serving: %w", err)
	}
	log.Info("stopped")
	return nil
}

// level reads RUST_LOG: a level, or directives such as "info,bindcar=debug", of which the first level that is for
// everything or for bindcar counts.
func level(rust string) slog.Level {
	for directive := range strings.SplitSeq(rust, ",") {
		target, name, found := strings.Cut(strings.TrimSpace(directive), "=")
		if !found {
			name = target
		} else if target != "bindcar" {
			continue
		}
		switch strings.ToLower(name) {
		case "trace", "debug":
			return slog.LevelDebug
		case "info":
			return slog.LevelInfo
		case "warn":
			return slog.LevelWarn
		case "error", "off":
			return slog.LevelError
		}
	}
	return slog.LevelInfo
}
