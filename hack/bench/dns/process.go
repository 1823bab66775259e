package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// A process is a name server that runs.
type process struct {
	key  string // in BENCH_OUT
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
	return &process{"embedded", "embedded", said.Addr, cmd.Process.Pid, stop}, said, nil
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
