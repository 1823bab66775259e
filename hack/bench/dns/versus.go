package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A round is what dnsperf saw of one server.
type round struct {
	sent, lost int
	qps        float64
	codes      string        // how many answers of which code
	cpu        time.Duration // of the server meanwhile
}

func (r round) answered() float64 { return float64(r.sent - r.lost) }

// versus asks the embedded server and CoreDNS the same questions about the same zone, in turns.
func (b *bench) versus(ctx context.Context) (err error) {
	zone, err := writeZone(b.dir, b.hosts)
	if err != nil {
		return err
	}
	questions, err := writeQuestions(b.dir, b.hosts)
	if err != nil {
		return err
	}
	coredns, err := b.startCoreDNS(ctx, zone)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, coredns.stop()) }()
	ours, _, err := b.startEmbedded(ctx, "-zone", zone)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.stop()) }()
	if err := b.same(ctx, questions, ours, coredns); err != nil {
		return err
	}
	seen := map[*process][]round{}
	for i := range b.rounds {
		for _, p := range []*process{ours, coredns} {
			one, err := p.ask(ctx, questions, "-l", strconv.Itoa(int(b.round.Seconds())))
			if err != nil {
				return err
			}
			seen[p] = append(seen[p], one)
			b.say("round %d of %d: %s answered %.0f a second, %d lost", i+1, b.rounds, p.name, one.qps, one.lost)
		}
	}
	b.compare(ours, coredns, seen)
	return nil
}

// same asks every question once, which also warms up, and wants the same number of answers of each code from both.
func (b *bench) same(ctx context.Context, questions string, ours, theirs *process) error {
	one, err := ours.ask(ctx, questions, "-n", "1")
	if err != nil {
		return err
	}
	other, err := theirs.ask(ctx, questions, "-n", "1")
	if err != nil {
		return err
	}
	b.say("answers to each question once: %s", one.codes)
	if one.codes != other.codes || one.lost+other.lost > 0 {
		return fmt.Errorf("the servers do not answer alike: %s %s, %d lost; %s %s, %d lost",
			ours.name, one.codes, one.lost, theirs.name, other.codes, other.lost)
	}
	return nil
}

// ask has dnsperf ask from 16 sockets, so that the kernel has senders to spread, with EDNS as resolvers do, and at most
// 200 questions under way.
func (p *process) ask(ctx context.Context, questions string, until ...string) (round, error) {
	host, port, err := net.SplitHostPort(p.addr)
	if err != nil {
		return round{}, err
	}
	before, err := figures.CPUOf(p.pid)
	if err != nil {
		return round{}, err
	}
	args := append([]string{"-s", host, "-p", port, "-d", questions, "-e", "-c", "16", "-T", "1", "-q", "200"}, until...)
	out, err := exec.CommandContext(ctx, "dnsperf", args...).CombinedOutput()
	if err != nil {
		return round{}, fmt.Errorf("asking %s: %w\n%s", p.name, err, out)
	}
	after, err := figures.CPUOf(p.pid)
	if err != nil {
		return round{}, err
	}
	one, err := parse(string(out))
	one.cpu = after - before
	return one, err
}

// parse reads dnsperf's summary.
func parse(out string) (r round, err error) {
	find := func(what string) string {
		m := regexp.MustCompile(`(?m)^ *` + what + `: +(.*?) *$`).FindStringSubmatch(out)
		if m == nil {
			err = errors.Join(err, fmt.Errorf("dnsperf does not say %q: %s", what, out))
			return ""
		}
		return m[1]
	}
	number := func(what string) float64 {
		text := regexp.MustCompile(`^[0-9.]*`).FindString(find(what))
		n, bad := strconv.ParseFloat(text, 64)
		if bad != nil {
			err = errors.Join(err, bad)
		}
		return n
	}
	r.sent, r.lost = int(number("Queries sent")), int(number("Queries lost"))
	r.qps, r.codes = number("Queries per second"), find("Response codes")
	return r, err
}

func (b *bench) compare(ours, theirs *process, seen map[*process][]round) {
	qps := func(r round) float64 { return r.qps }
	efficiency := func(r round) float64 { return r.answered() / r.cpu.Seconds() }
	lost, sent := 0, 0
	for _, p := range []*process{ours, theirs} {
		rounds := seen[p]
		b.note(p.name+", questions a second", "%.0f", medianOf(rounds, qps))
		b.note("its CPU in a round of "+b.round.String()+", questions a CPU second", "%.2f s, %.0f",
			medianOf(rounds, func(r round) float64 { return r.cpu.Seconds() }), medianOf(rounds, efficiency))
		for _, r := range rounds {
			lost, sent = lost+r.lost, sent+r.sent
		}
	}
	var ratios []float64
	for i, r := range seen[ours] {
		ratios = append(ratios, r.qps/seen[theirs][i].qps)
	}
	ratio := figures.Median(ratios)
	b.rows = append(b.rows, figures.AtLeast(ours.name+" / "+theirs.name+", questions a second", "%.2f", ratio, 1.5))
	b.note("the same, questions a CPU second of the servers", "%.2f",
		medianOf(seen[ours], efficiency)/medianOf(seen[theirs], efficiency))
	b.note("questions without an answer", "%d of %d", lost, sent)
	b.figures["dns_qps"], b.figures["dns_coredns_qps"] = medianOf(seen[ours], qps), medianOf(seen[theirs], qps)
	b.figures["dns_coredns_ratio"], b.figures["dns_lost"] = ratio, lost
	b.figures["dns_qcpus"], b.figures["dns_coredns_qcpus"] = medianOf(seen[ours], efficiency),
		medianOf(seen[theirs], efficiency)
}
