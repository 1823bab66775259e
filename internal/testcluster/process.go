package testcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// A process is one running component. Pid and Started together identify it: a process id alone may belong to somebody
// else by the time that it is used.
type process struct {
	Name    string `json:"name"`
	Pid     int    `json:"pid"`
	Started string `json:"started"` // as [processStart] tells it
	LogFile string `json:"log"`

	exited chan struct{} // closed at the end of a child of this program; nil for a process read from a state file
}

// launch says how to start a component.
type launch struct {
	name       string
	args       []string // the program first
	dir        string   // working folder, and place of the log
	env        []string // besides that of this program
	detach     bool     // outlive this program
	namespaces bool     // as the first process of a node
	keep       *os.File // stays open in the child; may be nil
}

// start runs a component with its output in a log file. Its own process group keeps the terminal's Ctrl-C away from it,
// so that whoever started the cluster can still use it while ending.
func start(l launch) (*process, error) {
	logFile := filepath.Join(l.dir, l.name+".log")
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", l.name, err)
	}
	defer log.Close()
	cmd := exec.Command(l.args[0], l.args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.dir, log, log
	cmd.Env = append(append(os.Environ(), "PATH="+searchPath()), l.env...)
	if l.keep != nil {
		cmd.ExtraFiles = []*os.File{l.keep}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if !l.detach {
		dieWithParent(cmd.SysProcAttr)
	}
	if l.namespaces {
		ownNamespaces(cmd.SysProcAttr)
	}
	p := &process{Name: l.name, LogFile: logFile, exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel sends the parent-death signal when the thread that forked ends, so that thread has to outlive the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", l.name, err)
	}
	p.Pid = cmd.Process.Pid
	if p.Started, err = processStart(p.Pid); err != nil && p.alive() {
		return nil, errors.Join(fmt.Errorf("identifying %s: %w", l.name, err), cmd.Process.Kill())
	}
	return p, nil
}

// searchPath is where components find programs: those of the system, which kube-proxy needs, are not on everybody's
// PATH.
func searchPath() string { return os.Getenv("PATH") + ":/usr/local/sbin:/usr/sbin:/sbin" }

// alive reports whether the process that was started still runs; another one with its id does not count.
func (p *process) alive() bool {
	if p.exited != nil {
		select {
		case <-p.exited:
			return false
		default:
			return true
		}
	}
	now, err := processStart(p.Pid)
	return err == nil && now == p.Started
}

// kill ends the process with SIGKILL, since nothing it holds is worth a slow goodbye, and waits until it is gone.
func (p *process) kill(ctx context.Context) error {
	if !p.alive() {
		return nil
	}
	if err := syscall.Kill(p.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("ending %s (process %d): %w", p.Name, p.Pid, err)
	}
	if err := until(ctx, func() bool { return !p.alive() }); err != nil {
		return fmt.Errorf("waiting for the end of %s (process %d): %w", p.Name, p.Pid, err)
	}
	return nil
}

// errTooLong is the cause of the deadline within which a component has to become ready.
var errTooLong = fmt.Errorf("gave up after %s", readyWithin)

// ready waits until check succeeds. A component that ends instead, or takes too long, is shown with its last lines.
func (p *process) ready(ctx context.Context, check func(context.Context) error) error {
	last := errors.New("it was never asked")
	err := until(ctx, func() bool {
		last = check(ctx)
		return last == nil || !p.alive()
	})
	switch {
	case err != nil && !errors.Is(err, errTooLong):
		return fmt.Errorf("waiting for %s: %w", p.Name, err) // the caller ended it, so the log is not the news
	case err != nil:
		return fmt.Errorf("%s (process %d) does not become ready: %w: %w\n%s", p.Name, p.Pid, err, last, p.tail())
	case last != nil:
		return &endedError{name: p.Name, tail: p.tail()}
	}
	return nil
}

// An endedError says that a component ended while it was waited for.
type endedError struct{ name, tail string }

func (e *endedError) Error() string {
	return fmt.Sprintf("%s ended while it started; its last lines:\n%s", e.name, e.tail)
}

// portTaken reports whether the component ended because somebody else took its port between choosing and listening.
func portTaken(err error) bool {
	var ended *endedError
	return errors.As(err, &ended) && strings.Contains(ended.tail, "address already in use")
}

// tail is the end of the component's log: 15 lines, each cut at 400 bytes.
func (p *process) tail() string {
	text, err := os.ReadFile(p.LogFile)
	if err != nil {
		return "  (its log cannot be read: " + err.Error() + ")"
	}
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	lines = lines[max(0, len(lines)-15):]
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "  | %s\n", line[:min(len(line), 400)])
	}
	return strings.TrimRight(b.String(), "\n")
}

// until asks every 25 milliseconds whether something has come true.
func until(ctx context.Context, done func() bool) error {
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}
