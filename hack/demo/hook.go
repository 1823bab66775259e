package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const hookExample = "examples/homelab"

// A hookServer is the reference server of the protocol, in front of BIND.
type hookServer struct {
	path    string
	args    []string
	url     string
	log     *os.File
	process *testoperator.Hook // nil: it does not run
	release func()             // gives its port back
}

// playHook shows records that are sent to a server of the signed protocol.
func (s *stage) playHook(ctx context.Context, exit bool) error {
	s.say("A DNSClass is a server that takes DNS records over a small signed HTTP protocol, and puts them wherever it " +
		"likes. This demo")
	s.say("takes a Kubernetes control plane, the operator, and a server of that protocol in front of a BIND, all real " +
		"and on loopback.")
	for _, act := range []func(context.Context) error{
		s.startCluster, s.startHookBIND, s.startHookOperator, s.startHook, s.checkHook,
		s.applyClass, s.showHookRecords, s.digHook, s.showUnsigned, s.loseHook, s.deleteRecord,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	if exit {
		return nil
	}
	return s.wait(ctx)
}

func (s *stage) startHookBIND(ctx context.Context) error {
	s.chapter("A name server",
		"BIND, with the empty zone example.com, which everybody who has a secret key may change (dynamic updates, RFC 2136).")
	return s.runBIND(ctx, "example.com.")
}

// startHook builds the reference server and starts it.
func (s *stage) startHook(ctx context.Context) error {
	s.chapter("A server of the protocol", "cmd/dnshook takes signed requests and has a provider serve what they ask "+
		"for: BIND here, and with --provider cloudflare-dns Cloudflare.")
	var err error
	h := &s.hook
	if h.path, err = s.build(ctx, "dnshook"); err != nil {
		return err
	}
	secret, err := s.file("hmac-secret", newSecret())
	if err != nil {
		return err
	}
	key, err := s.file("tsig-secret", s.secret)
	if err != nil {
		return err
	}
	number, release, err := nameserver.ClaimPort()
	if err != nil {
		return err
	}
	h.release, h.url = release, fmt.Sprintf("http://127.0.0.1:%d", number)
	h.args = []string{
		"--listen", strings.TrimPrefix(h.url, "http://"), "--secret-file", secret,
		"--provider", "rfc2136", "--zone", "example.com", "--rfc2136", s.bind.Addr(), "--tsig-name", keyName,
		"--tsig-secret-file", key,
	}
	if h.log, err = os.Create(filepath.Join(s.dir, "dnshook.log")); err != nil {
		return fmt.Errorf("making the server's log: %w", err)
	}
	s.command(append([]string{"dnshook", "serve"}, h.args...)...)
	return h.run()
}

// run starts the server, and returns when it listens.
func (h *hookServer) run() (err error) {
	h.process, err = testoperator.StartHook(h.path, h.log, h.args...)
	return err
}

// stop ends the server, which may come back.
func (h *hookServer) stop() {
	if h.process != nil {
		h.process.Stop()
		h.process = nil
	}
}

// strike ends it for good.
func (h *hookServer) strike() {
	h.stop()
	if h.release != nil {
		h.release()
		h.log.Close()
	}
}

// checkHook has the command find out whether the server speaks the protocol.
func (s *stage) checkHook(ctx context.Context) error {
	s.chapter("Does it speak the protocol?",
		"The command asks it everything that an operator may ask, rightly and wrongly, and deletes again what it makes.")
	command, err := s.build(ctx, "zonefold")
	if err != nil {
		return err
	}
	args := []string{"dnshook", "conformance", "--server", s.hook.url, "--secret-file",
		filepath.Join(s.dir, "hmac-secret"), "--domain", "example.com"}
	s.command(append([]string{"zonefold"}, args...)...)
	out, err := exec.CommandContext(ctx, command, args...).CombinedOutput()
	s.show(string(out))
	return err
}

// startHookOperator runs the operator with this dialect alone, and the rights that the chart gives it then.
func (s *stage) startHookOperator(ctx context.Context) error {
	s.chapter("The operator", "With the dialect of DNSClasses alone. It speaks as a ServiceAccount that has the rights "+
		"that the chart gives it then, and no others.")
	return s.runChartOperator(ctx, "homelab")
}
