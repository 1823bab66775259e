package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A result is everything that was measured.
type result struct {
	n              int
	rounds         []round
	changes, floor figures.Times
	idle           *idleResult
	before, after  string // load of the machine
}

// median of a figure over the rounds.
func median[T cmp.Ordered](rounds []round, figure func(round) T) T {
	var all []T
	for _, r := range rounds {
		all = append(all, figure(r))
	}
	return figures.Median(all)
}

func (r *result) seconds(figure func(round) time.Duration) float64 {
	return median(r.rounds, figure).Seconds()
}

// operatorProgram is how the kernel calls the operator.
const operatorProgram = "operator"

// save writes the figures as one JSON object.
func (r *result) save(file string) error {
	text, err := json.Marshal(struct {
		N             int     `json:"n"`
		Creates       float64 `json:"creates_s"`
		Served        float64 `json:"served_s"`
		Status        float64 `json:"status_s"`
		ChangeP50     float64 `json:"change_p50_ms"`
		ChangeP99     float64 `json:"change_p99_ms"`
		FloorP50      float64 `json:"floor_p50_ms"`
		RSS           float64 `json:"rss_mb"`
		CPU           float64 `json:"cpu_s"`
		WritesARecord float64 `json:"api_writes_per_record"`
	}{
		r.n, r.seconds(creates), r.seconds(served), r.seconds(status),
		figures.Milliseconds(r.changes.Percentile(50)), figures.Milliseconds(r.changes.Percentile(99)),
		figures.Milliseconds(r.floor.Percentile(50)),
		median(r.rounds, rss), r.seconds(cpu), median(r.rounds, func(o round) float64 {
			return o.used.operatorsWrites()
		}) / float64(r.n),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

func creates(o round) time.Duration { return o.creates }
func bare(o round) time.Duration    { return o.bare }
func served(o round) time.Duration  { return o.served }
func status(o round) time.Duration  { return o.status }
func cpu(o round) time.Duration     { return o.used.cpu[operatorProgram] }
func rss(o round) float64           { return float64(o.used.rss) / figures.Mebi }

func (r *result) table(w io.Writer) error {
	title := fmt.Sprintf("%d Records in one Zone, %d round(s), medians", r.n, len(r.rounds))
	return figures.Table(w, title, slices.Concat(r.loadRows(), r.changeRows(), r.costRows(), r.idleRows()))
}

func (r *result) loadRows() []figures.Row {
	alone := r.seconds(creates)
	second := func(what string, figure func(round) time.Duration) figures.Row {
		return figures.Note(what, fmt.Sprintf("%.1f s", r.seconds(figure)))
	}
	ratio := func(figure func(round) time.Duration) float64 {
		return median(r.rounds, func(o round) float64 { return figure(o).Seconds() / o.creates.Seconds() })
	}
	return []figures.Row{
		figures.Note("creates alone, the operator stopped", fmt.Sprintf("%.1f s", alone)),
		second("the same creates with the operator", func(o round) time.Duration { return o.during }),
		second("first create to all served", served),
		second("first create to all labels and statuses", status),
		second("first create to the Zone's whole status", func(o round) time.Duration { return o.zone }),
		second("creates, labels and statuses by a bare client alone", bare),
		figures.AtMost("served / creates alone", "%.2f", ratio(served), 1.25),
		figures.AtMost("statuses / creates alone", "%.2f", ratio(status), 4),
		figures.Note("floor of that: the bare client's three writes", fmt.Sprintf("%.2f", ratio(bare))),
	}
}

func (r *result) changeRows() []figures.Row {
	floor := figures.Milliseconds(r.floor.Percentile(50))
	p50, p99 := figures.Milliseconds(r.changes.Percentile(50)), figures.Milliseconds(r.changes.Percentile(99))
	return []figures.Row{
		figures.Note("floor of one change, p50, p99", fmt.Sprintf("%.1f ms, %.1f ms", floor,
			figures.Milliseconds(r.floor.Percentile(99)))),
		figures.Note("one change to new answer, p50, p99", fmt.Sprintf("%.1f ms, %.1f ms", p50, p99)),
		figures.AtMost("p50 / p50 of the floor", "%.1f", p50/floor, 4),
		figures.AtMost("p99 / p50 of the floor", "%.1f", p99/floor, 15),
	}
}

func (r *result) costRows() []figures.Row {
	last := r.rounds[len(r.rounds)-1]
	memory := figures.Note("operator's memory, afterwards", fmt.Sprintf("%.0f MiB", median(r.rounds, rss)))
	if most := map[int]float64{10_000: 150, 100_000: 500}[r.n]; most > 0 {
		memory = figures.AtMost(memory.What, "%.0f MiB", median(r.rounds, rss), most)
	}
	return []figures.Row{
		memory,
		figures.Note("operator's memory, peak", fmt.Sprintf("%.0f MiB", median(r.rounds, func(o round) float64 {
			return float64(o.used.peak) / figures.Mebi
		}))),
		figures.Note("operator's CPU, until nothing was left to do", fmt.Sprintf("%.1f s", r.seconds(cpu))),
		figures.Note("operator's API writes a Record", fmt.Sprintf("%.3f", last.used.operatorsWrites()/float64(r.n))),
		figures.Note("load of the machine before; afterwards", r.before+"; "+r.after),
		figures.Note("CPU seconds of the creates alone", figures.ByCPU(last.cpu)),
		figures.Note("CPU seconds until all was served", figures.ByCPU(last.serving)),
		figures.Note("CPU seconds until nothing was left to do", figures.ByCPU(last.used.cpu)),
		figures.Note("API writes of the last round", figures.ByCount(last.used.writes)),
		figures.Note("UPDATEs (by BIND), batches, steps of the World",
			fmt.Sprintf("%d, %.0f, %.0f", last.used.updates, last.used.batches, last.used.settles)),
	}
}

func (r *result) idleRows() []figures.Row {
	if r.idle == nil {
		return nil
	}
	u := r.idle.used
	writes := 0.0
	for _, n := range u.writes {
		writes += n
	}
	what := "idle for " + r.idle.took.String() + ": "
	return []figures.Row{
		figures.AtMost(what+"API writes "+figures.ByCount(u.writes), "%.0f", writes, 0),
		figures.AtMost(what+"UPDATEs", "%.0f", float64(u.updates), 0),
		figures.Note(what+"readings of the zone", fmt.Sprintf("%.0f", u.readings)),
		figures.Note(what+"CPU", fmt.Sprintf("%.2f s", u.cpu[operatorProgram].Seconds())),
	}
}
