package cli

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgressOfAStage looks at a stage every second.
func TestProgressOfAStage(t *testing.T) {
	var terminal strings.Builder
	p := &progress{out: &terminal, ticks: quietTicks}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	step := p.begin("checking objects", 1000)
	for range 3 {
		for range 200 {
			step()
		}
		p.show(at)
		at = at.Add(time.Second)
	}
	if _, err := p.Write([]byte("warning\n")); err != nil {
		t.Fatal(err)
	}
	p.begin("deciding", 0)
	p.show(at)
	p.end()
	want := "checking objects: 200 of 1000" +
		"\r\x1b[Kchecking objects: 400 of 1000, 200 a second, 3 s left" +
		"\r\x1b[Kchecking objects: 600 of 1000, 200 a second, 2 s left" +
		"\r\x1b[Kwarning\ndeciding\r\x1b[K"
	if terminal.String() != want {
		t.Errorf("the terminal gets\n%q, and should get\n%q", terminal.String(), want)
	}
}

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
			for _, command := range []string{"check", "render"} {
				synctest.Test(t, func(t *testing.T) {
					var stderr strings.Builder
					Run(t.Context(), Env{
						Args: []string{"zonefold", command, "-f", "-"}, Stdin: slowReader{c.takes}, Stdout: io.Discard, Stderr: &stderr,
						Getenv: func(string) string { return "" }, Terminal: c.terminal,
					})
					tells := strings.HasPrefix(stderr.String(), "reading files\r\x1b[K")
					if tells != c.tells || strings.Count(stderr.String(), "\r") > 1 {
						t.Errorf("%s says %q", command, stderr.String())
					}
				})
			}
		})
	}
}
