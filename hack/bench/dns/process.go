package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// A process is a name server that runs.
type process struct {
	name string
	addr string
	pid  int
	stop func() error
}

// start starts a program, and returns the function that ends it and waits for it. Its input stays open as long as this
// program runs.
func start(ctx context.Context, log io.Writer, program string,
	args ...string) (*exec.Cmd, io.Reader, func() error, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Stderr = log
	_, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		cancel()
		return nil, nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, nil, nil, err
	}
	return cmd, out, func() error {
		cancel()
		_ = cmd.Wait() // it was ended by us
		return nil
	}, nil
}

// startEmbedded starts this program as the server.
func (b *bench) startEmbedded(ctx context.Context, args ...string) (*process, loaded, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, loaded{}, err
	}
	cmd, out, stop, err := start(ctx, b.progress, self, append([]string{"serve"}, args...)...)
	if err != nil {
		return nil, loaded{}, err
	}
	var said loaded
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		return nil, said, errors.Join(fmt.Errorf("starting the embedded server: %w", err), stop())
	}
	return &process{"embedded", said.Addr, cmd.Process.Pid, stop}, said, nil
}

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
	p := &process{addr: netip.AddrPortFrom(loopback, port).String(), pid: cmd.Process.Pid, stop: func() error {
		release()
		return end()
	}}
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

// answers waits until a server has the zone.
func (p *process) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client := dns.Client{Timeout: 200 * time.Millisecond}
	for {
		answer, _, err := client.ExchangeContext(ctx, new(dns.Msg).SetQuestion(zoneName, dns.TypeSOA), p.addr)
		if err == nil && len(answer.Answer) == 1 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the server at %s to answer: %w", p.addr, errors.Join(ctx.Err(), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}
