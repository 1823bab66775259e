package cli

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/cli/command"
)

// A stalledReader is an input that comes to nothing. It says when somebody reads it.
type stalledReader struct {
	io.Reader
	begun func()
}

func (r stalledReader) Read(p []byte) (int, error) {
	r.begun()
	return r.Reader.Read(p)
}

// TestInterruptEndsWhatIsUnderWay interrupts commands while they wait for their input.
func TestInterruptEndsWhatIsUnderWay(t *testing.T) {
	for _, name := range []string{"check", "render"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			pipe, end := io.Pipe()
			defer end.Close()
			var stderr strings.Builder
			code := Run(ctx, Env{
				Args: []string{"zonefold", name, "-f", "-"}, Stdin: stalledReader{pipe, cancel}, Stdout: io.Discard,
				Stderr: &stderr,
				Getenv: func(string) string { return "" },
			})
			if code != command.ExitInterrupted || stderr.String() != "error: interrupted\n" {
				t.Errorf("it ends with %d and says %q", code, stderr.String())
			}
		})
	}
}
