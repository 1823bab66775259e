package show

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/watch"
)

// newServe makes the command that answers from the zones of files.
func newServe(env command.Env) *cobra.Command {
	var (
		in       command.InputFlags
		listen   []string
		transfer []string
		now      string
		console  bool
	)
	cmd := &cobra.Command{
		Use:   "serve -f PATH...",
		Short: "Answer DNS questions from Zones and Records in files, and follow their changes",
		Long: `serve answers questions about the Zones that render would print, over UDP and TCP, until it
is interrupted. It prints what it serves and what is refused. It does not serve DNSZones,
which are meant for BIND. A Zone for the root or for a public suffix such as com. needs a
Backend that grants its name, as in a cluster.

When files change, serve takes over the changes and prints them. A zone whose content changed
gets a higher serial. A file that cannot be read, or that ends in the middle of a line or a
document, counts as it was before; a last line "---" says that the file is complete. The same
holds for an object that an API server would refuse or whose own values are wrong, and for
all files if a folder cannot be read or no Zone is left.

A zone without name servers gets the placeholders of render. Serials start again with each
start of serve, so a secondary may miss a change across a restart on the same day.

Exit codes: 0 when interrupted; 2 if the input cannot be read at the start or has no Zone, or
if it cannot listen on an address.`,
		Example: `  zonefold serve -f examples/quickstart --listen 127.0.0.1:5353
  dig @127.0.0.1 -p 5353 www.team-a.example.org`,
		Args: command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := command.Clock(env.Now, now)
			if err != nil {
				return err
			}
			addrs, err := addresses(listen)
			if err != nil {
				return err
			}
			prefixes, err := networks(transfer)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), env, in, serveOptions{addrs, prefixes, command.Running(at), console})
		},
	}
	in.Register(cmd)
	cmd.Flags().StringArrayVar(&listen, "listen", []string{"127.0.0.1:5353"},
		"an address and port for UDP and TCP, such as 0.0.0.0:53 or [::1]:5353; port 0 chooses a free one; repeatable")
	cmd.Flags().StringArrayVar(&transfer, "allow-transfer", nil,
		"an address or a network (192.0.2.0/24) that gets whole zones, by AXFR and IXFR; repeatable (default: nobody)")
	cmd.Flags().BoolVar(&console, "console", false,
		"also show the zones in a browser, on 127.0.0.1, as zonefold console does; prints the link")
	cmd.Flags().StringVar(&now, "now", "", "the time at the start for new serials (RFC 3339; default: now)")
	return cmd
}

// addresses reads the values of --listen.
func addresses(flags []string) ([]netip.AddrPort, error) {
	var out []netip.AddrPort
	for _, flag := range flags {
		addr, err := netip.ParseAddrPort(flag)
		if err != nil {
			return nil, fmt.Errorf("--listen %q is not an IP address with a port, such as 127.0.0.1:5353 or [::1]:5353", flag)
		}
		if addr.Port() != 0 && slices.Contains(out, addr) {
			return nil, fmt.Errorf("--listen %s is given twice", flag)
		}
		out = append(out, addr)
	}
	return out, nil
}

// networks reads the values of --allow-transfer.
func networks(flags []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, flag := range flags {
		addr, err := netip.ParseAddr(flag)
		prefix := netip.PrefixFrom(addr, addr.BitLen())
		if err != nil {
			prefix, err = netip.ParsePrefix(flag)
		}
		if err != nil {
			return nil, fmt.Errorf(
				"--allow-transfer %q is not an IP address or network, such as 192.0.2.53, 192.0.2.0/24 or 2001:db8::/64", flag)
		}
		out = append(out, prefix)
	}
	return out, nil
}

type serveOptions struct {
	listen   []netip.AddrPort
	transfer []netip.Prefix   // who may have whole zones
	now      func() time.Time // for new serials
	console  bool             // shows what is served
}

// groupName is that of all zones that are served.
const groupName = "serve"

// farewell is how long answers that are under way may take at the end.
const farewell = 5 * time.Second

// serve answers until the context ends.
func serve(ctx context.Context, env command.Env, in command.InputFlags, opts serveOptions) (err error) {
	paths := slices.DeleteFunc(slices.Clone(in.Files), func(path string) bool { return path == "-" })
	watcher, err := watch.New(paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watcher.Close()) }()
	guard, err := newGuard()
	if err != nil {
		return err
	}
	s := &session{
		env: env, watcher: watcher, fold: fold.New(), serving: newServing(opts.now), said: map[string]bool{}, guard: guard,
		reader: manifest.NewReader(manifest.Options{
			Paths: in.Files, Stdin: env.Stdin, Namespace: in.Namespace,
			Valid: func(o *manifest.Object) bool { return guard.valid(ctx, o) },
		}),
	}
	if opts.console {
		s.console = newConsoleWorld(env, command.ObjectFlags{InputFlags: in}, strings.Join(in.Files, ", "), s.fold)
	}
	input, err := s.begin(in)
	if err != nil {
		return err
	}
	return s.answer(ctx, opts, input)
}

// answer answers from the input, and from what becomes of it, until the context ends.
func (s *session) answer(ctx context.Context, opts serveOptions, input *manifest.Input) (err error) {
	server, err := embedded.Serve(ctx, embedded.Options{Listen: opts.listen, Closed: true,
		Log: slog.New(slog.NewTextHandler(s.env.Stderr, nil))})
	if err != nil {
		return wayOut(err)
	}
	ctx, until := context.WithoutCancel(ctx), ctx // what has begun is finished
	defer func() {
		end, cancel := context.WithTimeout(ctx, farewell)
		defer cancel()
		if err := server.Close(end); err != nil {
			fmt.Fprintf(s.env.Stderr, "error: %s\n", err)
		}
	}()
	if err := server.SetPolicy(groupName,
		embedded.Policy{Transfer: []embedded.Rule{{Prefixes: opts.transfer}}}); err != nil {
		return err
	}
	s.serving.server = server.Group(groupName)
	changed, refused, err := s.take(ctx, input)
	if err != nil {
		return err
	}
	server.Open()
	for _, addr := range server.Addrs() {
		fmt.Fprintf(s.env.Stdout, "listening on %s (UDP and TCP)\n", addr)
	}
	if s.console != nil {
		end, err := showing{}.begin(until, s.env, s.console)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	s.tell(changed, refused)
	for {
		select {
		case <-s.watcher.Changed():
			s.again(ctx)
		case <-until.Done():
			return nil
		}
	}
}

// wayOut adds to an error of listening what can be done.
func wayOut(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf(
			"%w; another program has this port: choose another one with --listen, such as 127.0.0.1:0 for any that is free", err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf(
			"%w; ports below 1024 need the right to them (on Linux: CAP_NET_BIND_SERVICE): choose a higher one with --listen",
			err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w; this machine does not have the address: choose one of its own with --listen", err)
	}
	return err
}
