package cli

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A slowReader is an input that takes its time and holds nothing.
type slowReader struct{ takes time.Duration }

func (r slowReader) Read([]byte) (int, error) {
	<-time.After(r.takes)
	return 0, io.EOF
}

// TestProgressIsForWhoWaitsAtATerminal waits for inputs.
func TestProgressIsForWhoWaitsAtATerminal(t *testing.T) {
	for _, c := range []struct {
		name     string
		takes    time.Duration
		terminal bool
		tells    bool
	}{
		{"a terminal is told after a second", 1100 * time.Millisecond, true, true},
		{"half a second is waited for in silence", 500 * time.Millisecond, true, false},
		{"a log is told nothing", time.Minute, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range []string{"check", "render"} {
				synctest.Test(t, func(t *testing.T) {
					var stderr strings.Builder
					Run(t.Context(), Env{
						Args: []string{"zonefold", name, "-f", "-"}, Stdin: slowReader{c.takes}, Stdout: io.Discard, Stderr: &stderr,
						Getenv: func(string) string { return "" }, Terminal: c.terminal,
					})
					tells := strings.HasPrefix(stderr.String(), "reading files\r\x1b[K")
					if tells != c.tells || strings.Count(stderr.String(), "\r") > 1 {
						t.Errorf("%s says %q", name, stderr.String())
					}
				})
			}
		})
	}
}
