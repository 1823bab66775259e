package bind9

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Ring is the keys of one purpose: all that servers accept, and the one that clients sign with. It is published as a
// whole, in one Secret, and all that Next needs to know is in there: a rotation goes on wherever it stopped.
type Ring struct {
	Keys       []Key
	InUse      string    // the name of the key that clients sign with
	CreatedAt  time.Time // of the key in use
	SwitchedAt time.Time // when clients were last told to sign with another key
	RotateAt   time.Time // zero: never
	// Count is how many keys followed the first. It never falls, so that no name is used twice.
	Count int
}

// Settings are what decides about a Ring from outside.
type Settings struct {
	Purpose Purpose
	// Algorithm of keys that are made; a key in use that has another is followed by one that has it. "" is hmac-sha256,
	// and lets keys be.
	Algorithm Algorithm
	// RotateAfter is how long a made key is used; zero: always.
	RotateAfter time.Duration
	// External is the key that somebody supplied. Unusable says that one is to be there and is missing or wrong: nothing
	// new is decided until it is right.
	External *Key
	Unusable bool
	// Past is how many keys there are known to have been, for the case that the Ring was lost: names are not used again.
	Past int
	Rand io.Reader
}

// Overlap is how long a key is still accepted after clients were told to sign with another.
const Overlap = 10 * time.Minute

// acceptPoll is how often servers are asked whether they accept a new key; they get it within a minute or two.
const acceptPoll = 5 * time.Second

// Move is what a Step did to a Ring.
type Move string

// The moves. After all but Keep and Wait the Ring has to be published before anything else.
const (
	Keep    Move = "Keep"    // it is as it should be
	Wait    Move = "Wait"    // until servers accept a key, or the overlap is over
	Create  Move = "Create"  // there was no key
	Add     Move = "Add"     // servers are to accept one more key
	Switch  Move = "Switch"  // clients are to sign with a key that all servers accept
	Remove  Move = "Remove"  // a key that nobody signs with any more is gone
	Replace Move = "Replace" // a key that nobody signs with got another secret
	Mend    Move = "Mend"    // what is noted beside the keys was missing
)

// A Step is what Next decided and why.
type Step struct {
	Move   Move
	Reason string    // a sentence
	Again  time.Time // when to ask again if nothing else happens; zero: no need to
}

// Published reports whether the Ring has to be written.
func (s Step) Published() bool { return s.Move != Keep && s.Move != Wait }

// Next takes a Ring one step further. accepted reports whether every server that there is takes this very key, secret
// and all, for its control channel and for DNS; false is the answer where it is not known.
//
// A server may lag behind by a state, so that no step may change both what servers accept and what clients sign with,
// unless clients come to sign with what was accepted before.
func Next(r Ring, now time.Time, s Settings, accepted func(Key) bool) (Ring, Step, error) {
	now = now.Truncate(time.Second) // what annotations can say
	r.Keys = slices.Clone(r.Keys)
	if len(r.Keys) == 0 {
		return r.create(now, s)
	}
	if step, mended := r.mend(now, s); mended {
		return r, step, nil
	}
	current, _ := r.Key()
	target, reason := r.target(current, now, s)
	switch {
	case target != nil && *target == current:
		return r.tidy(now)
	case target == nil:
		return r.grow(now, s, reason)
	}
	return r.toward(*target, now, s, accepted)
}

// Key is the key in use.
func (r Ring) Key() (Key, bool) { return r.named(r.InUse) }

func (r Ring) named(name string) (Key, bool) {
	i := slices.IndexFunc(r.Keys, func(k Key) bool { return sameName(k.Name, name) })
	if i < 0 {
		return Key{}, false
	}
	return r.Keys[i], true
}

