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
	asking     time.Duration // of dnsperf
	others     time.Duration // of what else the machine runs
}

func (r round) answered() float64 { return float64(r.sent - r.lost) }

// versus asks the embedded server and others the same questions about the same zone, in turns.
func (b *bench) versus(ctx context.Context) (err error) {
	zone, err := writeZone(b.dir, b.hosts)
	if err != nil {
		return err
	}
	questions, err := writeQuestions(b.dir, b.hosts)
	if err != nil {
		return err
	}
	all, stop, err := b.startAll(ctx, zone)
	defer func() { err = errors.Join(err, stop()) }()
	if err != nil {
		return err
	}
	if err := b.same(ctx, questions, all); err != nil {
		return err
	}
	seen := make([][]round, len(all))
	for i := range b.rounds {
		for at, p := range all {
			one, err := p.ask(ctx, questions, "-l", strconv.Itoa(int(b.round.Seconds())))
			if err != nil {
				return err
			}
			seen[at] = append(seen[at], one)
			b.say("round %d of %d: %s answered %.0f a second, %d lost", i+1, b.rounds, p.name, one.qps, one.lost)
		}
	}
	b.compared, err = b.compare(all, seen)
	return err
}

// startAll starts all servers, ours first. They answer only when they are asked, so they run at the same time. stop
// ends those that run.
func (b *bench) startAll(ctx context.Context, zone string) (all []*process, stop func() error, err error) {
	stop = func() (err error) {
		for _, p := range all {
			err = errors.Join(err, p.stop())
		}
		return err
	}
	ours, _, err := b.startEmbedded(ctx, "-zone", zone)
	if err != nil {
		return nil, stop, err
	}
	all = append(all, ours)
	theirs, err := b.startCoreDNS(ctx, zone)
	if err != nil {
		return nil, stop, err
	}
	all = append(all, theirs)
	for _, p := range peers() {
		one, err := b.startPeer(ctx, p, zone)
		if err != nil {
			return nil, stop, err
		}
		all = append(all, one)
	}
	return all, stop, nil
}

// same asks every question once, which also warms up, and wants the same number of answers of each code from all.
func (b *bench) same(ctx context.Context, questions string, all []*process) error {
	var first round
	for i, p := range all {
		one, err := p.ask(ctx, questions, "-n", "1")
		if err != nil {
			return err
		}
		if i == 0 {
			first = one
		}
		b.say("answers of %s to each question once: %s", p.name, one.codes)
		if one.codes != first.codes || one.lost > 0 {
			return fmt.Errorf("the servers do not answer alike: %s %s; %s %s, %d lost", all[0].name, first.codes, p.name,
				one.codes, one.lost)
		}
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
	before, err := p.meter()
	if err != nil {
		return round{}, err
	}
	args := append([]string{"-s", host, "-p", port, "-d", questions, "-e", "-c", "16", "-T", "1", "-q", "200"}, until...)
	cmd := exec.CommandContext(ctx, "dnsperf", args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return round{}, fmt.Errorf("asking %s: %w\n%s", p.name, err, out)
	}
	after, err := p.meter()
	if err != nil {
		return round{}, err
	}
	one, err := parse(string(out))
	one.cpu, one.others = after.cpu-before.cpu, after.others-before.others
	one.asking = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return one, err
}

// A meter is what a server has used, and what ran beside this program and all that it has started.
type meter struct{ cpu, others time.Duration }

func (p *process) meter() (m meter, err error) {
	if m.cpu, err = figures.CPUOf(p.pid); err != nil {
		return m, err
	}
	all, err := figures.CPUTimes()
	m.others = all[figures.Others]
	return m, err
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
