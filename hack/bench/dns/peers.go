package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// corefile has CoreDNS open as many sockets as there are processors, which is what the embedded server does.
const corefile = `%s:%d {
	bind 127.0.0.1
	multisocket
	file %s {
		reload 0
	}
}
`

// startCoreDNS builds CoreDNS from the module of its own that pins it, starts it, and waits until it answers.
func (b *bench) startCoreDNS(ctx context.Context, zone string) (*process, error) {
	root, err := testoperator.ModuleRoot(ctx)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(b.dir, "coredns")
	b.say("building CoreDNS from hack/bench/coredns (about a minute the first time, when its modules are fetched too)")
	if out, err := exec.CommandContext(ctx, "go", "build", "-C", filepath.Join(root, "hack", "bench", "coredns"), "-o",
		program, ".").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building CoreDNS: %w\n%s", err, out)
	}
	port, release, err := nameserver.ClaimPort()
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(b.dir, "Corefile")
	if err := os.WriteFile(conf, fmt.Appendf(nil, corefile, zoneName, port, zone), 0o644); err != nil {
		release()
		return nil, err
	}
	cmd, out, end, err := start(ctx, b.progress, program, "-conf", conf)
	if err != nil {
		release()
		return nil, err
	}
	name := make(chan string, 1)
	go announced(out, name)
	stop := func() error {
		release()
		return end()
	}
	p := &process{"coredns", "", netip.AddrPortFrom(loopback, port).String(), cmd.Process.Pid, stop}
	if err := p.answers(ctx); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	select {
	case p.name = <-name:
		return p, nil
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), p.stop())
	}
}

// announced finds the line in which CoreDNS tells its version, such as CoreDNS-1.2.3, and reads on so that it can
// write.
func announced(out io.Reader, name chan<- string) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var version string
		if n, _ := fmt.Sscanf(lines.Text(), "CoreDNS-%s", &version); n == 1 && name != nil {
			name <- "CoreDNS " + version
			name = nil
		}
	}
	if name != nil {
		name <- "CoreDNS"
	}
}

// A peer is a name server that the embedded one is compared with, of a Debian package.
type peer struct {
	key, name string
	version   []string // the command that tells it
	extra     string   // options
	start     func(context.Context, nameserver.Options) (*nameserver.Server, error)
}

// peers have one thread or process for each processor, and a socket for each of these, as the embedded server has. They
// add no name servers of the zone to answers that need none.
func peers() []peer {
	return []peer{
		{"knot", "Knot", []string{"knotd", "--version"}, "", nameserver.StartKnot},
		{"nsd", "NSD", []string{"nsd", "-v"}, fmt.Sprintf("    server-count: %d\n    reuseport: yes\n"+
			"    minimal-responses: yes\n", runtime.NumCPU()), nameserver.StartNSD},
		{"bind", "BIND", []string{"named", "-v"}, "minimal-responses yes;", nameserver.StartBIND},
	}
}

// startPeer starts one with the zone of a master file.
func (b *bench) startPeer(ctx context.Context, p peer, zone string) (*process, error) {
	text, err := os.ReadFile(zone)
	if err != nil {
		return nil, err
	}
	name, err := dnsname.Parse(zoneName)
	if err != nil {
		return nil, err
	}
	said, err := exec.CommandContext(ctx, p.version[0], p.version[1:]...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", p.name, err)
	}
	server, err := p.start(ctx, nameserver.Options{Dir: filepath.Join(b.dir, p.key), Extra: p.extra,
		Zones: []nameserver.Zone{{Name: name, Text: string(text)}}})
	if err != nil {
		return nil, err
	}
	version := regexp.MustCompile(`[0-9]+(\.[0-9]+)+`).FindString(string(said))
	return &process{p.key, p.name + " " + version, server.Addr(), server.PID(), func() error {
		server.Close()
		return nil
	}}, nil
}
