// Command demo shows zonefold at work on one machine: it builds and starts a Kubernetes control plane, a BIND name
// server and the operator, applies examples/quickstart, looks at what came of it, and changes a record. Then the
// operator answers too, as a name server, another BIND follows that, and the record changes again. It waits for Ctrl-C.
// All parts are real and listen on loopback only. Everything that it started is gone when it ends, however it ends.
//
// "go run ./hack/demo bind" shows fleets of BIND instead: Pods of a real node, see examples/bindy.
//
// "go run ./hack/demo webhook" shows records that go to a server of the signed webhook protocol, see examples/homelab.
//
// "go run ./hack/demo gardener" shows a DNSRecord of Gardener that goes into PowerDNS, see examples/gardener.
//
//	go run ./hack/demo              from the repository's folder; see "make demo"
//	DEMO_EXIT=1 go run ./hack/demo  does not wait: for CI
//
// It exits 0 if everything was as it should be, else 1.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	// SIGPIPE too: who reads the output may stop reading, and then there is still much to end and remove.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv("DEMO_EXIT") != ""); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run plays the demo and ends everything. A Ctrl-C before the demo is through is an error, afterwards it is how it
// ends.
func run(ctx context.Context, args []string, exit bool) (err error) {
	s := &stage{out: os.Stdout}
	play := s.play
	switch {
	case slices.Equal(args, []string{"bind"}):
		play = s.playFleet
	case slices.Equal(args, []string{"webhook"}):
		play = s.playHook
	case slices.Equal(args, []string{"gardener"}):
		play = s.playGardener
	case len(args) > 0:
		return fmt.Errorf("there is no demo called %q; say bind, webhook, gardener, or nothing", args)
	}
	defer func() { err = errors.Join(err, s.strike()) }()
	if err := play(ctx, exit); err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted before the end")
		}
		return fmt.Errorf("%w%s", err, s.operatorLog())
	}
	return nil
}

func (s *stage) play(ctx context.Context, exit bool) error {
	s.say("zonefold keeps the zones of DNS servers as Kubernetes objects say. This demo takes a Kubernetes control")
	s.say("plane, a name server (BIND) and the zonefold operator, all real and all on this machine's loopback, and")
	s.say("removes them at the end.")
	for _, act := range []func(context.Context) error{
		s.startCluster, s.startBIND, s.startOperator, s.createBackend, s.applyQuickstart,
		s.showObjects, s.showRefusal, s.askBIND, s.changeRecord,
		s.answerItself, s.follow, s.changeBoth,
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
