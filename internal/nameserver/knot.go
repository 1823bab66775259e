package nameserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// StartKnot starts Knot DNS's knotd and waits until it answers for every zone.
func StartKnot(ctx context.Context, opts Options) (*Server, error) { return start(ctx, opts, knot{}) }

type knot struct{}

func (knot) program() (string, string) { return "knotd", "knot" }

func (knot) configure(_ context.Context, s *Server) ([]string, error) {
	text, err := knotConfig(s)
	if err != nil {
		return nil, err
	}
	if err := writeZones(s); err != nil {
		return nil, err
	}
	conf := filepath.Join(s.opts.Dir, "knot.conf")
	return []string{"-c", conf}, os.WriteFile(conf, []byte(text), 0o600)
}

// knotConfig is knot.conf. The journal carries the changes over a restart, so the zone file is seldom rewritten. By default
// Knot breaks off a transfer when its reader pauses for half a second, as it may on a busy machine.
func knotConfig(s *Server) (string, error) {
	dir, err := quoted(s.opts.Dir)
	if err != nil {
		return "", err
	}
	var b, keys strings.Builder
	fmt.Fprintf(&b, "server:\n    rundir: %s\n    listen: %s@%d\n    tcp-io-timeout: 30000\n%s\n", dir, loopback, s.dns.number, s.opts.Extra)
	fmt.Fprintf(&b, "log:\n  - target: stderr\n    any: notice\ndatabase:\n    storage: %s\ncontrol:\n    listen: knot.sock\n", dir)
	b.WriteString("mod-stats:\n  - id: all\n    server-operation: on\n")
	for i, k := range s.opts.Keys {
		if i == 0 {
			b.WriteString("key:\n")
		}
		fmt.Fprintf(&b, "  - id: \"%s\"\n    algorithm: %s\n    secret: \"%s\"\n", k.Name, k.Algorithm, k.Secret)
		fmt.Fprintf(&keys, "%s\"%s\"", separator(i), k.Name)
	}
	acl := ""
	if len(s.opts.Keys) > 0 {
		fmt.Fprintf(&b, "acl:\n  - id: keys\n    key: [%s]\n    action: [transfer, update]\n", keys.String())
		acl = "    acl: keys\n"
	}
	fmt.Fprintf(&b, "template:\n  - id: default\n    storage: %s\n    global-module: mod-stats/all\n    zonefile-sync: 1h\n%s", dir, acl)
	for i, z := range s.zones {
		if i == 0 {
			b.WriteString("zone:\n")
		}
		fmt.Fprintf(&b, "  - domain: \"%s\"\n    file: %s\n%s", z.Name, zoneFile(i), z.Extra)
	}
	return b.String(), nil
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}

// fill has nothing to do: the configuration names every zone.
func (knot) fill(context.Context, *Server) error { return nil }

// add makes knotd read its configuration again (SIGHUP).
func (knot) add(_ context.Context, s *Server, _ Zone) error {
	return s.proc.cmd.Process.Signal(syscall.SIGHUP)
}

// updates asks knotd over its control socket for the counter of received UPDATE messages.
func (knot) updates(ctx context.Context, s *Server) (int, error) {
	path, err := executable("knotc", "knot", s.opts.Dir)
	if err != nil {
		return 0, err
	}
	socket := filepath.Join(s.opts.Dir, "knot.sock")
	out, err := exec.CommandContext(ctx, path, "-s", socket, "stats", "mod-stats.server-operation").Output()
	if err != nil {
		return 0, fmt.Errorf("reading the statistics of knotd: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if count, found := strings.CutPrefix(strings.TrimSpace(line), "mod-stats.server-operation[update] = "); found {
			return strconv.Atoi(count)
		}
	}
	return 0, nil
}
