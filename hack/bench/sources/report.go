package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// results is everything that was measured.
type results struct {
	n     int
	load  string // of the machine in the minute before
	floor floor
	all   []*result
}

func (r *results) print(w io.Writer) error {
	names := []string{"a bare client"}
	for _, one := range r.all {
		names = append(names, one.name)
	}
	title := fmt.Sprintf("%d Services with a name each; load of the machine before: %s", r.n, r.load)
	if err := figures.Compare(w, title, names, r.rows()); err != nil {
		return err
	}
	return figures.Compare(w, "API calls until nothing was left to do, of one change, and of a minute at rest", names,
		r.calls())
}

// rows are what is compared. A bare client has no CPU of its own: it is this program.
func (r *results) rows() [][]string {
	least := r.floor.times.Percentile(50)
	minute := r.floor.resting.minute
	rows := [][]string{
		{"start to all served", seconds(r.floor.served)},
		{"one change to new answer, p50", millis(least)},
		{"one change to new answer, p99", millis(r.floor.times.Percentile(99))},
		{"p50 / p50 of the bare client", "1"},
		{"CPU until nothing was left to do", ""},
		{"  of kube-apiserver", ""},
		{"  of named", ""},
		{"CPU of one change", ""},
		{"CPU of a minute at rest", ""},
		{"  of kube-apiserver", seconds(minute("kube-apiserver"))},
		{"  of named", seconds(minute("named"))},
		{"UPDATEs for all; for one change", ""},
		{"memory, peak", ""},
	}
	for _, one := range r.all {
		for i, cell := range one.column(least) {
			rows[i] = append(rows[i], cell)
		}
	}
	return rows
}

// column are the cells of one contender.
func (r *result) column(least time.Duration) []string {
	ratio := figures.Milliseconds(r.times.Percentile(50)) / figures.Milliseconds(least)
	verdict := fmt.Sprintf("%.1f", ratio)
	if r.program == "operator" {
		goal := figures.AtMost("", "%.1f", ratio, 4)
		verdict = goal.Figure + "  " + goal.Goal
	}
	n := len(r.times)
	return []string{
		seconds(r.served), millis(r.times.Percentile(50)), millis(r.times.Percentile(99)), verdict,
		seconds(r.starting.cpu[r.program]), seconds(r.starting.cpu["kube-apiserver"]), seconds(r.starting.cpu["named"]),
		millis(r.changing.cpu[r.program] / time.Duration(n)),
		seconds(r.resting.minute(r.program)), seconds(r.resting.minute("kube-apiserver")), seconds(r.resting.minute("named")),
		fmt.Sprintf("%d; %.1f", r.starting.updates, float64(r.changing.updates)/float64(n)),
		fmt.Sprintf("%.0f MiB", float64(r.peak)/figures.Mebi),
	}
}

// calls are those of each contender, without the changes themselves; those of the bare client are what there is when
// nobody does anything.
func (r *results) calls() [][]string {
	names := map[string]bool{}
	for _, one := range r.all {
		for _, s := range []spent{one.starting, one.changing, one.resting} {
			for name := range s.calls {
				names[name] = true
			}
		}
	}
	delete(names, changeCall)
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		row := []string{name, number(r.floor.resting.perMinute(name))}
		for _, one := range r.all {
			row = append(row, fmt.Sprintf("%s, %s, %s", number(one.starting.calls[name]),
				number(one.changing.calls[name]/float64(len(one.times))), number(one.resting.perMinute(name))))
		}
		if strings.ContainsAny(strings.Join(row[1:], ""), "123456789") {
			rows = append(rows, row)
		}
	}
	return rows
}

// number is one with a decimal place if there is one to show, and without the sign of a zero.
func number(n float64) string { return strconv.FormatFloat(math.Round(10*n)/10+0, 'f', -1, 64) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", figures.Milliseconds(d)) }

// figures are those for BENCH_OUT.
func (r *results) figures() map[string]any {
	out := map[string]any{"sources_n": r.n, "sources_floor_p50_ms": figures.Milliseconds(r.floor.times.Percentile(50))}
	for _, one := range r.all {
		prefix := "sources_" + strings.NewReplacer("-", "_", ", ", "_").Replace(one.name) + "_"
		out[prefix+"served_s"] = one.served.Seconds()
		out[prefix+"change_p50_ms"] = figures.Milliseconds(one.times.Percentile(50))
		out[prefix+"change_p99_ms"] = figures.Milliseconds(one.times.Percentile(99))
		out[prefix+"rss_mb"] = float64(one.peak) / figures.Mebi
		out[prefix+"cpu_s"] = one.starting.cpu[one.program].Seconds()
	}
	return out
}
