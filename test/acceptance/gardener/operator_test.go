package gardener

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ignoreAnnotationFlag has changed specs decide.
const ignoreAnnotationFlag = "--gardener-ignore-operation-annotation"

// chartValues turn the dialect on in the chart.
const chartValues = "dialects.kubizone=false,dialects.gardener=true," +
	"gardenerExtension.seed=true,gardenerExtension.admission=true"

// journal is the log of an operator.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// An operator is one running process of the binary.
type operator struct {
	cmd    *exec.Cmd
	done   chan struct{}
	log    *journal
	health string
}

// startOperator runs the operator with the rights that the chart gives it, until it is ready; it ends with the test.
func startOperator(t *testing.T, args ...string) *operator {
	t.Helper()
	health := freeAddress(t)
	o := &operator{done: make(chan struct{}), log: &journal{}, health: health}
	o.cmd = exec.Command(here.Operator, append([]string{
		"--kubeconfig", here.OperatorKubeconfig, "--namespace", here.OperatorNamespace, "--leader-elect=false",
		"--metrics-bind-address=0", "--health-probe-bind-address", health, "--dialects=gardener",
		"--gardener-classes=garden,seed,shoot", "--gardener-seed",
	}, args...)...)
	o.cmd.Stdout, o.cmd.Stderr = o.log, o.log
	o.cmd.SysProcAttr = endWithParent()
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = o.cmd.Wait()
		close(o.done)
	}()
	t.Cleanup(func() {
		o.stop()
		if t.Failed() {
			t.Logf("the operator says\n%s", o.log)
		}
	})
	eventually(t, "the operator is ready", func() bool {
		select {
		case <-o.done:
			t.Fatalf("the operator has ended:\n%s", o.log)
		default:
		}
		return o.ready()
	})
	return o
}

func (o *operator) ready() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.health+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// stop ends the operator as Kubernetes does.
func (o *operator) stop() {
	_ = o.cmd.Process.Signal(syscall.SIGTERM)
	<-o.done
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// patience is how long something may take that takes a moment on an idle machine.
const patience = 60 * time.Second

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	timeout := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-timeout:
			t.Fatalf("%s: it did not come about", what)
		case <-tick.C:
		}
	}
}
