package sim

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// soa finds what the state says of SOAs: that of a zone that was never delivered, or withdrawn, is nobody's.
var soa = regexp.MustCompile(`(?m)^ [^ ]+ [0-9]+ .*\n`)

// End is the state that a life is compared by with the same life without faults.
func (o Outcome) End() string { return soa.ReplaceAllString(o.State, "") }

// Ways are the ways in which a life has gone wrong that was calm without its faults, sorted: two lives that fail in the
// same way are about other objects, servers and serials.
func (o Outcome) Ways(calm Outcome) []string {
	all := map[string]bool{}
	for _, wrong := range o.Wrong {
		all[Way(wrong)] = true
	}
	was, is := parts(calm.End()), parts(o.End())
	for part := range is {
		was[part] += "" // it is looked at, too
	}
	for part, text := range was {
		if text != is[part] {
			kind, _, _ := strings.Cut(part, " ")
			all["another end of a "+kind] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// word is one that is no name, number or address.
var word = regexp.MustCompile(`^[A-Za-z]+[,:;.]?$`)

// Way is a message without what it is about.
func Way(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	words := strings.Fields(line)
	for i, w := range words {
		if !word.MatchString(w) {
			words[i] = "*"
		}
	}
	return strings.Join(words, " ")
}

// parts are what a state says of each object and each server.
func parts(state string) map[string]string {
	out, of := map[string]string{}, ""
	for line := range strings.Lines(state) {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, "}") {
			of = line
		}
		out[of] += line
	}
	return out
}
