package main

import (
	"fmt"
	"io"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A result is everything that was measured.
type result struct {
	n, clients int

	floor         time.Duration            // of the creates of a bare client
	floorChanges  time.Duration            // of its changes of them
	floorCPU      map[string]time.Duration // of all programs for that
	floorSingle   figures.Times
	adds, changes burst
	single        figures.Times // of one client alone

	load string // of the machine in the minute before
}

// rate is how many updates there were in a second.
func (r *result) rate(took time.Duration) float64 { return float64(r.n) / took.Seconds() }

func (r *result) print(w io.Writer) error {
	rows := []figures.Row{figures.Note("creates of the same Records by a bare client alone",
		fmt.Sprintf("%.0f a second", r.rate(r.floor))),
		figures.Note("changes of the same Records by it", fmt.Sprintf("%.0f a second", r.rate(r.floorChanges))),
		figures.Note("CPU seconds of the creates", figures.ByCPU(r.floorCPU))}
	for _, b := range []struct {
		what string
		burst
	}{{"names added: ", r.adds}, {"addresses changed: ", r.changes}} {
		rows = append(rows,
			figures.AtLeast(b.what+"updates a second", "%.0f", r.rate(b.took), 200),
			figures.Note(b.what+"update to answer, p50, p99", times(b.times)),
			figures.Note(b.what+"until nothing was left to write", fmt.Sprintf("%.1f s after %.1f s of updates",
				(b.all-b.took).Seconds(), b.took.Seconds())),
			figures.Note(b.what+"API calls", figures.ByCount(b.calls)),
			figures.Note(b.what+"CPU seconds until the last answer", figures.ByCPU(b.cpu)))
	}
	rows = append(rows, figures.Note("floor of one client alone: a create, p50, p99", times(r.floorSingle)),
		figures.Note("one client alone: update to answer, p50, p99", times(r.single)),
		figures.Note("load of the machine before", r.load))
	return figures.Table(w, fmt.Sprintf("%d updates of %d clients, each with one record", r.n, r.clients), rows)
}

func times(t figures.Times) string {
	return fmt.Sprintf("%.1f ms, %.1f ms", figures.Milliseconds(t.Percentile(50)), figures.Milliseconds(t.Percentile(99)))
}

func (r *result) figures() map[string]any {
	return map[string]any{
		"updates_floor_per_s":         r.rate(r.floor),
		"updates_floor_changes_per_s": r.rate(r.floorChanges),
		"updates_added_per_s":         r.rate(r.adds.took),
		"updates_added_p50_ms":        figures.Milliseconds(r.adds.times.Percentile(50)),
		"updates_added_p99_ms":        figures.Milliseconds(r.adds.times.Percentile(99)),
		"updates_changed_per_s":       r.rate(r.changes.took),
		"updates_single_p50_ms":       figures.Milliseconds(r.single.Percentile(50)),
	}
}
