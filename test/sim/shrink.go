package sim

import (
	"regexp"
	"slices"
	"strings"
)

// Shrink returns the shortest life found that still fails: it leaves out halves of the steps, then less and less, each
// single one, and each pair. fails returns the life with the fault that it fails with, and false if it does not fail or
// cannot be lived; it bounds how many lives that takes.
//
// What is left is a life that people and servers could have: a step that ends what was wrong stays as long as that is
// wrong, and a pause that a turn of a random life depends on stays as long as that turn does. Otherwise the life would
// fail for another reason.
func Shrink(l Life, fails func(Life) (Life, bool)) Life {
	s := shrinking{l, fails}
	s.take(apart(l.Steps))
	for many := max(1, len(s.Steps)/2); many > 0; many /= 2 {
		for s.leaveOut(many) && many == 1 {
		}
	}
	for s.leaveOutTwo() {
		for s.leaveOut(1) {
		}
	}
	return s.Life
}

// A shrinking life still fails.
type shrinking struct {
	Life
	fails func(Life) (Life, bool)
}

// take has the life have other steps if it fails with them, and reports whether it does.
func (s *shrinking) take(steps []Step) bool {
	next := s.Life
	next.Steps = steps
	failed, ok := s.fails(next)
	if ok {
		s.Life = failed
	}
	return ok
}

// leaveOut leaves out so many steps in a row, wherever it can, and reports whether it could.
func (s *shrinking) leaveOut(many int) (shorter bool) {
	for at := 0; at+many <= len(s.Steps); {
		next := without(s.Steps, func(i int) bool { return at <= i && i < at+many })
		if len(next) < len(s.Steps) && s.take(next) {
			shorter = true
		} else {
			at += many
		}
	}
	return shorter
}

// leaveOutTwo leaves out two steps that are not to be left out alone, and reports whether it could.
func (s *shrinking) leaveOutTwo() bool {
	for one := range s.Steps {
		for other := one + 1; other < len(s.Steps); other++ {
			next := without(s.Steps, func(i int) bool { return i == one || i == other })
			if len(next) <= len(s.Steps)-2 && s.take(next) {
				return true
			}
		}
	}
	return false
}

// apart has each object of steps be one of its own, to be left out alone.
func apart(steps []Step) (out []Step) {
	for _, s := range steps {
		if s.Text != "apply" {
			out = append(out, s)
			continue
		}
		for document := range strings.SplitSeq(strings.TrimSuffix(string(s.Data), "\n"), "\n---\n") {
			one := s
			one.Data = []byte(document + "\n")
			out = append(out, one)
		}
	}
	return out
}

// without leaves steps out, and what is done to objects that nobody makes any more.
func without(steps []Step, left func(int) bool) (out []Step) {
	acts := map[int]bool{} // turns of which more is there than pauses
	for i, s := range steps {
		if s.turn != 0 && !left(i) && !s.mends && !s.isWait() {
			acts[s.turn] = true
		}
	}
	made := map[string]bool{} // objects that were made, and whether they still are
	foul := map[string]bool{} // what is wrong
	for i, s := range steps {
		if strings.HasPrefix(s.Text, "begin") {
			clear(foul)
		}
		object, makes := s.object()
		is, was := made[object]
		keeps := !left(i) || foul[s.ends()] || s.isWait() && acts[s.turn]
		if makes {
			made[object] = is || keeps
		}
		if !keeps || was && !is && !makes {
			continue
		}
		if s.ends() != anything && s.ends() != secrets {
			delete(foul, s.ends())
		}
		for _, what := range s.spoils() {
			foul[what] = true
		}
		out = append(out, s)
	}
	return out
}

func (s Step) isWait() bool { return strings.HasPrefix(s.Text, "wait ") }

// metadata finds what a manifest is about.
var metadata = regexp.MustCompile(`metadata: \{(?:name: ([^,}]+), namespace: (\w+)|namespace: (\w+), name: ([^,}]+))`)

// object is the one in a namespace that a step is about, "" for none, and whether it is there afterwards if it was not.
func (s Step) object() (name string, makes bool) {
	if m := metadata.FindSubmatch(s.Data); m != nil {
		return string(m[2]) + string(m[3]) + "/" + string(m[1]) + string(m[4]), true
	}
	if words := strings.Fields(s.Text); len(words) > 2 && strings.Contains(words[2], "/") &&
		slices.Contains([]string{"annotate", "delete", "status"}, words[0]) {
		return words[2], false
	}
	return "", false
}

// What is wrong that more than one step may end.
const (
	secrets  = "secrets"  // Secrets do not have the keys of servers
	anything = "anything" // anything at all
)

// ends is what a step ends that was wrong, "" for nothing.
func (s Step) ends() string {
	words := strings.Fields(s.Text)
	switch what := words[0]; {
	case what == "up" || what == "whole" || what == "accept" || what == "heal":
		return s.Text
	case (what == "late" || what == "slow") && words[len(words)-1] == "0s":
		return strings.Join(words[:len(words)-1], " ")
	case s.mends && (what == "key" || strings.Contains(string(s.Data), "kind: Secret\n")):
		return secrets
	case s.mends:
		return anything
	}
	return ""
}

// spoils is what is wrong from a step on, as ends has it.
func (s Step) spoils() []string {
	words := strings.Fields(s.Text)
	of := strings.Join(words[1:], " ")
	switch words[0] {
	case "down", "silent", "ill":
		return []string{"up " + of, anything}
	case "half":
		return []string{"whole " + of, anything}
	case "refuse":
		return []string{"accept " + of, anything}
	case "hang", "mute":
		return []string{"heal " + of, anything}
	case "late", "slow":
		if words[len(words)-1] != "0s" {
			return []string{strings.Join(words[:len(words)-1], " "), anything}
		}
		return nil
	case "key", "webhook":
		return []string{secrets, anything}
	}
	switch {
	case strings.HasPrefix(s.Text, "delete Secret "):
		return []string{secrets, anything}
	case inTrouble(words), strings.HasSuffix(s.Text, "=migrate"):
		return []string{anything}
	}
	return nil
}
