// Command dns measures the embedded name server on loopback: questions a second beside CoreDNS, Knot, NSD and BIND with
// the same zone, from a change to its answer, memory, and transfers. docs/performance.md says what the figures mean.
//
//	go run ./hack/bench/dns                the table; with BENCH_OUT=file its figures are added to the JSON object there
//	go run ./hack/bench/dns -only qps      one part of it: qps, change, memory, transfer
//
// Servers are processes of their own; the embedded one is this program again, with the argument "serve".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A bench is what the parts share.
type bench struct {
	rounds    int
	round     time.Duration
	hosts     int
	changes   int
	records   int
	transfers int
	only      string

	dir      string // of files that are gone in the end
	progress io.Writer
	began    time.Time
	load     string // of the machine at the beginning
	rows     []figures.Row
	figures  map[string]any      // for BENCH_OUT
	compared *figures.Comparison // with others, nil if that was not to be measured
}

func main() {
	run := run
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		run = serve
	}
	figures.Main("dns", run)
}

func (b *bench) parse(args []string) error {
	f := flag.NewFlagSet("dns", flag.ContinueOnError)
	f.SetOutput(b.progress)
	f.IntVar(&b.rounds, "rounds", 5, "how often each server is asked, in turns; figures are medians")
	f.DurationVar(&b.round, "round", 5*time.Second, "how long a round takes")
	f.IntVar(&b.hosts, "hosts", 10_000, "names in the zone that the servers answer from")
	f.IntVar(&b.changes, "changes", 1000, "single changes in a zone")
	f.IntVar(&b.records, "records", 1_000_000, "records of the zone whose memory is measured")
	f.IntVar(&b.transfers, "transfers", 50, "transfers of a zone")
	f.StringVar(&b.only, "only", "", "measure one `part`: qps, change, memory or transfer")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || min(b.rounds, int(b.round/time.Second), b.hosts, b.changes, b.records, b.transfers) < 1 {
		return errors.New("flags need numbers above 0, a round a second, and there are no arguments; see -help")
	}
	return nil
}

// run measures and prints; everything that it starts is gone when it returns.
func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	b := &bench{progress: progress, began: time.Now(), figures: map[string]any{}}
	if err := b.parse(args); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "zonefold-bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if err := b.measure(ctx); err != nil {
		return err
	}
	if b.compared != nil {
		b.compared.Markdown(out, 1, "")
		maps.Copy(b.figures, b.compared.Figures())
	}
	if len(b.rows) > 0 {
		rows := append([]figures.Row{figures.Note("load of the machine at the beginning", b.load)}, b.rows...)
		if err := figures.Table(out, "The embedded name server", rows); err != nil {
			return err
		}
	}
	return figures.Add(os.Getenv("BENCH_OUT"), b.figures)
}

func (b *bench) measure(ctx context.Context) error {
	var err error
	if b.load, err = figures.Load(); err != nil {
		return err
	}
	parts := []struct {
		name string
		run  func(context.Context) error
	}{{"qps", b.versus}, {"change", b.change}, {"memory", b.memory}, {"transfer", b.transfer}}
	known := false
	for _, part := range parts {
		if b.only != "" && b.only != part.name {
			continue
		}
		known = true
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if !known {
		return fmt.Errorf("there is no part %q; see -help", b.only)
	}
	return nil
}

func (b *bench) note(what, format string, args ...any) {
	b.rows = append(b.rows, figures.Note(what, fmt.Sprintf(format, args...)))
}

// say tells how far it is.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "%7.1f s  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}

// p50p99 notes two percentiles, and how they are called in JSON.
func (b *bench) p50p99(what, name string, took figures.Times) {
	p50, p99 := figures.Milliseconds(took.Percentile(50)), figures.Milliseconds(took.Percentile(99))
	b.note(what+", p50, p99", "%.3f ms, %.3f ms", p50, p99)
	b.figures[name+"_p50_ms"], b.figures[name+"_p99_ms"] = p50, p99
}
