package main

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/test/sim"
)

// mutation is the environment variable that names the one that is on; hack/mutations makes a program that knows some.
const mutation = "MUTATION"

// TestLivesThatLookForMutations goes on until something is wrong that is not so without the mutation. Without a
// mutation nothing is wrong.
func TestLivesThatLookForMutations(t *testing.T) {
	s := &search{kinds: kindsOf(t), calm: map[string]sim.Outcome{}, dialects: strings.Fields(os.Getenv("DIALECTS"))}
	if len(s.dialects) == 0 {
		s.dialects = []string{"gardener"}
	}
	name, lives, most := os.Getenv(mutation), 0, asked(t, "LIVES", 3)
	s.endless(t)
	for one := range s.trials(t, uint64(asked(t, "SEED", 1))) {
		if lives += one.lives; lives > most && lives > one.lives {
			t.Logf("none of %d lives found it", most)
			return
		}
		t.Logf("life %d: %s", lives, one.name)
		s.begun.Store(&begun{fmt.Sprintf("found by %s, which never ends, after %d lives", one.name, lives), seconds(t)})
		what := one.wrong(t)
		switch {
		case what == "":
		case name == "":
			t.Errorf("%s: %s", one.name, what)
		case s.sound(t, one):
			t.Fatalf("found by %s, after %d lives\n%s", one.name, lives, what)
		default:
			t.Logf("%s fails also without the mutation", one.name)
		}
	}
}

// A search looks for a mutation.
type search struct {
	kinds    *sim.Kinds
	dialects []string
	calm     map[string]sim.Outcome // of files, by mutation
	begun    atomic.Pointer[begun]
}

// A begun trial is under way, since the processors had so many seconds.
type begun struct {
	words string
	since float64
}

// longest is how many seconds of a processor a trial may take, with what it takes to look whether it goes well without
// the mutation.
const longest = 60

// endless ends this program when a trial goes on and on, as long as the test does: others may take their time.
func (s *search) endless(t *testing.T) {
	t.Helper()
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-t.Context().Done():
				return
			case <-tick.C:
			}
			if b := s.begun.Load(); b != nil && seconds(t)-b.since > longest {
				t.Log(b.words)
				os.Exit(1)
			}
		}
	}()
}

// A trial is a life, or two of which one has a fault.
type trial struct {
	name  string
	lives int
	wrong func(*testing.T) string // what is wrong in it, "" if nothing is
}

// sound reports whether a trial goes well without the mutation.
func (s *search) sound(t *testing.T, one trial) bool {
	t.Helper()
	name := os.Getenv(mutation)
	t.Setenv(mutation, "")
	defer t.Setenv(mutation, name)
	for range 3 {
		if one.wrong(t) != "" {
			return false
		}
	}
	return true
}

// troubles of the API server that the lives of files are lived with, by dialect.
var troubles = map[string][]string{
	"kubizone": {
		"late zones 60s", "late zones 10m", "late records 60s", "late backends 60s", "late zoneslices 60s",
		"failing 409 before 30s", "failing 409 after 30s", "failing timeout after 5s", "gone 3m",
		"failing 403 before status 30s",
	},
	"homelab": {
		"late dnsrecords 1s", "late dnsrecords 60s", "late dnsclasses 60s", "late secrets 60s", "failing 409 before 30s",
		"failing 409 after 30s", "failing timeout after 30s", "gone 3m",
	},
	"gardener": {
		"late dnsrecords 1s", "late dnsrecords 60s", "late secrets 60s", "failing 409 before 30s", "failing 409 after 30s",
		"failing timeout after 30s", "gone 3m",
	},
	"bindy": {
		"late dnszones 60s", "late bind9instances 60s", "late pods 60s", "late secrets 60s", "failing 409 after 30s",
		"gone 3m",
	},
}

func isBegin(s sim.Step) bool { return strings.HasPrefix(s.Text, "begin") }

