package main

import (
	"fmt"
	"runtime"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// compare makes one Comparison of all rounds of all servers, of which ours is the first.
func (b *bench) compare(all []*process, seen [][]round) (*figures.Comparison, error) {
	load, err := figures.Load()
	if err != nil {
		return nil, err
	}
	c := &figures.Comparison{Name: "dns", Title: "Questions to name servers, " + figures.RoundsOf(b.rounds)}
	c.About = []string{
		fmt.Sprintf("%d processors. One zone of %s names; a round is %s of questions to one server, while the others have "+
			"none.", runtime.NumCPU(), figures.Short(float64(b.hosts), ""), b.round),
		fmt.Sprintf("Load of the machine in the minute before: %s; in the last minute: %s.", b.load, load),
	}
	for i, p := range all {
		c.Contenders = append(c.Contenders, figures.Contender{Key: p.key, Name: p.name, Ours: i == 0})
	}
	from := func(first int, m figures.Measure, figure func(at, i int) float64) figures.Measure {
		for at := range all {
			var rounds []float64
			for i := range seen[at] {
				if at >= first {
					rounds = append(rounds, figure(at, i))
				}
			}
			m.Rounds = append(m.Rounds, rounds)
		}
		return m
	}
	each := func(m figures.Measure, figure func(at, i int) float64) figures.Measure { return from(0, m, figure) }
	qps := func(at, i int) float64 { return seen[at][i].qps }
	efficiency := func(at, i int) float64 { return seen[at][i].answered() / seen[at][i].cpu.Seconds() }
	ratio := func(figure func(at, i int) float64) func(at, i int) float64 {
		return func(at, i int) float64 { return figure(0, i) / figure(at, i) }
	}
	least := func(bound float64) *figures.Goal { return &figures.Goal{Least: true, Bound: bound} }
	c.Measures = []figures.Measure{
		each(figures.Measure{Key: "qps", What: "questions a second", Chart: true}, qps),
		each(figures.Measure{Key: "qcpus", What: "questions a CPU second", Chart: true}, efficiency),
		from(1, figures.Measure{Key: "ratio", What: "embedded / this, a second",
			Goals: []*figures.Goal{nil, least(1.5)}}, ratio(qps)),
		from(1, figures.Measure{Key: "cpu_ratio", What: "embedded / this, a CPU second",
			Goals: []*figures.Goal{nil, nil, least(1.1), least(1.1)}}, ratio(efficiency)),
		each(figures.Measure{Key: "lost", What: "questions lost in a round"},
			func(at, i int) float64 { return float64(seen[at][i].lost) }),
	}
	c.CPU = []figures.Measure{
		each(figures.Measure{What: "the server", Unit: "s"}, func(at, i int) float64 { return seen[at][i].cpu.Seconds() }),
		each(figures.Measure{What: "dnsperf", Unit: "s"}, func(at, i int) float64 { return seen[at][i].asking.Seconds() }),
		each(figures.Measure{What: figures.Others, Unit: "s"},
			func(at, i int) float64 { return seen[at][i].others.Seconds() }),
	}
	return c, nil
}
