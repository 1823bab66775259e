package command

import (
	"fmt"
	"io"
	"time"

	"github.com/zonefold/zonefold/internal/version"
)

// Exit codes. Scripts take ExitDifferences for an answer, so what goes wrong has another code, wrong usage too.
const (
	ExitDone        = 0
	ExitTrouble     = 1
	ExitDifferences = 2 // what was compared, or written, is not the same; there is something to do

	ExitFindings   = 1 // of check and conformance: they found something
	ExitUnreadable = 2 // of these, render and serve: wrong usage, or input that cannot be read

	ExitInterrupted = 130 // as shells have it for SIGINT
)

// Env is what a command gets from its surroundings.
type Env struct {
	Args    []string // the program's name first
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Now     time.Time // for new serials
	Getenv  func(string) string
	Version version.Info // of the program

	Terminal bool // Stderr is a terminal, on which a line may be written again
}

// ExitError ends the program with a code other than that of trouble. Without an error everything has been said already.
type ExitError struct {
	Code int
	Err  error
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns what went wrong.
func (e *ExitError) Unwrap() error { return e.Err }
