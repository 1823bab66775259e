package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A used is what this process has used up to now, or in some time.
type used struct {
	cpu    time.Duration
	pauses *metrics.Float64Histogram // of the garbage collector, in seconds
	err    error
}

func usage() (u used) {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	h := sample[0].Value.Float64Histogram()
	u.pauses = &metrics.Float64Histogram{Counts: slices.Clone(h.Counts), Buckets: slices.Clone(h.Buckets)}
	u.cpu, u.err = figures.CPUOf(os.Getpid())
	return u
}

func (u used) since(before used) used {
	u.cpu -= before.cpu
	for i := range u.pauses.Counts {
		u.pauses.Counts[i] -= before.pauses.Counts[i]
	}
	return u
}

// pause is the percentile of all pauses, and how many there were; 100 is the longest. It is the end of a bucket.
func (u used) pause(percent float64) (time.Duration, uint64) {
	var all, seen uint64
	for _, n := range u.pauses.Counts {
		all += n
	}
	for i, n := range u.pauses.Counts {
		if seen += n; n > 0 && float64(seen) >= float64(all)*percent/100 {
			end := u.pauses.Buckets[i+1]
			if math.IsInf(end, 1) {
				end = u.pauses.Buckets[i]
			}
			return time.Duration(end * float64(time.Second)), all
		}
	}
	return 0, all
}

// served is what was measured at a server.
type served struct {
	name       string
	first, all time.Duration
	change     figures.Times
}

// A result is everything that was measured.
type result struct {
	options
	put                    time.Duration
	servers                [2]served
	heap                   int64 // octets in use when all is served
	memory, peak           int64 // octets of the process
	peakLater              int64
	changes                int
	coldUsage, changeUsage used // with BIND
	load                   string
}

func (r *result) print(w io.Writer) error {
	mebi := func(n int64) string { return fmt.Sprintf("%d MiB", n/figures.Mebi) }
	pauses := func(u used) string {
		half, n := u.pause(50)
		most, _ := u.pause(99)
		longest, _ := u.pause(100)
		return fmt.Sprintf("%d; %.2f ms, %.2f ms, %.2f ms", n, figures.Milliseconds(half), figures.Milliseconds(most),
			figures.Milliseconds(longest))
	}
	rows := []figures.Row{
		figures.Note("all put into the Core", fmt.Sprintf("%.1f s", r.put.Seconds())),
	}
	for _, s := range r.servers {
		rows = append(rows,
			figures.Note("cold start to the first answer of "+s.name, fmt.Sprintf("%.1f s", s.first.Seconds())),
			figures.Note("to all answers of "+s.name, fmt.Sprintf("%.1f s", s.all.Seconds())))
	}
	rows = append(rows,
		figures.Note("CPU of that, with BIND", fmt.Sprintf("%.1f s", r.coldUsage.cpu.Seconds())),
		figures.Note("pauses of the collector meanwhile; p50, p99, longest", pauses(r.coldUsage)),
		figures.Note("the heap in use then; for each Record", fmt.Sprintf("%s; %d octets", mebi(r.heap), r.heap/int64(r.n))),
		figures.Note("the process then; at its peak", mebi(r.memory)+"; "+mebi(r.peak)),
		figures.Note("changes; a second", fmt.Sprintf("%d; %.0f", r.changes, float64(r.changes)/r.lasts.Seconds())),
	)
	for _, s := range r.servers {
		rows = append(rows, figures.Note(fmt.Sprintf("a change to the answer of %s, p50, p99, longest of %d", s.name,
			len(s.change)), fmt.Sprintf("%.1f ms, %.1f ms, %.1f ms", figures.Milliseconds(s.change.Percentile(50)),
			figures.Milliseconds(s.change.Percentile(99)), figures.Milliseconds(s.change.Percentile(100)))))
	}
	rows = append(rows,
		figures.Note("CPU of a change, with BIND", fmt.Sprintf("%.2f ms",
			figures.Milliseconds(r.changeUsage.cpu)/float64(max(1, r.changes)))),
		figures.Note("pauses of the collector meanwhile; p50, p99, longest", pauses(r.changeUsage)),
		figures.Note("the process at its peak", mebi(r.peakLater)),
		figures.Note("lost or wrong at either server", "0"),
		figures.Note("load of the machine in the minute before", r.load),
	)
	return figures.Table(w, fmt.Sprintf("%d Records in %d Zones of %d namespaces, without an API server", r.n, r.zones,
		r.tenants), rows)
}

// figures are those for BENCH_OUT.
func (r *result) figures() map[string]any {
	out := map[string]any{"core_n": r.n, "core_heap": r.heap, "core_memory": r.memory, "core_peak": r.peak}
	for i, key := range []string{"own", "bind"} {
		s := r.servers[i]
		out["core_"+key+"_first_s"], out["core_"+key+"_all_s"] = s.first.Seconds(), s.all.Seconds()
		out["core_"+key+"_change_p50_ms"] = figures.Milliseconds(s.change.Percentile(50))
		out["core_"+key+"_change_p99_ms"] = figures.Milliseconds(s.change.Percentile(99))
	}
	return out
}
