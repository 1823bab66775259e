package sim

import (
	"slices"
	"strconv"
	"strings"
)

// Dialects are those that the operators of a life have.
func (l Life) Dialects() []string {
	if words := l.said("begin"); len(words) > 0 {
		return words
	}
	return []string{"kubizone"}
}

// Roles are the parts of operators that need rights: the dialects, and what steps are about.
func (l Life) Roles() []string {
	out := slices.Clone(l.Dialects())
	if slices.ContainsFunc(l.Steps, func(s Step) bool { return strings.HasPrefix(s.Text, "update ") }) {
		out = append(out, "updates")
	}
	if len(l.sources()) > 0 {
		out = append(out, "sources")
	}
	return out
}

// sources are those that the operators of a life follow.
func (l Life) sources() []string {
	return l.said("sources")
}

// entries is how many the status of a Zone has at most; 0: as many as an operator puts there by itself.
func (l Life) entries() (int, error) {
	words := l.said("entries")
	if words == nil {
		return 0, nil
	}
	return strconv.Atoi(strings.Join(words, " "))
}

// embedded reports whether operators are to have name servers of their own.
func (l Life) embedded() bool {
	return slices.ContainsFunc(l.Steps, func(s Step) bool { return strings.Contains(string(s.Data), "embedded:") })
}

// said are the words that follow the first of a step of one kind, which operators are told before they begin.
func (l Life) said(first string) []string {
	for _, s := range l.Steps {
		if words := strings.Fields(s.Text); words[0] == first {
			return words[1:]
		}
	}
	return nil
}