// create makes the first key. Nobody has another yet.
func (r Ring) create(now time.Time, s Settings) (Ring, Step, error) {
	r.Count = max(r.Count, s.Past)
	var k Key
	var err error
	reason := "There was no key, so one was made."
	if s.External != nil {
		k, reason = *s.External, "There was no key, so the one that was supplied is used."
	} else if k, err = r.generate(s); err != nil {
		return Ring{}, Step{}, err
	}
	r.Keys, r.InUse, r.CreatedAt, r.SwitchedAt = []Key{k}, k.Name, now, time.Time{}
	r.RotateAt = r.rotateAt(s)
	return r, Step{Create, reason, r.RotateAt}, nil
}

// mend puts right what people and older versions left out beside the keys. Until then nothing can be timed.
func (r *Ring) mend(now time.Time, s Settings) (Step, bool) {
	var missing []string
	if _, ok := r.Key(); !ok {
		r.InUse = r.Keys[0].Name
		missing = append(missing, "which key is in use")
	}
	if r.CreatedAt.IsZero() || r.CreatedAt.After(now.Add(Overlap)) {
		r.CreatedAt = now
		missing = append(missing, "when it was made")
	}
	if r.SwitchedAt.After(now.Add(Overlap)) {
		r.SwitchedAt = now
		missing = append(missing, "since when it is in use")
	}
	if at := r.rotateAt(s); !at.Equal(r.RotateAt) {
		r.RotateAt = at
		missing = append(missing, "rightly when the next follows")
	}
	if n := r.highest(s.Purpose); n > r.Count {
		r.Count = n
		missing = append(missing, "how many keys there have been")
	}
	if len(missing) == 0 {
		return Step{}, false
	}
	return Step{Mend, fmt.Sprintf("The Secret did not say %s.", strings.Join(missing, ", nor ")), now}, true
}

// rotateAt is when the key in use has been used for long enough; zero is never. A supplied key is its owner's to
// change.
func (r Ring) rotateAt(s Settings) time.Time {
	if s.External != nil || s.Unusable || s.RotateAfter <= 0 {
		return time.Time{}
	}
	return r.CreatedAt.Add(s.RotateAfter)
}

// target is the key that clients are to sign with in the end; nil says that it has to be made.
func (r Ring) target(current Key, now time.Time, s Settings) (*Key, string) {
	switch {
	case s.External != nil:
		return s.External, ""
	case s.Unusable:
		return &current, ""
	case !s.Purpose.made(current.Name):
		return r.pending(current, s), fmt.Sprintf("No key is supplied now, so one is made to follow %q.", current.Name)
	case !s.suits(current):
		return r.pending(current, s), fmt.Sprintf("Keys should be %s, but %q is %s.", s.Algorithm, current.Name,
			current.Algorithm)
	case !r.RotateAt.IsZero() && !now.Before(r.RotateAt):
		return r.pending(current, s), fmt.Sprintf("The key %q should be used until %s.", current.Name,
			r.RotateAt.UTC().Format(time.RFC3339))
	}
	return &current, ""
}

// pending is the key that was already made to follow the one in use: of all, the one with the highest number.
func (r Ring) pending(current Key, s Settings) *Key {
	number, ours := s.Purpose.number(current.Name)
	if !ours {
		number = -1
	}
	var best *Key
	for i, k := range r.Keys {
		if n, made := s.Purpose.number(k.Name); made && n > number && s.suits(k) {
			best, number = &r.Keys[i], n
		}
	}
	return best
}

// grow adds a key that is made.
func (r Ring) grow(now time.Time, s Settings, reason string) (Ring, Step, error) {
	r.Count++
	k, err := r.generate(s)
	if err != nil {
		return Ring{}, Step{}, err
	}
	r.Keys = append(r.Keys, k)
	return r, Step{Add, fmt.Sprintf("%s Servers get %q as well.", reason, k.Name), now.Add(acceptPoll)}, nil
}

