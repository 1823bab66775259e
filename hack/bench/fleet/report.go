package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A result is everything that was measured with one load.
type result struct {
	load    load
	o       *options
	alone   alone
	loaded  loaded
	changes changeTimes
	floor   changeTimes
	idle    usage
	restart usage
	gone    time.Duration
}

func (r *result) print(w io.Writer) error {
	title := fmt.Sprintf("%s on %d primaries and %d secondaries", r.load, r.o.primaries, r.o.secondaries)
	return figures.Table(w, title, slices.Concat(r.loadRows(), r.changeRows(), r.costRows(), r.restRows()))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func (r *result) loadRows() []figures.Row {
	ratio := func(d time.Duration) float64 { return d.Seconds() / r.alone.creates.Seconds() }
	return []figures.Row{
		figures.Note("creates alone, the operator stopped", seconds(r.alone.creates)),
		figures.Note("the same creates with the operator", seconds(r.loaded.creates)),
		figures.Note("first create to all served by every primary", seconds(r.loaded.primary)),
		figures.Note("first create to all served by every server", seconds(r.loaded.served)),
		figures.Note("first create to all statuses", seconds(r.loaded.status)),
		figures.Note("creates and one status each by a bare client alone", seconds(r.alone.bare)),
		figures.AtMost("served / creates alone", "%.2f", ratio(r.loaded.served), 1.25),
		figures.AtMost("statuses / creates alone", "%.2f", ratio(r.loaded.status), 4),
		figures.Note("floor of that: the bare client's writes", fmt.Sprintf("%.2f", ratio(r.alone.bare))),
	}
}

func (r *result) changeRows() []figures.Row {
	ms := func(t figures.Times) string {
		return fmt.Sprintf("%.1f ms, %.1f ms", figures.Milliseconds(t.Percentile(50)), figures.Milliseconds(t.Percentile(99)))
	}
	floor := figures.Milliseconds(r.floor.all.Percentile(50))
	return []figures.Row{
		figures.Note("floor of one change until every server has it, p50, p99", ms(r.floor.all)),
		figures.Note("one change until a server has it, p50, p99", ms(r.changes.first)),
		figures.Note("until every primary has it", ms(r.changes.primaries)),
		figures.Note("until every server has it", ms(r.changes.all)),
		figures.AtMost("p50 / p50 of the floor", "%.1f", figures.Milliseconds(r.changes.all.Percentile(50))/floor, 4),
		figures.AtMost("p99 / p50 of the floor", "%.1f", figures.Milliseconds(r.changes.all.Percentile(99))/floor, 15),
	}
}

func (r *result) costRows() []figures.Row {
	u, n := r.loaded.used, float64(r.load.objects())
	var named []string
	for _, m := range r.loaded.memory {
		named = append(named, fmt.Sprintf("%d", m/figures.Mebi))
	}
	return []figures.Row{
		figures.Note("operator's memory, afterwards and peak",
			fmt.Sprintf("%d MiB, %d MiB", u.rss/figures.Mebi, u.peak/figures.Mebi)),
		figures.Note("memory of each named, MiB", strings.Join(named, ", ")),
		figures.Note("API calls of the operator", fmt.Sprintf("%.0f, %.2f an object: %s", total(u.calls), total(u.calls)/n,
			figures.ByCount(u.calls))),
		figures.Note("API writes of the operator", fmt.Sprintf("%.0f, %.2f an object: %s", total(u.writes), total(u.writes)/n,
			figures.ByCount(u.writes))),
		figures.Note("UPDATEs, by BIND's count at all primaries", fmt.Sprint(u.updates)),
		figures.Note("calls of sidecars", fmt.Sprintf("%.0f: %s", total(u.sidecars), figures.ByCount(u.sidecars))),
		figures.Note("steps of the World", fmt.Sprintf("%.0f", u.settles)),
		figures.Note("CPU seconds of the creates alone", figures.ByCPU(r.alone.cpu)),
		figures.Note("CPU seconds until all was served", figures.ByCPU(r.loaded.serving)),
		figures.Note("CPU seconds until nothing was left to do", figures.ByCPU(u.cpu)),
	}
}

func (r *result) restRows() []figures.Row {
	var rows []figures.Row
	add := func(what string, u usage) {
		rows = append(rows,
			figures.AtMost(what+"API writes "+figures.ByCount(u.writes), "%.0f", total(u.writes), 0),
			figures.AtMost(what+"UPDATEs", "%.0f", float64(u.updates), 0),
			figures.Note(what+"calls of sidecars", fmt.Sprintf("%.0f: %s", total(u.sidecars), figures.ByCount(u.sidecars))),
			figures.Note(what+"API calls", figures.ByCount(u.calls)),
			figures.Note(what+"readings of zones, CPU seconds", fmt.Sprintf("%.0f; %s", u.readings, figures.ByCPU(u.cpu))),
		)
	}
	if r.idle.took > 0 {
		add("idle for "+r.idle.took.Round(time.Second).String()+": ", r.idle)
	}
	add("the operator starts again: ", r.restart)
	return append(rows,
		figures.Note("until it has nothing to do, with three seconds of waiting", seconds(r.restart.took)),
		figures.Note("deleting all, until nothing is left", seconds(r.gone)))
}

// figures are those for BENCH_OUT.
func (r *result) figures() map[string]any {
	out := map[string]any{}
	for name, value := range map[string]float64{
		"creates_s": r.alone.creates.Seconds(), "served_s": r.loaded.served.Seconds(), "status_s": r.loaded.status.Seconds(),
		"change_p50_ms": figures.Milliseconds(r.changes.all.Percentile(50)),
		"change_p99_ms": figures.Milliseconds(r.changes.all.Percentile(99)),
		"floor_p50_ms":  figures.Milliseconds(r.floor.all.Percentile(50)),
		"rss_mb":        float64(r.loaded.used.rss) / figures.Mebi,
		"cpu_s":         r.loaded.used.cpu["operator"].Seconds(), "api_calls": total(r.loaded.used.calls),
		"api_writes": total(r.loaded.used.writes),
		"updates":    float64(r.loaded.used.updates), "sidecar_calls": total(r.loaded.used.sidecars),
	} {
		out["fleet_"+r.load.word+"_"+name] = value
	}
	return out
}
