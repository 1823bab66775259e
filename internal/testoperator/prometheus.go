package testoperator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Prometheus is one running Prometheus.
type Prometheus struct {
	cmd     *exec.Cmd
	at      string
	release func() // lets others have its port
	stop    sync.Once
}

// StartPrometheus has Debian's Prometheus scrape operators each second until Stop. Its files are in dir.
func StartPrometheus(dir string, log io.Writer, operators ...*Process) (*Prometheus, error) {
	var targets []string
	for _, o := range operators {
		targets = append(targets, strconv.Quote(o.metrics))
	}
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s}\n"+
		"scrape_configs: [{job_name: zonefold, static_configs: [{targets: [%s]}]}]\n", strings.Join(targets, ", "))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("writing the configuration of Prometheus: %w", err)
	}
	at, release, err := claimAddress()
	if err != nil {
		return nil, err
	}
	p := &Prometheus{at: at, release: release, cmd: exec.Command("prometheus", "--config.file="+config,
		"--web.listen-address="+at, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--log.level=warn")}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = endWithParent()
	if err := p.cmd.Start(); err != nil {
		release()
		return nil, fmt.Errorf("starting Prometheus: %w; go run ./hack/prerequisites installs it", err)
	}
	return p, nil
}

// A Sample is one series of the answer to a query, and its value.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Query asks for what an expression is now.
func (p *Prometheus) Query(ctx context.Context, expr string) ([]Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.at+"/api/v1/query?query="+
		url.QueryEscape(expr), nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("asking Prometheus: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Error != "" {
		return nil, fmt.Errorf("asking Prometheus for %s: %w %s", expr, err, answer.Error)
	}
	var samples []Sample
	for _, s := range answer.Data.Result {
		text, _ := s.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("reading what Prometheus answers to %s: %w", expr, err)
		}
		samples = append(samples, Sample{s.Metric, v})
	}
	return samples, nil
}

// Stop ends it, and returns when it is gone.
func (p *Prometheus) Stop() {
	p.stop.Do(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.release()
	})
}