// toward makes clients sign with a key that is not the one in use.
func (r Ring) toward(target Key, now time.Time, s Settings, accepted func(Key) bool) (Ring, Step, error) {
	same, taken := r.named(target.Name)
	switch {
	case taken && same != target && sameName(same.Name, r.InUse):
		return r.bridge(target, now, s, accepted)
	case taken && same != target:
		r.Keys[slices.Index(r.Keys, same)] = target
		return r, Step{Replace, fmt.Sprintf("The supplied key %q has another secret; no client signs with the old one.",
			target.Name), now.Add(acceptPoll)}, nil
	case !taken:
		r.Keys = append(r.Keys, target)
		r.Count++
		return r, Step{Add, fmt.Sprintf("The key %q was supplied. Servers get it as well.", target.Name),
			now.Add(acceptPoll)}, nil
	case !accepted(target):
		return r, waitFor(target, now), nil
	}
	r.InUse, r.CreatedAt, r.SwitchedAt = target.Name, now, now
	r.RotateAt = r.rotateAt(s)
	return r, Step{Switch, fmt.Sprintf("Every server accepts the key %q, so clients sign with it.", target.Name),
		now.Add(Overlap)}, nil
}

// bridge leads over a made key to one that has the name of the key in use and another secret: a server cannot have
// both.
func (r Ring) bridge(target Key, now time.Time, s Settings, accepted func(Key) bool) (Ring, Step, error) {
	current, _ := r.Key()
	bridge := r.pending(Key{}, s)
	if bridge == nil || *bridge == current {
		return r.grow(now, s, fmt.Sprintf("The supplied key %q has another secret than before, and servers cannot have both.",
			target.Name))
	}
	if !accepted(*bridge) {
		return r, waitFor(*bridge, now), nil
	}
	r.InUse, r.SwitchedAt = bridge.Name, now
	r.Keys[slices.Index(r.Keys, current)] = target
	return r, Step{Switch, fmt.Sprintf(
		"Every server accepts the key %q, so clients sign with it until they accept the other secret of %q.", bridge.Name,
		target.Name), now.Add(acceptPoll)}, nil
}

func waitFor(k Key, now time.Time) Step {
	return Step{Wait, fmt.Sprintf("Not every server is known to accept the key %q yet.", k.Name), now.Add(acceptPoll)}
}

// tidy removes the keys that are not in use, once nobody can be signing with them.
func (r Ring) tidy(now time.Time) (Ring, Step, error) {
	if len(r.Keys) == 1 {
		return r, Step{Keep, fmt.Sprintf("The key %q is in use.", r.InUse), r.RotateAt}, nil
	}
	if r.SwitchedAt.IsZero() {
		r.SwitchedAt = now
		return r, Step{Mend, fmt.Sprintf("The Secret did not say since when the key %q is in use.", r.InUse),
			now.Add(Overlap)}, nil
	}
	if over := r.SwitchedAt.Add(Overlap); now.Before(over) {
		return r, Step{Wait, fmt.Sprintf("Clients sign with the key %q; the one before it is accepted until %s.", r.InUse,
			over.UTC().Format(time.RFC3339)), over}, nil
	}
	current, _ := r.Key()
	r.Keys = []Key{current}
	return r, Step{Remove, fmt.Sprintf("Clients now sign only with the key %q.", r.InUse), r.RotateAt}, nil
}

// generate makes the key that Count names.
func (r Ring) generate(s Settings) (Key, error) {
	name := s.Purpose.base()
	if r.Count > 0 {
		name += "-" + strconv.Itoa(r.Count+1)
	}
	return Generate(s.Rand, name, s.algorithm())
}

// highest is the Count that the names of the keys prove.
func (r Ring) highest(p Purpose) (count int) {
	for _, k := range r.Keys {
		if n, made := p.number(k.Name); made {
			count = max(count, n)
		}
	}
	return count
}

// suits reports whether the algorithm of a key is what the settings ask for.
func (s Settings) suits(k Key) bool { return s.Algorithm == "" || k.Algorithm == s.Algorithm }

func (s Settings) algorithm() Algorithm {
	if s.Algorithm == "" {
		return SHA256
	}
	return s.Algorithm
}
