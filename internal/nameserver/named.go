package nameserver

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"
)

// A Named is BIND's named with a configuration that is not of this package.
type Named struct{ proc *process }

// StartNamed starts named as a container does, in the foreground and with its log on the standard error stream, and
// waits until ready reports no error. dir is its working folder.
func StartNamed(ctx context.Context, dir, conf string, log io.Writer,
	ready func(context.Context) error) (*Named, error) {
	path, err := executable("named", "bind9", dir)
	if err != nil {
		return nil, err
	}
	n := &Named{}
	if n.proc, err = startProcess(path, []string{"-g", "-c", conf}, dir, log); err != nil {
		return nil, fmt.Errorf("starting named: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return n, nil
		}
		select {
		case <-tick.C:
			continue
		case <-n.proc.done:
		case <-ctx.Done():
			n.proc.kill()
		}
		return nil, fmt.Errorf("starting named: %w%s", n.proc.explain(err), n.proc.tail())
	}
}

// Kill ends named at once and waits for its end.
func (n *Named) Kill() { n.proc.kill() }

// Stop ends named in order.
func (n *Named) Stop() error { return n.proc.stop(stopTimeout) }

// Suspend stops named so that it hangs, with its sockets open, or lets it go on.
func (n *Named) Suspend(stop bool) error {
	signal := syscall.SIGCONT
	if stop {
		signal = syscall.SIGSTOP
	}
	return n.proc.cmd.Process.Signal(signal)
}

// Log is the end of its log.
func (n *Named) Log() string { return n.proc.log.String() }
