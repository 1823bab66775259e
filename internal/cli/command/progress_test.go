package command

import (
	"strings"
	"testing"
	"time"
)

// TestProgressOfAStage looks at a stage every second.
func TestProgressOfAStage(t *testing.T) {
	var terminal strings.Builder
	p := &Progress{out: &terminal, ticks: quietTicks}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	step := p.Begin("checking objects", 1000)
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
	p.Begin("deciding", 0)
	p.show(at)
	p.End()
	want := "checking objects: 200 of 1000" +
		"\r\x1b[Kchecking objects: 400 of 1000, 200 a second, 3 s left" +
		"\r\x1b[Kchecking objects: 600 of 1000, 200 a second, 2 s left" +
		"\r\x1b[Kwarning\ndeciding\r\x1b[K"
	if terminal.String() != want {
		t.Errorf("the terminal gets\n%q, and should get\n%q", terminal.String(), want)
	}
}
