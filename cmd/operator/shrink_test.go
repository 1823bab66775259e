package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/zonefold/zonefold/test/sim"
)

// A shrinker makes a life shorter that fails, as long as it fails in the same way.
type shrinker struct {
	t     *testing.T
	kinds *sim.Kinds
	left  int      // lives that it may still live
	runs  int      // how often a shorter life is lived, which has to fail each time
	ways  []string // in which the life fails; one of them is the same
}

// How many lives it may take to make one shorter. One of a fleet costs as much as ten others.
const (
	mostLives        = 1000
	mostLivesOfFleet = 150
)

// inShort returns the shortest life found that fails in one of the ways of a life, and how many of ten times it does.
func inShort(t *testing.T, l sim.Life, kinds *sim.Kinds, ways []string) (sim.Life, int) {
	t.Helper()
	s := &shrinker{t: t, kinds: kinds, left: mostLives, ways: ways}
	if slices.Contains(l.Dialects(), "bindy") {
		s.left = mostLivesOfFleet
	}
	for s.runs = 3; s.runs > 1; s.runs-- { // as often as the life itself
		if _, fails := s.fails(l); fails {
			break
		}
	}
	short := sim.Shrink(l, s.fails)
	times := 0
	s.left, s.runs = 11, 1
	calm, err := s.live(short.Calm())
	if err != nil {
		t.Errorf("what was left is no life: %v", err)
	}
	for range 10 {
		if s.goesWrong(short, calm) {
			times++
		}
	}
	return short, times
}

// fails looks whether a life goes wrong with its faults, in the same way, and not without. Of two faults it leaves one
// out if it can. If steps were left out, the fault may be at an earlier effect of the same name.
func (s *shrinker) fails(l sim.Life) (sim.Life, bool) {
	calm, err := s.live(l.Calm())
	switch {
	case err != nil:
		return l, false // no such life
	case l.Fault.Kind == sim.None:
		return l, s.goesWrong(l, calm)
	case len(calm.Wrong) > 0:
		return l, false // that is something else
	}
	for _, one := range variants(l) {
		if s.goesWrong(one, calm) {
			return one, true
		}
	}
	return l, false
}

// earlier is at how many earlier effects of its name a fault is tried.
const earlier = 3

// variants are a life with one of its faults, with all, and with the first at an earlier effect.
func variants(l sim.Life) (all []sim.Life) {
	if len(l.Then) > 0 {
		for _, alone := range append([]sim.Fault{l.Fault}, l.Then...) {
			one := l
			one.Fault, one.Then = alone, nil
			all = append(all, one)
		}
	}
	for at := l.Fault.At; at >= max(1, l.Fault.At-earlier); at-- {
		one := l
		one.Fault.At = at
		all = append(all, one)
	}
	return all
}

// goesWrong lives a life so often that fails in the same way each time.
func (s *shrinker) goesWrong(l sim.Life, calm sim.Outcome) bool {
	for range s.runs {
		out, err := s.live(l)
		if errors.Is(err, errSpent) {
			return false
		}
		ways := out.Ways(calm)
		if err != nil {
			ways = []string{sim.Way(err.Error())}
		}
		if !slices.ContainsFunc(ways, func(way string) bool { return slices.Contains(s.ways, way) }) {
			return false
		}
	}
	return true
}

// errSpent is what comes of a life that is one too many.
var errSpent = errors.New("this would be one life too many")

func (s *shrinker) live(l sim.Life) (sim.Outcome, error) {
	if s.left--; s.left < 0 {
		return sim.Outcome{}, errSpent
	}
	return outcome(s.t, l, s.kinds)
}
