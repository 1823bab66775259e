// Command zonefold shows what becomes of Zones and Records, in files and in clusters.
// Installed as kubectl-zonefold it is a plugin of kubectl. See package cli.
package main

import (
	"context"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/version"
)

// gcPercent lets the heap grow further between collections: the program is short-lived,
// and with 100,000 objects a fifth of its time would be spent on collecting. Not so serve: it
// lives on, folds again at every change, and would come to hold five times what it needs. Neither does the console of
// many.
const gcPercent = 400

// memoryLimit has it collected sooner where there is more: 100,000 objects take up to 300 MB of it. What import holds
// of 1,000,000 records is less, and what it reads and writes is garbage at once.
const (
	memoryLimit       = 400 << 20
	memoryLimitImport = 210 << 20
)

func main() {
	if os.Getenv("GOGC") == "" && !slices.Contains(os.Args, "serve") && !slices.Contains(os.Args, "in-cluster") {
		debug.SetGCPercent(gcPercent)
		if os.Getenv("GOMEMLIMIT") == "" {
			limit := int64(memoryLimit)
			if slices.Contains(os.Args, "import") {
				limit = memoryLimitImport
			}
			debug.SetMemoryLimit(limit)
		}
	}
	if limit := debug.SetMemoryLimit(-1); slices.Contains(os.Args, "in-cluster") && limit < math.MaxInt64 {
		debug.SetMemoryLimit(limit / 10 * 9) // GOMEMLIMIT is all that the Pod may have, of which the heap is not all
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, cli.Env{
		Args:    os.Args,
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Now:     time.Now(),
		Getenv:  os.Getenv,
		Version: version.Read(),

		Terminal: isTerminal(os.Stderr),
	})
	stop()
	os.Exit(code)
}

// isTerminal reports whether somebody may be looking at what is written to a file.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
