// Package testoperator builds the operator and runs it as a process of its own, as it
// runs in a cluster, for tests, the demo and the benchmark.
package testoperator

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/zonefold/zonefold/internal/nameserver"
)

// Namespace and ServiceAccount are the operator's in config/install, whose rights it has in tests.
const (
	Namespace      = "zonefold-system"
	ServiceAccount = "zonefold-operator"
)

// Build compiles the operator into dir and returns its path.
func Build(ctx context.Context, dir string) (string, error) { return build(ctx, dir, "operator") }

// BuildCommand compiles the zonefold command into dir and returns its path.
func BuildCommand(ctx context.Context, dir string) (string, error) {
	return build(ctx, dir, "zonefold")
}

// build compiles a program of cmd/ into dir and returns its path. What is linked for "go run" the go command keeps, so
// that the next package whose tests need the program does not wait for the linker again.
func build(ctx context.Context, dir, name string) (string, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	cmd := exec.CommandContext(ctx, "go", "run", "-exec", "cp", "./cmd/"+name, path)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building cmd/%s: %w\n%s", name, err, out)
	}
	return path, nil
}

// ModuleRoot is the folder of the repository, also where the module of the tests is one of its folders.
func ModuleRoot(ctx context.Context) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/zonefold/zonefold").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	return strings.TrimSpace(string(root)), nil
}

// Options say how to run the operator.
type Options struct {
	Path       string // from Build
	Kubeconfig string
	Args       []string  // more flags; of one that is given twice the last counts
	Log        io.Writer // nil: dropped
	NoElection bool      // acts at once; for one operator that is not replaced while it may still act
}

// A Process is one running operator.
type Process struct {
	cmd     *exec.Cmd
	done    chan struct{}
	once    sync.Once
	metrics string
	health  string
	ports   []func() // that let go of these
}

// Start runs the operator on free loopback ports.
func Start(o Options) (*Process, error) {
	p := &Process{done: make(chan struct{})}
	for _, into := range []*string{&p.metrics, &p.health} {
		at, release, err := claimAddress()
		if err != nil {
			p.release()
			return nil, err
		}
		*into, p.ports = at, append(p.ports, release)
	}
	args := append([]string{
		"--kubeconfig", o.Kubeconfig, "--namespace", Namespace, "--leader-elect=" + strconv.FormatBool(!o.NoElection),
		"--metrics-bind-address", p.metrics, "--health-probe-bind-address", p.health,
		"--dialects", "kubizone",
	}, o.Args...)
	p.cmd = exec.Command(o.Path, args...)
	p.cmd.Stdout, p.cmd.Stderr = o.Log, o.Log
	p.cmd.SysProcAttr = endWithParent()
	if err := p.cmd.Start(); err != nil {
		p.release()
		return nil, fmt.Errorf("starting the operator: %w", err)
	}
	go func() {
		_ = p.cmd.Wait()
		p.release()
		close(p.done)
	}()
	return p, nil
}

// claimAddress returns one of loopback that nobody takes until release is called: its port is none that the kernel
// gives to connections.
func claimAddress() (at string, release func(), err error) {
	port, release, err := nameserver.ClaimPort()
	if err != nil {
		return "", nil, fmt.Errorf("finding a free port: %w", err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))), release, nil
}

// release lets others have the ports.
func (p *Process) release() {
	for _, release := range p.ports {
		release()
	}
}

// Kill ends the operator as a crash does.
func (p *Process) Kill() { p.end(syscall.SIGKILL) }

// Stop ends the operator as Kubernetes does, and returns when it is gone.
func (p *Process) Stop() { p.end(syscall.SIGTERM) }

func (p *Process) end(s os.Signal) {
	p.once.Do(func() { _ = p.cmd.Process.Signal(s) })
	<-p.done
}

// Done is closed when the operator has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ready reports whether /readyz answers 200.
func (p *Process) Ready() bool { return p.answers("/readyz") }

// Live reports whether /healthz answers 200.
func (p *Process) Live() bool { return p.answers("/healthz") }

func (p *Process) answers(path string) bool {
	client := http.Client{Timeout: 2 * time.Second}
	resp, err := client.Get("http://" + p.health + path)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Metrics returns the samples whose name begins with prefix: by name and labels as in
// the exposition format.
func (p *Process) Metrics(prefix string) (map[string]float64, error) {
	client := http.Client{Timeout: 5 * time.Second}
	resp, err := client.Get("http://" + p.metrics + "/metrics")
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	out := map[string]float64{}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		line := lines.Text()
		i := strings.LastIndexByte(line, ' ')
		if !strings.HasPrefix(line, prefix) || i < 0 {
			continue
		}
		if v, err := strconv.ParseFloat(line[i+1:], 64); err == nil {
			out[line[:i]] = v
		}
	}
	return out, nil
}
