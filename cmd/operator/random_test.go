package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/test/sim"
)

// asked is a number that `make sim` gives.
func asked(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestRandomLives has random lives end alike with a random fault and without one.
func TestRandomLives(t *testing.T) {
	kinds := kindsOf(t)
	lives, seed := asked(t, "LIVES", 25), asked(t, "SEED", 1)
	before := seconds(t)
	var served atomic.Int32 // lives in whose end a Zone is Ready
	t.Run("lives", func(t *testing.T) {
		for i := range lives {
			t.Run(fmt.Sprintf("seed %d", seed+i), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(uint64(seed+i), 0)) // it is to be repeated
				l := sim.RandomLife(random, 12, os.Getenv("DIALECT"))
				l.Rights, l.Reviews = rightsOf(t, l.Dialects()...), reviewsOf(t)
				calm, err := outcome(t, l.Calm(), kinds)
				if err != nil {
					t.Fatalf("%v\n%s", err, l.Format())
				}
				if strings.Contains(calm.State, `"reason": "Served"`) ||
					strings.Contains(calm.State, `"reason": "AllInstancesConfigured"`) {
					served.Add(1)
				}
				what, effect := strings.Join(calm.Wrong, "\n"), ""
				if what == "" {
					l.Fault = sim.RandomFault(random, len(calm.Effects))
					what, effect = failure(t, l, kinds, calm)
				}
				if what != "" {
					t.Error(what)
					short := sim.Shrink(l, func(l sim.Life) (sim.Life, bool) {
						return failing(t, l, kinds, sim.Outcome{Effects: []string{effect}, Wrong: calm.Wrong})
					})
					t.Logf("in short, to be kept in test/sim/testdata, and named in TestEveryEffectOfALifeInterrupted:\n%s",
						short.Format())
				}
			})
		}
	})
	if lives >= 20 && served.Load() == 0 {
		t.Error("in no life anything was served")
	}
	t.Logf("%d lives, each lived twice: %.0f a minute of a core", lives, 60*2*float64(lives)/(seconds(t)-before))
}

// failing looks for an effect of the same name at which a life with its kind of fault goes wrong, that does not
// without; if what was wrong was so without a fault, for the same.
func failing(t *testing.T, l sim.Life, kinds *sim.Kinds, before sim.Outcome) (sim.Life, bool) {
	t.Helper()
	kind := l.Fault.Kind
	l.Fault = sim.Fault{}
	calm, err := outcome(t, l.Calm(), kinds)
	switch {
	case err != nil:
		return l, false // no such life
	case kind == sim.None:
		return l, slices.ContainsFunc(calm.Wrong, func(wrong string) bool { return slices.Contains(before.Wrong, wrong) })
	case len(calm.Wrong) > 0:
		return l, false // that is something else
	}
	out, err := outcome(t, l, kinds)
	if err != nil {
		return l, false
	}
	for at, what := range out.Effects {
		if what != before.Effects[0] {
			continue
		}
		l.Fault = sim.Fault{Kind: kind, At: at + 1}
		if what, _ := failure(t, l, kinds, calm); what != "" {
			return l, true
		}
	}
	return l, false
}

// failure says what is wrong with a life that is calm without its fault and its troubles, and which effect met the
// fault.
func failure(t *testing.T, l sim.Life, kinds *sim.Kinds, calm sim.Outcome) (what, effect string) {
	t.Helper()
	out, err := outcome(t, l, kinds)
	if err != nil {
		return err.Error(), ""
	}
	// that of a zone that was never delivered, or withdrawn, is nobody's
	soa := regexp.MustCompile(`(?m)^ [^ ]+ [0-9]+ .*\n`)
	diff := cmp.Diff(soa.ReplaceAllString(calm.State, ""), soa.ReplaceAllString(out.State, ""))
	if diff == "" && len(out.Wrong) == 0 {
		return "", ""
	}
	if at := l.Fault.At; at <= len(out.Effects) {
		effect = out.Effects[at-1]
	}
	return fmt.Sprintf("%s (%s)\n%s\n%s", l.Fault, effect, strings.Join(out.Wrong, "\n"), diff), effect
}

func outcome(t *testing.T, l sim.Life, kinds *sim.Kinds) (out sim.Outcome, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		out, err = l.Live(t.Context(), kinds, func(ctx context.Context, p sim.Process) error {
			// half of what a life costs are renewed Leases
			return liveWith(ctx, p, "--leader-elect-lease-duration=40s", "--leader-elect-renew-deadline=30s",
				"--leader-elect-retry-period=12s")
		})
	})
	return out, err
}

// seconds is the processors' time that this process has had.
func seconds(t *testing.T) float64 {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	of := func(v syscall.Timeval) float64 { return float64(v.Sec) + float64(v.Usec)/1e6 }
	return of(used.Utime) + of(used.Stime)
}
