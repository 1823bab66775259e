package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// usage is what the programs have used, and done to each other, since they started.
type usage struct {
	cpu        map[string]time.Duration // of every program that takes part
	rss, peak  int64                    // the operator's, in octets
	requests   float64                  // of HTTP, by the server's count, without those for its health
	operations float64                  // that came in batches, by the server's count
	updates    int                      // UPDATE messages, by BIND's count
	writes     map[string]float64       // the operator's to the API server
}

func (b *bench) usage(ctx context.Context) (u usage, err error) {
	if u.cpu, err = figures.CPUTimes(); err != nil {
		return u, err
	}
	if u.rss, u.peak, err = figures.MemoryOf(b.Operator.PID()); err != nil {
		return u, err
	}
	if u.updates, err = b.bind.Updates(ctx); err != nil {
		return u, err
	}
	text, err := figures.Get(ctx, b.hook.Admin+"/metrics")
	if err != nil {
		return u, err
	}
	m := figures.Samples(string(text))
	u.requests = figures.Sum(m, "dnshook_requests_total") -
		m[`dnshook_requests_total{code="",endpoint="health",status="200"}`]
	u.operations = figures.Sum(m, "dnshook_batch_operations_total")
	u.writes, err = b.Operator.Metrics(writes)
	return u, err
}

// since leaves what happened after before; memory stays what it is now.
func (u usage) since(before usage) usage {
	u.cpu = figures.Less(u.cpu, before.cpu)
	u.requests -= before.requests
	u.operations -= before.operations
	u.updates -= before.updates
	u.writes = figures.Less(u.writes, before.writes)
	return u
}

// writes is the operator's metric.
const writes = "zonefold_api_writes_total"

func (u usage) written() float64 { return figures.Sum(u.writes, writes) }

// A result is everything that was measured.
type result struct {
	n              int
	alone, during  time.Duration // the creates, without the operator and with it
	served, status time.Duration // from the first create
	deletes, gone  time.Duration // the last deletion was answered; the last object is no more
	bare           bare
	used, unused   usage // until all statuses were written; while all were deleted
	changes        figures.Times
	load           string // of the machine in the minute before
}

func (r *result) print(w io.Writer) error {
	seconds := func(what string, d time.Duration) figures.Row {
		return figures.Note(what, fmt.Sprintf("%.1f s", d.Seconds()))
	}
	n := float64(r.n)
	return figures.Table(w, fmt.Sprintf("%d DNSRecords of one DNSClass", r.n), []figures.Row{
		seconds("creates alone, the operator stopped", r.alone),
		seconds("the same creates with the operator", r.during),
		seconds("first create to all at BIND", r.served),
		seconds("first create to all statuses", r.status),
		figures.AtMost("at BIND / creates alone", "%.2f", r.served.Seconds()/r.alone.Seconds(), 1.5),
		figures.Note("the same of a bare client's creates and marks", ratio(r.bare.marked, r.alone)),
		figures.AtMost("statuses / creates alone", "%.2f", r.status.Seconds()/r.alone.Seconds(), 5),
		figures.Note("the same of a bare client's creates, marks and statuses", ratio(r.bare.status, r.alone)),
		figures.Note("records a second, to BIND", fmt.Sprintf("%.0f", n/r.served.Seconds())),
		figures.Note("HTTP requests (by the server), operations in batches",
			fmt.Sprintf("%.0f, %.0f", r.used.requests, r.used.operations)),
		figures.Note("UPDATEs (by BIND)", fmt.Sprint(r.used.updates)),
		figures.Note("operator's API writes a record", fmt.Sprintf("%.3f", r.used.written()/n)),
		figures.Note("operator's memory, afterwards", fmt.Sprintf("%d MiB", r.used.rss/figures.Mebi)),
		figures.AtMost("the same at its peak, MiB", "%.0f", float64(r.used.peak)/figures.Mebi, 120),
		figures.Note("CPU seconds until all statuses", figures.ByCPU(r.used.cpu)),
		figures.Note("one change to new answer, p50, p99", fmt.Sprintf("%.1f ms, %.1f ms", r.change(50), r.change(99))),
		figures.AtMost("deleting all, until none was left, s", "%.1f", r.gone.Seconds(), 40),
		seconds("the same by a bare client", r.bare.gone),
		seconds("until the last deletion was answered", r.deletes),
		figures.Note("operator's API writes a deletion", fmt.Sprintf("%.3f", r.unused.written()/n)),
		figures.Note("CPU seconds of deleting all", figures.ByCPU(r.unused.cpu)),
		figures.Note("load of the machine in the minute before", r.load),
	})
}

// ratio says how many times as long as another time one is.
func ratio(d, of time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()/of.Seconds()) }

func (r *result) change(p int) float64 { return figures.Milliseconds(r.changes.Percentile(p)) }

// figures are those for BENCH_OUT.
func (r *result) figures() map[string]any {
	return map[string]any{
		"webhook_n": r.n, "webhook_creates_s": r.alone.Seconds(), "webhook_served_s": r.served.Seconds(),
		"webhook_status_s": r.status.Seconds(), "webhook_gone_s": r.gone.Seconds(),
		"webhook_bare_marked_s": r.bare.marked.Seconds(), "webhook_bare_status_s": r.bare.status.Seconds(),
		"webhook_bare_gone_s": r.bare.gone.Seconds(),
		"webhook_requests":    r.used.requests, "webhook_api_writes_per_record": r.used.written() / float64(r.n),
		"webhook_rss_mb": float64(r.used.rss) / figures.Mebi, "webhook_change_p50_ms": r.change(50),
		"webhook_change_p99_ms": r.change(99),
	}
}
