package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// results is everything that was measured.
type results struct {
	*bench

	contenders    []contender
	rounds        [][]*result // of each contender
	before, after string      // load of the machine
}

// comparison is that of all results.
func (r *results) comparison() *figures.Comparison {
	c := &figures.Comparison{Name: r.keys, Title: fmt.Sprintf("%s %s with a name each, %s",
		figures.Short(float64(r.o.n), ""), r.kind.name, figures.RoundsOf(r.o.rounds)), About: []string{
		fmt.Sprintf("%d processors. In each round all take turns at the same API server and the same BIND; each makes %d "+
			"changes and rests for %s.", runtime.NumCPU(), r.o.changes, r.o.rest),
		fmt.Sprintf("Load of the machine in the minute before: %s; in the last minute: %s.", r.before, r.after),
	}}
	for _, one := range r.contenders {
		c.Contenders = append(c.Contenders, one.Contender)
	}
	c.Measures = slices.Concat(r.times(), r.costs(), r.calls())
	c.CPU = r.cpu()
	return c
}

// each is a Measure of all contenders, or only of those that have a program of their own.
func (r *results) each(m figures.Measure, own bool, figure func(contender, *result) float64) figures.Measure {
	for i, c := range r.contenders {
		var rounds []float64
		for _, one := range r.rounds[i] {
			if c.program != "" || !own {
				rounds = append(rounds, figure(c, one))
			}
		}
		m.Rounds = append(m.Rounds, rounds)
	}
	return m
}

// times are what somebody waits for.
func (r *results) times() []figures.Measure {
	percentile := func(p int) func(contender, *result) float64 {
		return func(_ contender, one *result) float64 { return figures.Milliseconds(one.times.Percentile(p)) }
	}
	ratio := r.each(figures.Measure{Key: "change_ratio", What: "p50 / p50 of the bare client"}, true, percentile(50))
	for _, rounds := range ratio.Rounds {
		for i := range rounds {
			rounds[i] /= percentile(50)(r.contenders[0], r.rounds[0][i])
		}
	}
	ratio.Goals = []*figures.Goal{nil, {Bound: 4}}
	return []figures.Measure{
		r.each(figures.Measure{Key: "served_s", What: "start to all served", Unit: "s", Chart: true}, false,
			func(_ contender, one *result) float64 { return one.served.Seconds() }),
		r.each(figures.Measure{Key: "change_p50_ms", What: "one change to new answer, p50", Unit: "ms", Chart: true}, false,
			percentile(50)),
		r.each(figures.Measure{Key: "change_longest_ms", What: "the same, the longest of a round", Unit: "ms"}, false,
			percentile(100)),
		ratio,
	}
}

// costs are what it takes. The bare client has no CPU of its own: it is this program.
func (r *results) costs() []figures.Measure {
	minute := func(program string) func(contender, *result) float64 {
		return func(_ contender, one *result) float64 { return one.resting.minute(program).Seconds() }
	}
	return []figures.Measure{
		r.each(figures.Measure{Key: "cpu_s", What: "its CPU until nothing was left to do", Unit: "s", Chart: true}, true,
			func(c contender, one *result) float64 { return one.starting.cpu[c.program].Seconds() }),
		r.each(figures.Measure{What: "CPU of kube-apiserver until then", Unit: "s"}, false,
			func(_ contender, one *result) float64 { return one.starting.cpu["kube-apiserver"].Seconds() }),
		r.each(figures.Measure{Key: "change_cpu_ms", What: "its CPU of one change", Unit: "ms"}, true,
			func(c contender, one *result) float64 {
				return figures.Milliseconds(one.changing.cpu[c.program] / time.Duration(r.o.changes))
			}),
		r.each(figures.Measure{Key: "rest_cpu_s", What: "its CPU of a minute at rest", Unit: "s", Chart: true}, true,
			func(c contender, one *result) float64 { return minute(c.program)(c, one) }),
		r.each(figures.Measure{What: "CPU of kube-apiserver in that minute", Unit: "s"}, false, minute("kube-apiserver")),
		r.each(figures.Measure{Key: "rss_mb", What: "its memory at its peak", Unit: "MiB", Chart: true}, true,
			func(_ contender, one *result) float64 { return float64(one.peak) / figures.Mebi }),
		r.each(figures.Measure{What: "UPDATEs until nothing was left to do"}, false,
			func(_ contender, one *result) float64 { return float64(one.starting.updates) }),
		r.each(figures.Measure{What: "UPDATEs of one change"}, false, func(_ contender, one *result) float64 {
			return float64(one.changing.updates) / float64(r.o.changes)
		}),
	}
}

// calls are those to the API server, without those that the changes themselves are and without leases.
func (r *results) calls() []figures.Measure {
	count := func(of spent, verbs ...string) (n float64) {
		for call, times := range of.calls {
			verb, resource, _ := strings.Cut(call, " ")
			if slices.Contains(verbs, verb) && resource != "leases" && call != r.call {
				n += times
			}
		}
		return n
	}
	writes := []string{"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"}
	return []figures.Measure{
		r.each(figures.Measure{What: "watches at the API server"}, true,
			func(_ contender, one *result) float64 { return count(one.starting, "WATCH") }),
		r.each(figures.Measure{What: "calls that read, until then"}, true,
			func(_ contender, one *result) float64 { return count(one.starting, "GET", "LIST") }),
		r.each(figures.Measure{What: "calls that write, until then"}, true,
			func(_ contender, one *result) float64 { return count(one.starting, writes...) }),
		r.each(figures.Measure{What: "calls that write, of one change"}, true,
			func(_ contender, one *result) float64 { return count(one.changing, writes...) / float64(r.o.changes) }),
	}
}

// cpu is what all programs used in a round.
func (r *results) cpu() (out []figures.Measure) {
	names := map[string]bool{}
	for i := range r.rounds {
		for _, one := range r.rounds[i] {
			for name, used := range one.whole.cpu {
				if used >= 50*time.Millisecond {
					names[name] = true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, r.each(figures.Measure{What: name, Unit: "s"}, false, func(_ contender, one *result) float64 {
			return one.whole.cpu[name].Seconds()
		}))
	}
	return out
}
