package main

import (
	"fmt"
	"io"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A result is everything that was measured.
type result struct {
	options              *options
	load                 string
	storage              []storage
	list                 time.Duration
	began                time.Time     // when the operator was started
	first, all, statuses time.Duration // since then
	serving, servingPeak int64         // octets of memory of the operator, when all is served
	memory, peak         int64         // the same when all statuses are written
	cpu                  time.Duration // of the operator until then
	ready                figures.Times // standbys
	waiting              int64         // octets of memory of the largest of them, which has the cache and decides nothing
	beyond               figures.Times // of changes, after the end of the Lease
}

func (r *result) print(w io.Writer) error {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
	mebi := func(n int64) string { return fmt.Sprintf("%d MiB", n/figures.Mebi) }
	var rows []figures.Row
	for _, s := range r.storage {
		rows = append(rows, figures.Note(fmt.Sprintf("%d Records created", s.records), s.String()))
	}
	rows = append(rows,
		figures.Note("a list of all in pages of 500", seconds(r.list)),
		figures.Note("start of the operator to the first answer; to all", seconds(r.first)+"; "+seconds(r.all)),
		figures.Note("memory of the operator then; at its peak", mebi(r.serving)+"; "+mebi(r.servingPeak)),
	)
	if r.options.statuses {
		rows = append(rows,
			figures.Note("to all labels and statuses", seconds(r.statuses)),
			figures.Note("CPU of the operator until then; for a Record", fmt.Sprintf("%s; %.2f ms", seconds(r.cpu),
				figures.Milliseconds(r.cpu)/float64(r.options.n))),
			figures.Note("its memory then; for a Record", fmt.Sprintf("%s; %d octets", mebi(r.memory),
				r.memory/int64(r.options.n))),
			figures.Note("at its peak; beside that", fmt.Sprintf("%s; %.2f", mebi(r.peak), float64(r.peak)/float64(r.memory))),
		)
	}
	if len(r.beyond) > 0 {
		rows = append(rows,
			figures.Note(fmt.Sprintf("start of a second operator to ready, p50, longest of %d", len(r.ready)),
				seconds(r.ready.Percentile(50))+", "+seconds(r.ready.Percentile(100))),
			figures.Note("its memory then: the cache alone", mebi(r.waiting)),
			figures.Note(fmt.Sprintf("end of a dead leader's Lease to the answer, p50 of %d changes in %d deaths",
				len(r.beyond), r.options.kills), seconds(r.beyond.Percentile(50))),
			figures.AtMost("the same, p99, s", "%.1f", r.beyond.Percentile(99).Seconds(), 5),
		)
	}
	rows = append(rows, figures.Note("load of the machine in the minute before", r.load))
	return figures.Table(w, fmt.Sprintf("%d Records in %d Zones of %d namespaces, through an API server", r.options.n,
		r.options.zones, r.options.tenants), rows)
}

// figures are those for BENCH_OUT.
func (r *result) figures() map[string]any {
	out := map[string]any{"leaders_n": r.options.n, "leaders_list_s": r.list.Seconds(),
		"leaders_first_s": r.first.Seconds(), "leaders_all_s": r.all.Seconds()}
	if r.options.statuses {
		out["leaders_statuses_s"], out["leaders_memory"], out["leaders_peak"] = r.statuses.Seconds(), r.memory, r.peak
	}
	if len(r.beyond) > 0 {
		out["leaders_waiting"] = r.waiting
		out["leaders_beyond_p50_s"] = r.beyond.Percentile(50).Seconds()
		out["leaders_beyond_p99_s"] = r.beyond.Percentile(99).Seconds()
	}
	return out
}
