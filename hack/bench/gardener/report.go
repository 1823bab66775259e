package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// calls are requests to the service with a limit, by operation, as it counts them. "throttled" are those of them that
// it refused.
type calls map[string]float64

func (b *bench) calls() calls {
	c := calls{}
	for _, operation := range []string{"ListHostedZones", "GetHostedZone", "ListResourceRecordSets",
		"ChangeResourceRecordSets", "GetChange", "throttled", "denied"} {
		c[operation] = float64(b.route53.Count(operation))
	}
	return c
}

func (c calls) since(before calls) calls { return figures.Less(c, before) }

func (c calls) total() float64 {
	total := 0.0
	for operation, n := range c {
		if operation != "throttled" && operation != "denied" {
			total += n
		}
	}
	return total
}

func (c calls) String() string {
	if len(c) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f: %s", c.total(), figures.ByCount(maps.Clone(c)))
}

// compareGone finds what is left when everything was deleted.
func (b *bench) compareGone(ctx context.Context) error {
	found, err := b.served(ctx)
	if err != nil {
		return err
	}
	for name := range found {
		return fmt.Errorf("%d records are left, such as %s", len(found), name)
	}
	return nil
}

// A result is everything that was measured.
type result struct {
	n, zones int
	rate     float64

	alone                  time.Duration // of the account without a limit, with nothing else
	creates, free, limited time.Duration // of both, from the first create
	changed                time.Duration // of all in the account with a limit
	gone                   time.Duration
	bare                   bare
	idle, busy             figures.Times // single changes in the account without a limit
	peak                   int64         // octets

	calls, changeCalls, restartCalls, goneCalls calls

	load string // of the machine in the minute before
}

func (r *result) print(w io.Writer) error {
	seconds := func(what string, d time.Duration) figures.Row {
		return figures.Note(what, fmt.Sprintf("%.1f s", d.Seconds()))
	}
	times := func(t figures.Times) string {
		return fmt.Sprintf("%.1f ms, %.1f ms", figures.Milliseconds(t.Percentile(50)), figures.Milliseconds(t.Percentile(99)))
	}
	return figures.Table(w, fmt.Sprintf(
		"%d DNSRecords of Gardener in two accounts; one has %d zones and takes %g requests a second", r.n, r.zones, r.rate),
		[]figures.Row{
			seconds("half of them in the account without a limit, alone: first create to all done", r.alone),
			seconds("the same writes by a bare client", r.bare.done),
			seconds("the creates of all", r.creates),
			seconds("first create to all done, without a limit", r.free),
			seconds("first create to all done, with the limit", r.limited),
			figures.Note("calls of the account with the limit", r.calls.String()),
			figures.Note("one change without a limit to new answer, p50, p99, idle", times(r.idle)),
			figures.Note("the same while all of the other account change", times(r.busy)),
			figures.Note("the three writes before that answer, by a bare client while all others change", times(r.bare.busy)),
			seconds("all of the account with the limit changed", r.changed),
			figures.Note("calls for that", r.changeCalls.String()),
			figures.Note("calls when the operator starts again", r.restartCalls.String()),
			seconds("deleting all, until none was left", r.gone),
			seconds("the writes of that for half of them, by a bare client", r.bare.gone),
			figures.Note("calls for that", r.goneCalls.String()),
			figures.Note("operator's memory, peak", fmt.Sprintf("%d MiB", r.peak/figures.Mebi)),
			figures.Note("load of the machine in the minute before", r.load),
		})
}

// figures are those for BENCH_OUT.
func (r *result) figures() map[string]any {
	return map[string]any{
		"gardener_n": r.n, "gardener_alone_s": r.alone.Seconds(), "gardener_free_s": r.free.Seconds(),
		"gardener_limited_s": r.limited.Seconds(), "gardener_gone_s": r.gone.Seconds(),
		"gardener_bare_s": r.bare.done.Seconds(), "gardener_bare_gone_s": r.bare.gone.Seconds(),
		"gardener_calls": r.calls.total(), "gardener_throttled": r.calls["throttled"],
		"gardener_restart_calls": r.restartCalls.total(),
		"gardener_idle_p50_ms":   figures.Milliseconds(r.idle.Percentile(50)),
		"gardener_busy_p50_ms":   figures.Milliseconds(r.busy.Percentile(50)),
		"gardener_floor_p50_ms":  figures.Milliseconds(r.bare.busy.Percentile(50)),
	}
}
