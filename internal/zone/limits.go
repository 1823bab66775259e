package zone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// What one object may have others pay for. These are the limits that no schema of an object can hold, because they are
// about sums.
const (
	// MaxRuleParts is how many rules, namespaces, patterns and types the delegations of one Zone may have together: all of
	// them are looked at for each claim that the Zone is asked to take.
	MaxRuleParts = 4096
	// MaxAskedParts is how many of these one claim is compared with, on its way from the Zone that is nearest to it up to
	// those above. The nearest is always asked.
	MaxAskedParts = 2 * MaxRuleParts
	// MaxNotes is how many things are told about what an object says itself; of more, the number is told.
	MaxNotes = 16
)

// maxSet is how many records a set may have where a merger works.
func (m *merger) maxSet() int { return cmp.Or(m.cell.zone.Policy.MaxSet, m.composer.opts.MaxSet) }

// parts counts what has to be looked at to know what a rule allows.
func (r Rule) parts() int {
	n := 1 + len(r.Namespaces) + len(r.Zones)
	for _, rec := range r.Records {
		n += 1 + len(rec.Types)
	}
	return n
}

func partsOf(rules []Rule) (n int) {
	for _, r := range rules {
		n += r.parts()
	}
	return n
}

// RulesWithin returns how many of the rules, from the first on, are within [MaxRuleParts]. The others must grant
// nothing.
func RulesWithin(rules []Rule) int {
	left := MaxRuleParts
	for i, r := range rules {
		if left -= r.parts(); left < 0 {
			return i
		}
	}
	return len(rules)
}

// Curtail keeps the first [MaxNotes] notes, and tells how many others there are.
func Curtail(notes []Note) []Note {
	if len(notes) <= MaxNotes {
		return notes
	}
	return append(slices.Clip(notes[:MaxNotes]), Note{Reason: notes[MaxNotes].Reason, Message: fmt.Sprintf(
		"There are %d more like these.", len(notes)-MaxNotes)})
}

// InAll makes one sentence of the first [MaxNotes] faults, and tells how many others there are.
func InAll(faults []string) string {
	if len(faults) <= MaxNotes {
		return strings.Join(faults, "; ")
	}
	return fmt.Sprintf("%s; and %d more faults like these", strings.Join(faults[:MaxNotes], "; "), len(faults)-MaxNotes)
}
