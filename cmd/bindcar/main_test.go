package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

const secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA=="

func TestRunServesUntilItIsStopped(t *testing.T) {
	env := map[string]string{
		"BIND_ZONE_DIR": t.TempDir(), "BIND_API_ADDRESS": "127.0.0.1", "API_PORT": "0", "RNDC_SERVER": "127.0.0.1:1",
		"RNDC_SECRET": secret, "BIND_API_TOKEN": "the-token",
		"BIND_ALLOWED_NAMESPACES": "for-nothing", "RUST_LOG": "bindcar=debug",
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"run"}, func(name string) string { return env[name] }, write)
		write.Close()
	}()
	var messages []string
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		if text := lines.Text(); strings.Contains(text, secret) || strings.Contains(text, "the-token") {
			t.Errorf("the log has a secret: %s", text)
		}
		var line struct{ Level, Msg, Address string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Errorf("the log has %s: %v", lines.Text(), err)
		}
		messages = append(messages, line.Level+" "+line.Msg)
		if line.Msg == "listening" {
			go func() { // while the log goes on being read
				for path, status := range map[string]int{"/api/v1/health": 200, "/api/v1/ready": 503, "/api/v1/zones": 401} {
					req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+line.Address+path, nil)
					if err != nil {
						t.Error(err)
						continue
					}
					resp, err := http.DefaultClient.Do(req)
					if err != nil {
						t.Error(err)
						continue
					}
					resp.Body.Close()
					if resp.StatusCode != status {
						t.Errorf("%s answers %d, not %d", path, resp.StatusCode, status)
					}
				}
				cancel()
			}()
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if text := strings.Join(messages, "\n"); !strings.HasPrefix(text, "WARN BIND_API_TOKEN is set") ||
		!strings.Contains(text, "DEBUG answered") || !strings.HasSuffix(text, "INFO stopped") {
		t.Errorf("the log is\n%s", text)
	}
}

func TestLevel(t *testing.T) {
	for text, want := range map[string]slog.Level{
		"": slog.LevelInfo, "debug": slog.LevelDebug, "TRACE": slog.LevelDebug, "warn": slog.LevelWarn,
		"error": slog.LevelError, "hyper=debug,info": slog.LevelInfo, "bindcar=warn,debug": slog.LevelWarn,
		"nonsense": slog.LevelInfo,
	} {
		if got := level(text); got != want {
			t.Errorf("%q is %s, not %s", text, got, want)
		}
	}
}
