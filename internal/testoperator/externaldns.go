package testoperator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// ExternalDNS returns the path of external-dns' own program, of the version that test/acceptance/externaldns/program
// has. The go command builds it, which takes long the first time, and keeps it.
func ExternalDNS(ctx context.Context) (string, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "-n", "external-dns")
	cmd.Dir = filepath.Join(root, "test", "acceptance", "externaldns", "program")
	cmd.Env = append(cmd.Environ(), "GOTOOLCHAIN=auto") // it needs a later one than zonefold
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("building external-dns: %w\n%s", err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// A Follower is one running external-dns.
type Follower struct {
	cmd  *exec.Cmd
	stop sync.Once
}

// StartExternalDNS runs external-dns until Stop, with flags besides those that say where the cluster is.
func StartExternalDNS(program, kubeconfig string, log io.Writer, flags ...string) (*Follower, error) {
	f := &Follower{cmd: exec.Command(program, append([]string{"--kubeconfig=" + kubeconfig,
		"--metrics-address=127.0.0.1:0"}, flags...)...)}
	f.cmd.Stdout, f.cmd.Stderr = log, log
	f.cmd.SysProcAttr = endWithParent()
	if err := f.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting external-dns: %w", err)
	}
	return f, nil
}

// PID is the process id.
func (f *Follower) PID() int { return f.cmd.Process.Pid }

// Stop ends it, and returns when it is gone.
func (f *Follower) Stop() {
	f.stop.Do(func() {
		_ = f.cmd.Process.Kill()
		_ = f.cmd.Wait()
	})
}