// trials are the lives of files, then those with a fault at every effect, in any order, and random ones, in turn.
func (s *search) trials(t *testing.T, seed uint64) iter.Seq[trial] {
	return func(yield func(trial) bool) {
		var all []trial
		for _, d := range s.dialects {
			l := lifeOf(t, filepath.Join("..", "..", "test", "sim", "testdata", d+".txtar"))
			calm := trial{d + ".txtar", 1, func(t *testing.T) string { return strings.Join(s.outcome(t, d, l).Wrong, "\n") }}
			if !yield(calm) {
				return
			}
			for seed := range uint64(3) { // what goes wrong in one may be how two things meet
				for _, short := range s.short(t, d, seed) {
					if !yield(short) {
						return
					}
				}
			}
			for _, kind := range []sim.Kind{sim.CrashBefore, sim.CrashAfter, sim.Pause, sim.PauseAfter} {
				for at := range s.outcome(t, d, l).Effects {
					l := l
					l.Fault = sim.Fault{Kind: kind, At: at + 1}
					all = append(all, trial{d + ".txtar with " + l.Fault.String(), 1, func(t *testing.T) string {
						return s.unlike(t, d, l)
					}})
				}
			}
			for _, trouble := range troubles[d] {
				begin := slices.IndexFunc(l.Steps, isBegin)
				for _, at := range []int{begin + 2, begin + (len(l.Steps)-begin)/2} {
					l := l
					l.Steps = slices.Insert(slices.Clone(l.Steps), at, sim.Step{Text: trouble})
					all = append(all, trial{d + ".txtar with " + trouble, 1, func(t *testing.T) string { return s.unlike(t, d, l) }})
				}
			}
		}
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i := 0; ; i++ {
			if i < len(all) && !yield(all[i]) {
				return
			}
			if !yield(s.random(t, seed)) {
				return
			}
			seed++
		}
	}
}

// short are the short lives of a dialect: what was found once.
func (s *search) short(t *testing.T, dialect string, seed uint64) (all []trial) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "test", "sim", "testdata", "short", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		l := lifeOf(t, file)
		if !slices.Contains(l.Dialects(), dialect) {
			continue
		}
		if seed > 0 {
			l.Seed = seed // messages take otherwise long
		}
		all = append(all, trial{"short/" + filepath.Base(file), 1, func(t *testing.T) string {
			if l.Fault.Kind != sim.None {
				calm, wrong := s.calmly(t, l)
				if wrong == "" {
					wrong, _ = failure(t, l, s.kinds, calm)
				}
				return wrong
			}
			out, err := outcome(t, l, s.kinds)
			if err != nil {
				return err.Error()
			}
			return strings.Join(out.Wrong, "\n")
		}})
	}
	return all
}

// outcome is what comes of the life of a file without a fault.
func (s *search) outcome(t *testing.T, name string, l sim.Life) sim.Outcome {
	t.Helper()
	name += " " + os.Getenv(mutation)
	if _, lived := s.calm[name]; !lived {
		out, err := outcome(t, l, s.kinds)
		if err != nil {
			out.Wrong = append(out.Wrong, err.Error())
		}
		s.calm[name] = out
	}
	return s.calm[name]
}

// unlike says how a life with a fault, or a trouble, differs from the same without one.
func (s *search) unlike(t *testing.T, name string, l sim.Life) string {
	t.Helper()
	calm := s.outcome(t, name, l.Calm())
	out, err := outcome(t, l, s.kinds)
	if err != nil {
		return err.Error()
	}
	if n := len(out.Effects); n > 10*len(calm.Effects) {
		return fmt.Sprintf("there were %d effects, %d without it", n, len(calm.Effects))
	}
	return strings.Join(append(out.Wrong, cmp.Diff(calm.State, out.State)), "\n")
}

// random is a random life of one of the dialects, without a fault and with one.
func (s *search) random(t *testing.T, seed uint64) trial {
	t.Helper()
	return trial{fmt.Sprintf("seed %d", seed), 2, func(t *testing.T) string {
		random := rand.New(rand.NewPCG(seed, 0))
		dialect := s.dialects[seed%uint64(len(s.dialects))]
		if dialect == "embedded" || dialect == "updates" { // a third of the random lives of kubi.zone have replicas
			dialect = "kubizone"
		}
		l := sim.RandomLife(random, 12, dialect)
		l.Rights, l.Seed = rightsOf(t, l.Roles()...), seed
		calm, wrong := s.calmly(t, l)
		if wrong == "" {
			wrong, _ = failure(t, sim.RandomFaults(random, l, calm.Effects), s.kinds, calm)
		}
		return wrong
	}}
}

// calmly is what comes of a life without its fault and its troubles, and what is wrong with it.
func (s *search) calmly(t *testing.T, l sim.Life) (calm sim.Outcome, wrong string) {
	t.Helper()
	calm, err := outcome(t, l.Calm(), s.kinds)
	if err != nil {
		return calm, err.Error()
	}
	return calm, strings.Join(calm.Wrong, "\n")
}
