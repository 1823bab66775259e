// Package conformance finds out whether a server speaks the protocol of package dnshook as it is written down: it asks
// the server everything that may be asked, rightly and wrongly, and says of each answer whether it is the right one.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

// Config says which server is asked, and how.
type Config struct {
	Server string       // its URL
	Key    *dnshook.Key // nil: nothing is signed, and what is about signatures is left out
	// where records may be made; those of this package are below it, under names that nobody else uses
	Domain  string
	Timeout time.Duration
	Now     func() time.Time
	Stamp   string // a label that makes the names unique; "": a random one
}

// A Verdict says what came of a check.
type Verdict string

// The verdicts.
const (
	Pass        Verdict = "pass"
	Fail        Verdict = "FAIL"
	Unsupported Verdict = "not supported" // by the server, which need not
)

// A Result is one line of the report.
type Result struct {
	Check    string // its name
	Verdict  Verdict
	Sentence string // what was right, or what is wrong
}

// check is one question and what its answer has to be.
type check struct {
	name     string
	sentence string // what is right when it passes
	signed   bool   // it is about signatures
	run      func(context.Context, *probe) error
}

// unsupported is the error of a check that the server has nothing for.
type unsupported struct{ why string }

func (u unsupported) Error() string { return u.why }

// Run asks everything, one after the other, and cleans up. An error means that nothing could be asked.
func Run(ctx context.Context, cfg Config) ([]Result, error) {
	p, err := newProbe(cfg)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if _, err := p.send(ctx, p.get("/health")); err != nil {
		return nil, fmt.Errorf("asking %s for its health: %w", cfg.Server, err)
	}
	var out []Result
	for i, c := range checks() {
		if c.signed && cfg.Key == nil {
			continue
		}
		p.label = fmt.Sprintf("%s-%d", p.stamp, i)
		err := c.run(ctx, p)
		out = append(out, resultOf(c, err))
		if ctx.Err() != nil { // what was made goes all the same
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.cfg.Timeout)
			defer cancel()
			return out, errors.Join(ctx.Err(), p.cleanUp(end))
		}
	}
	return append(out, resultOf(check{name: "clean up", sentence: "The records of these checks are gone."},
		p.cleanUp(ctx))), nil
}

func resultOf(c check, err error) Result {
	missing, is := errors.AsType[unsupported](err)
	switch {
	case err == nil:
		return Result{c.name, Pass, c.sentence}
	case is:
		return Result{c.name, Unsupported, missing.why}
	}
	return Result{c.name, Fail, err.Error()}
}

func checks() []check {
	var out []check
	for _, group := range [][]check{healthChecks, signatureChecks, nonceChecks, recordChecks, kindChecks(), invalidChecks,
		httpChecks} {
		out = append(out, group...)
	}
	return out
}
