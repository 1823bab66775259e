package sim

import (
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
)

// traits are fields of Limits as words, of which a kind of servers is made: "sets+named+counts" is one.
var traits = map[string]func(*backend.Limits){
	"batches":  func(l *backend.Limits) { l.Atomic = backend.AtomicBatch },
	"sets":     func(l *backend.Limits) { l.Atomic = backend.AtomicSet },
	"values":   func(l *backend.Limits) { l.Atomic = backend.AtomicValue },
	"shown":    func(l *backend.Limits) { l.Read = backend.ReadZone },
	"named":    func(l *backend.Limits) { l.Read = backend.ReadSet },
	"hidden":   func(l *backend.Limits) { l.Read = backend.ReadNone },
	"counts":   func(l *backend.Limits) { l.SOA = backend.SOAServer },
	"free":     func(l *backend.Limits) { l.ApexNS = backend.ApexNSFree },
	"keeps":    func(l *backend.Limits) { l.ApexNS = backend.ApexNSRequired },
	"own":      func(l *backend.Limits) { l.ApexNS = backend.ApexNSServer },
	"lists":    func(l *backend.Limits) { l.ListsZones = true },
	"creates":  func(l *backend.Limits) { l.Creates = true },
	"removes":  func(l *backend.Limits) { l.Removes = true },
	"followed": func(l *backend.Limits) { l.Followed = true },
	"confirms": func(l *backend.Limits) { l.Confirms = true },
	"min60":    func(l *backend.Limits) { l.MinTTL = 60 },
	"max3600":  func(l *backend.Limits) { l.MaxTTL = 3600 },
	"changes1": func(l *backend.Limits) { l.MaxChanges = 1 },
	"changes3": func(l *backend.Limits) { l.MaxChanges = 3 },
	"calls1":   func(l *backend.Limits) { l.Concurrency = 1 },
	"calls2":   func(l *backend.Limits) { l.Concurrency = 2 },
}

// limitsOf returns the limits of a kind: one of a name, or one of traits.
func limitsOf(kind string) (backend.Limits, error) {
	if l, known := kinds[kind]; known {
		return l, nil
	}
	var l backend.Limits
	for word := range strings.SplitSeq(kind, "+") {
		set := traits[word]
		if set == nil {
			return l, fmt.Errorf("there is no kind of servers %s", kind)
		}
		set(&l)
	}
	return l, nil
}

// anyKind draws a kind of traits. A serial stands for one content, so a server whose client counts takes batches whole;
// one that others follow by its serials is such a server. What is removed has to be created to come back. What comes
// back with yesterday's content shows all that it has. One that shows nothing counts by itself: no client could tell
// which serial it has.
func (a *author) anyKind(shows bool) string {
	counts := a.IntN(2) == 0
	words := []string{"batches", "shown", a.choose([]string{"free", "keeps"})}
	some := []string{"lists", "confirms", "min60", "max3600"}
	if counts {
		words[0] = a.choose([]string{"batches", "sets", "values"})
		words[2] = a.choose([]string{"free", "keeps", "own"})
		words = append(words, "counts")
	} else {
		some = append(some, "followed")
	}
	if !shows {
		words[1] = a.choose([]string{"shown", "named"})
		if counts && a.IntN(2) == 0 {
			words[1] = "hidden"
		}
	}
	for _, word := range some {
		if a.IntN(2) == 0 {
			words = append(words, word)
		}
	}
	for _, group := range [][]string{{"", "creates", "creates+removes"}, {"", "changes1", "changes3"},
		{"", "calls1", "calls2"}} {
		if word := a.choose(group); word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, "+")
}
