package rig

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// Options are flags that mean the same in every benchmark. All have -workers and -log; what else a benchmark has it
// defines itself.
type Options struct {
	// Workers is how many creates and deletes there are at the same time.
	Workers int
	// Log is the file for the operator's log, "" for none.
	Log string
	// Profile is the beginning of the names of files for profiles, "" for none.
	Profile string
	// Idle is how long the operator is watched while it has nothing to do but audits, 0 for not at all.
	Idle time.Duration
}

// A Bench is one benchmark.
type Bench interface {
	// Flags defines flags besides -workers and -log.
	Flags(f *flag.FlagSet)
	// Check says in words what the flags of Flags need, and whether they have it.
	Check() (need string, ok bool)
	// Run measures and prints.
	Run(ctx context.Context, r *Rig, out io.Writer) error
}

// Main runs a benchmark, with its options, until it ends or is interrupted. Everything that it starts is gone when it
// returns.
func Main(name string, o *Options, b Bench) {
	figures.Main(name, func(ctx context.Context, args []string, out, progress io.Writer) (err error) {
		f := flag.NewFlagSet(name, flag.ContinueOnError)
		f.SetOutput(progress)
		if err := parse(f, o, b, args); err != nil {
			return err
		}
		r, err := newRig(o, progress)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.close()) }()
		return b.Run(ctx, r, out)
	})
}

func parse(f *flag.FlagSet, o *Options, b Bench, args []string) error {
	f.IntVar(&o.Workers, "workers", 16, "creates at the same time")
	f.StringVar(&o.Log, "log", "", "`file` for the operator's log")
	b.Flags(f)
	if err := f.Parse(args); err != nil {
		return err
	}
	if need, ok := b.Check(); !ok || o.Workers < 1 || f.NArg() > 0 {
		return fmt.Errorf("flags need %s, and there are no arguments; see -help", need)
	}
	return nil
}
