package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

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

// isServed is what objects of the dialects say that servers have something of.
var isServed = []string{
	`"reason": "Served"`, `"reason": "RecordCreated"`, `"state": "Succeeded"`, `"reason": "AllInstancesConfigured"`,
}

// TestRandomLives has random lives end alike with a random fault and without one.
func TestRandomLives(t *testing.T) {
	randomLives(t, asked(t, "LIVES", 150), asked(t, "SEED", 1), os.Getenv("DIALECT"))
}

// TestRandomLivesOfSources is TestRandomLives with Services, Ingresses, routes and DNSEndpoints.
func TestRandomLivesOfSources(t *testing.T) { randomLives(t, 20, 1, "sources") }

func randomLives(t *testing.T, lives, seed int, dialect string) {
	t.Helper()
	kinds := kindsOf(t)
	before := seconds(t)
	var served atomic.Int32 // lives in whose end something is
	t.Run("lives", func(t *testing.T) {
		for i := range lives {
			t.Run(fmt.Sprintf("seed %d", seed+i), func(t *testing.T) {
				t.Parallel()
				l, random := seeded(t, dialect, seed+i)
				calm, err := outcome(t, l.Calm(), kinds)
				if err != nil {
					t.Fatalf("%v\n%s", err, l.Format())
				}
				if slices.ContainsFunc(isServed, func(says string) bool { return strings.Contains(calm.State, says) }) {
					served.Add(1)
				}
				what, ways := strings.Join(calm.Wrong, "\n"), calm.Ways(calm)
				if what == "" {
					l = sim.RandomFaults(random, l, calm.Effects)
					what, ways = failure(t, l, kinds, calm)
				} else {
					l = l.Calm()
				}
				if what != "" {
					t.Errorf("%d steps: %s", len(l.Steps), what)
					short, times := inShort(t, l, kinds, ways)
					t.Logf("in short, %d steps, which fails %d times of ten, to be kept in test/sim/testdata/short:\n%s",
						len(short.Steps), times, short.Format())
				}
			})
		}
	})
	if lives >= 20 && served.Load() == 0 {
		t.Error("in no life anything was served")
	}
	t.Logf("%d lives, each lived twice: %.0f a minute of a core", lives, 60*2*float64(lives)/(seconds(t)-before))
}

// TestALifeIsRepeated has a life go the same way each time: at least nine times of ten a seed fails again. Lives of
// Gardener and of fleets do not reach that on a busy machine: docs/simulation.md says what is reached.
func TestALifeIsRepeated(t *testing.T) {
	kinds := kindsOf(t)
	lives, runs := asked(t, "LIVES", 1), asked(t, "RUNS", 10)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range []struct {
		dialect string
		least   int // runs of ten that have to be alike
	}{{"kubizone", 9}, {"homelab", 9}, {"sources", 9}, {"gardener", 5}, {"bindy", 5}} {
		for seed := range lives {
			seed += asked(t, "SEED", 500)
			t.Run(fmt.Sprintf("%s %d", c.dialect, seed), func(t *testing.T) {
				began := seconds(t)
				l, _ := seeded(t, c.dialect, seed)
				alike := repeated(t, l, kinds, runs)
				t.Logf("%d of %d runs had the same effects, in %.1f s", alike, runs, seconds(t)-began)
				if 10*alike < c.least*runs {
					t.Errorf("a seed is to say what happens")
				}
			})
		}
	}
}

// seeded is a random life of a dialect, whose seed also says how long messages take, and the random numbers that go on
// from there.
func seeded(t *testing.T, dialect string, seed int) (sim.Life, *rand.Rand) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(seed), 0)) // it is to be repeated
	l := sim.RandomLife(random, 12, dialect)
	l.Rights, l.Reviews, l.Seed = rightsOf(t, l.Roles()...), reviewsOf(t), uint64(seed)
	return l, random
}

// repeated counts the runs of a life that had the same effects as most of them had.
func repeated(t *testing.T, l sim.Life, kinds *sim.Kinds, runs int) (alike int) {
	t.Helper()
	var first []string
	times := map[string]int{}
	for range runs {
		out, err := outcome(t, l, kinds)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(out.Effects) // of objects that know nothing of each other the one or the other comes first
		all := strings.Join(out.Effects, "\n")
		times[all]++
		alike = max(alike, times[all])
		if first == nil {
			first = out.Effects
		} else if at := differ(first, out.Effects); at >= 0 {
			t.Logf("from effect %d of %d on another run differs: %q and not %q", at+1, len(first),
				out.Effects[at:min(at+3, len(out.Effects))], first[at:min(at+3, len(first))])
		}
	}
	return alike
}

// differ is where two lists differ first, -1 if they do not.
func differ(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) == len(b) {
		return -1
	}
	return min(len(a), len(b))
}

// failure says what is wrong with a life that is calm without its faults and its troubles, and in which ways it is.
func failure(t *testing.T, l sim.Life, kinds *sim.Kinds, calm sim.Outcome) (what string, ways []string) {
	t.Helper()
	out, err := outcome(t, l, kinds)
	if err != nil {
		return err.Error(), []string{sim.Way(err.Error())}
	}
	if ways = out.Ways(calm); len(ways) == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s %v\n%s\n%s", l.Fault, l.Then, strings.Join(out.Wrong, "\n"), cmp.Diff(calm.End(), out.End())),
		ways
}

// seconds is the processors' time that this process has had.
func seconds(t *testing.T) float64 {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Error(err)
	}
	of := func(v syscall.Timeval) float64 { return float64(v.Sec) + float64(v.Usec)/1e6 }
	return of(used.Utime) + of(used.Stime)
}
