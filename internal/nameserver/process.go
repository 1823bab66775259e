package nameserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A process is a child in the foreground, with the last lines of its log.
type process struct {
	cmd  *exec.Cmd
	log  *logTail
	done chan struct{} // closed when the child has ended and was waited for
}

// startProcess starts the program. Its parent-death signal (Linux) is bound to the thread that forked it, so the
// goroutine that starts it keeps its thread until the child has ended.
func startProcess(path string, args []string, dir string, log io.Writer) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), log: &logTail{next: log}, done: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.WaitDelay = time.Second
	p.cmd.SysProcAttr = diesWithParent()
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is read from ProcessState
		}
		close(p.done)
	}()
	return p, <-started
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// stop asks the child to end and kills it when it has not after the time-out.
func (p *process) stop(timeout time.Duration) error {
	if p == nil || p.ended() {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stopping process %d: %w", p.cmd.Process.Pid, err)
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		p.kill()
		return fmt.Errorf("process %d did not end within %s and was killed%s", p.cmd.Process.Pid, timeout, p.tail())
	}
}

func (p *process) kill() {
	if p == nil || p.ended() {
		return
	}
	_ = p.cmd.Process.Kill() // fails only when it has ended already
	<-p.done
}

// explain adds to err how the child ended, if it has, and recognises a port that somebody else holds.
func (p *process) explain(err error) error {
	if strings.Contains(strings.ToLower(p.log.String()), "in use") {
		return fmt.Errorf("%w: %w", errPortTaken, err)
	}
	if p.ended() && p.cmd.ProcessState != nil && p.cmd.ProcessState.ExitCode() >= 0 {
		return fmt.Errorf("%w: it ended with %s", err, p.cmd.ProcessState)
	}
	return err
}

// tail returns the last log lines for the end of an error message.
func (p *process) tail() string {
	if text := strings.TrimSpace(p.log.String()); text != "" {
		return "; its log ends with:\n" + text
	}
	return ""
}

// A logTail passes a log on and remembers its end.
type logTail struct {
	next io.Writer

	mu     sync.Mutex
	last   []byte
	writes int // requests that write, counted for PowerDNS
	rest   []byte
}

// tailBytes is how much of a log stays in memory.
const tailBytes = 4096

func (l *logTail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = append(l.last, b...)
	if over := len(l.last) - tailBytes; over > 0 {
		l.last = append([]byte(nil), l.last[over:]...)
	}
	l.count(b)
	if l.next != nil {
		return l.next.Write(b)
	}
	return len(b), nil
}

// count looks for whole lines that report an HTTP request which writes.
func (l *logTail) count(b []byte) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return
		}
		l.rest = rest
		for _, method := range []string{`"PATCH /`, `"POST /`, `"PUT /`, `"DELETE /`} {
			if bytes.Contains(line, []byte(method)) {
				l.writes++
			}
		}
	}
}

func (l *logTail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.last)
}

// executable finds a server program; daemons live in sbin folders, which the PATH of a normal user lacks.
func executable(name, pkg, dir string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		path = ""
		for _, folder := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin"} {
			if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
				path = filepath.Join(folder, name)
				break
			}
		}
	}
	if path == "" {
		return "", fmt.Errorf("%s is not installed; on Debian: apt-get install %s", name, pkg)
	}
	if confined() {
		return copied(path, filepath.Join(dir, name))
	}
	return path, nil
}

// confined reports whether AppArmor is on: its profiles go by the program's path and keep a distribution's named
// out of every folder but its own, so that a copy has to be started instead.
func confined() bool {
	b, err := os.ReadFile("/sys/module/apparmor/parameters/enabled")
	return err == nil && strings.HasPrefix(string(b), "Y")
}

// copied puts a copy of the program at the given path, unless one is there.
func copied(from, to string) (string, error) {
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return "", fmt.Errorf("copying %s: %w", from, err)
	}
	if err := os.WriteFile(to, b, 0o755); err != nil {
		return "", fmt.Errorf("copying %s: %w", from, err)
	}
	return to, nil
}
