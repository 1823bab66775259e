package testoperator

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// BuildHook compiles the reference server of the webhook protocol into dir and returns its path.
func BuildHook(ctx context.Context, dir string) (string, error) { return build(ctx, dir, "dnshook") }

// A Hook is one running server of the webhook protocol.
type Hook struct {
	URL   string // for requests
	Admin string // before /metrics
	cmd   *exec.Cmd
	done  chan struct{}
}

// hookPatience is how long a server may take until it listens.
const hookPatience = time.Minute

// StartHook runs dnshook on free loopback ports until Stop, and returns when it listens. Its log goes to log, nil:
// nowhere.
func StartHook(path string, log io.Writer, args ...string) (*Hook, error) {
	h := &Hook{done: make(chan struct{})}
	h.cmd = exec.Command(path, append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)
	h.cmd.SysProcAttr = endWithParent()
	said, err := h.cmd.StderrPipe()
	if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting dnshook: %w", err)
	}
	if log == nil {
		log = io.Discard
	}
	listens := make(chan struct{})
	go h.follow(said, log, listens)
	select {
	case <-listens:
		return h, nil
	case <-h.done:
		return nil, fmt.Errorf("dnshook ended at once: %s", h.cmd.ProcessState)
	case <-time.After(hookPatience):
		h.Stop()
		return nil, fmt.Errorf("dnshook does not listen after %s", hookPatience)
	}
}

// follow passes the log on, and notes the addresses that the server says in it.
func (h *Hook) follow(said io.Reader, log io.Writer, listens chan<- struct{}) {
	for lines := bufio.NewReader(said); ; {
		line, err := lines.ReadBytes('\n')
		_, _ = log.Write(line)
		var about struct{ Msg, Address, Admin string }
		if json.Unmarshal(line, &about) == nil && about.Msg == "listening" && h.URL == "" {
			h.URL, h.Admin = "http://"+about.Address, "http://"+about.Admin
			close(listens)
		}
		if err != nil {
			break
		}
	}
	_ = h.cmd.Wait()
	close(h.done)
}

// Stop ends the server, and returns when it is gone.
func (h *Hook) Stop() {
	_ = h.cmd.Process.Signal(os.Interrupt)
	<-h.done
}
