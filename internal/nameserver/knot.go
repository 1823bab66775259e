package nameserver

import (
	"context"
	"fmt"
	"net/netip"
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

func (knot) follows() (zones, catalogs bool) { return true, true }

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

// knotConfig is knot.conf. The journal carries the changes over a restart, so the zone file is seldom rewritten. By
// default Knot breaks off a transfer when its reader pauses for half a second, as it may on a busy machine.
func knotConfig(s *Server) (string, error) {
	dir, err := quoted(s.opts.Dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "server:\n    rundir: %s\n    listen: %s@%d\n    tcp-io-timeout: 30000\n%s\n", dir, loopback,
		s.dns.number, s.opts.Extra)
	fmt.Fprintf(&b, "log:\n  - target: stderr\n    any: notice\n    zone: info\ndatabase:\n    storage: %s\ncontrol:\n  "+
		"  listen: knot.sock\n", dir)
	b.WriteString("mod-stats:\n  - id: all\n    server-operation: on\n")
	acl := knotKeys(&b, s.opts)
	fmt.Fprintf(&b,
		"template:\n  - id: default\n    storage: %s\n    global-module: mod-stats/all\n    zonefile-sync: 1h\n", dir)
	if acl != "" {
		fmt.Fprintf(&b, "    acl: %s\n", acl)
	}
	if s.opts.Follow != nil {
		fmt.Fprintf(&b, "  - id: followed\n    storage: %s\n    master: [%s]\n    zonefile-sync: 1h\n    acl: [%s]\n",
			dir, knotPrimaries(s.opts.Follow), knotFollowers(acl, s.opts.Follow))
	}
	files := knotZones(s)
	if files != "" {
		b.WriteString("zone:\n" + files)
	}
	return b.String(), nil
}

// knotKeys writes the keys, who may do what with them, and the primary. It returns the rules for every zone.
func knotKeys(b *strings.Builder, o Options) (acl string) {
	for i, k := range o.keys() {
		if i == 0 {
			b.WriteString("key:\n")
		}
		fmt.Fprintf(b, "  - id: \"%s\"\n    algorithm: %s\n    secret: \"%s\"\n", k.Name, k.Algorithm, k.Secret)
	}
	if o.Follow != nil {
		b.WriteString("remote:\n")
		for i, at := range append([]netip.AddrPort{o.Follow.Primary}, o.Follow.Others...) {
			fmt.Fprintf(b, "  - id: %s\n    address: %s@%d\n", knotPrimary(i), at.Addr(), at.Port())
			if o.Follow.Key != nil {
				fmt.Fprintf(b, "    key: \"%s\"\n", o.Follow.Key.Name)
			}
		}
	}
	var rules, keys strings.Builder
	for i, k := range o.Keys {
		fmt.Fprintf(&keys, "%s\"%s\"", separator(i), k.Name)
	}
	if len(o.Keys) > 0 {
		fmt.Fprintf(&rules, "  - id: keys\n    key: [%s]\n    action: [transfer, update]\n", keys.String())
		acl = "keys"
	}
	if o.Follow != nil {
		fmt.Fprintf(&rules, "  - id: notify\n    address: %s\n    action: notify\n", o.Follow.Primary.Addr())
		if o.Follow.Key != nil {
			fmt.Fprintf(&rules, "  - id: signed\n    address: %s\n    key: \"%s\"\n    action: notify\n",
				o.Follow.Primary.Addr(), o.Follow.Key.Name)
		}
	}
	if rules.Len() > 0 {
		b.WriteString("acl:\n" + rules.String())
	}
	return acl
}

// knotPrimary names the i-th primary.
func knotPrimary(i int) string {
	if i == 0 {
		return "primary"
	}
	return fmt.Sprintf("primary-%d", i)
}

func knotPrimaries(f *Follow) string {
	all := knotPrimary(0)
	for i := range f.Others {
		all += separator(len(all)) + knotPrimary(i+1)
	}
	return all
}

// knotFollowers adds the rules for notifications. One without a key takes none that are signed.
func knotFollowers(acl string, f *Follow) string {
	acl += separator(len(acl)) + "notify"
	if f.Key != nil {
		acl += ", signed"
	}
	return acl
}

func knotZones(s *Server) string {
	var b strings.Builder
	for i, z := range s.zones {
		fmt.Fprintf(&b, "  - domain: \"%s\"\n    file: %s\n%s", z.Name, zoneFile(i), z.Extra)
	}
	for i, z := range s.opts.followed() {
		fmt.Fprintf(&b, "  - domain: \"%s\"\n    file: %s\n    template: followed\n", z, followedFile(i))
		if z == s.opts.Follow.Catalog {
			b.WriteString("    catalog-role: interpret\n    catalog-template: followed\n")
		}
	}
	return b.String()
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

// transferred reads "… [example.org.] IXFR, incoming, remote …, finished, …"; a whole zone in answer to IXFR is logged
// as AXFR.
func (knot) transferred(line string) (transfer, bool) {
	zone, _ := between(line, "[", "] ")
	_, kind, ok := strings.Cut(line, "] ")
	if !ok || !strings.Contains(kind, ", finished, ") {
		return transfer{}, false
	}
	whole := strings.HasPrefix(kind, "AXFR, incoming, ")
	return transfer{zone: zone, whole: whole}, whole || strings.HasPrefix(kind, "IXFR, incoming, ")
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
