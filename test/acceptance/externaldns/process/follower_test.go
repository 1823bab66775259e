package process

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// A gate stands before the operator's server for external-dns and notes what comes through.
type gate struct {
	*httptest.Server
	mu    sync.Mutex
	calls []string // "POST /records 204"
}

func openGate(t *testing.T) *gate {
	g := &gate{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: here.webhook}) },
		ModifyResponse: func(r *http.Response) error {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.calls = append(g.calls, fmt.Sprintf("%s %s %d", r.Request.Method, r.Request.URL.Path, r.StatusCode))
			return nil
		},
	}
	g.Server = httptest.NewServer(proxy)
	t.Cleanup(g.Close)
	return g
}

// passed returns how often something came through.
func (g *gate) passed(call string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.calls {
		if c == call {
			n++
		}
	}
	return n
}

// managed has external-dns manage records of more types than it does by itself.
func managed() []string {
	var flags []string
	for _, kind := range []string{"A", "AAAA", "CNAME", "TXT", "MX"} {
		flags = append(flags, "--managed-record-types="+kind)
	}
	return flags
}

// A follower is one external-dns and its flags.
type follower struct {
	*testing.T
	gate  *gate
	flags []string
}

// follow has an external-dns follow the objects of a namespace, with the flags that people are told to give it and
// others, as the owner of a token.
func follow(t *testing.T, namespace, tenant string, more ...string) *follower {
	t.Helper()
	text, err := testoperator.Example(t.Context(), "externaldns-webhook.md", "## Setting it up", "sh")
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{T: t, gate: openGate(t)}
	for _, flag := range strings.Fields(strings.ReplaceAll(strings.TrimPrefix(text, "external-dns"), "\\\n", " ")) {
		if at, ok := strings.CutPrefix(flag, "--webhook-provider-url="); ok {
			to, err := url.Parse(at)
			if err != nil {
				t.Fatal(err)
			}
			to.Host = strings.TrimPrefix(f.gate.URL, "http://")
			if tenant != "external-dns" { // that of the page
				to.User = url.UserPassword("external-dns", token(tenant))
			}
			flag = "--webhook-provider-url=" + to.String()
		}
		f.flags = append(f.flags, flag)
	}
	f.flags = append(f.flags, "--source=service", "--source=crd", "--namespace="+namespace)
	f.flags = append(f.flags, more...)
	return f
}

// command is external-dns with more flags.
func (f *follower) command(ctx context.Context, more ...string) *exec.Cmd {
	args := []string{"--kubeconfig=" + here.Cluster.Kubeconfig(), "--metrics-address=127.0.0.1:0"}
	for _, flag := range slices.Concat(f.flags, more) { // external-dns refuses one that is given twice: the last counts
		name, _, _ := strings.Cut(flag, "=")
		several := name == "--source" || name == "--managed-record-types"
		again := func(other string) bool { return !several && strings.HasPrefix(other, name+"=") }
		args = append(slices.DeleteFunc(args, again), flag)
	}
	cmd := exec.CommandContext(ctx, here.program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// once has it do what there is to do, which has to succeed, and returns its log.
func (f *follower) once(more ...string) string {
	f.Helper()
	log, err := f.attempt(more)
	if wrong := complaints(log); err != nil || len(wrong) > 0 {
		f.Errorf("external-dns fails: %v\n%s", err, log)
	}
	return log
}

// refused has it do what there is to do, some of which has to be refused.
func (f *follower) refused(more ...string) {
	f.Helper()
	if log, err := f.attempt(more); err == nil || !strings.Contains(log, "REFUSED") {
		f.Errorf("nothing is refused to external-dns (%v):\n%s", err, log)
	}
}

func (f *follower) attempt(more []string) (log string, err error) {
	ctx, cancel := context.WithTimeout(f.Context(), patience)
	defer cancel()
	out, err := f.command(ctx, append(more, "--once")...).CombinedOutput()
	return string(out), err
}

// complaints are the lines of a log of external-dns that are about errors.
func complaints(log string) (out []string) {
	for line := range strings.Lines(log) {
		if errors := regexp.MustCompile(` level=(error|fatal|panic) `); errors.MatchString(line) {
			out = append(out, line)
		}
	}
	return out
}

// run has it go on until end is called, which returns its log.
func (f *follower) run(more ...string) (log *testoperator.Journal, end func()) {
	f.Helper()
	ctx, cancel := context.WithCancel(f.Context())
	cmd := f.command(ctx, append(more, "--interval=1s")...)
	log = &testoperator.Journal{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		cancel()
		f.Fatal(err)
	}
	return log, func() {
		f.Helper()
		cancel()
		if err := cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			f.Errorf("external-dns ends: %v\n%s", err, log)
		}
	}
}

// idles fails if external-dns, run once more, finds something to do, or Records change.
func (f *follower) idles(tenant string, more ...string) {
	f.Helper()
	kubectl(f.T, "", "wait", "records.kubi.zone", "--all", "-n", tenant, "--for=condition=Ready", "--timeout=60s")
	versions := func() string {
		return kubectl(f.T, "", "get", "records.kubi.zone", "-n", tenant, "-o",
			`jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	}
	before := versions()
	if log := f.once(more...); !strings.Contains(log, "All records are already up to date") {
		f.Errorf("external-dns finds something to do:\n%s", log)
	}
	if after := versions(); after != before {
		f.Errorf("with nothing to do\n%s becomes\n%s", before, after)
	}
}
