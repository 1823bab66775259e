package plan

import (
	"iter"

	"github.com/zonefold/zonefold/internal/rr"
)

// The phases of a safe order. A server that is told the changes one by one, or in several messages, is at no moment
// worse off than before: what a set needs is there before it comes, and what needs a set is gone before it goes.
const (
	clearing = iota // DNAMEs that go, and what lies below DNAMEs that come (RFC 6672 §2.4: nothing may)
	// everything that comes or changes, addresses of name servers among it; names that switch to or from an alias
	putting
	cutting   // NS, MX and SRV sets that come or change: the addresses of their hosts are there
	securing  // DS sets that come or change: their cut is there
	unsecured // DS sets that go, before their cut
	uncutting // NS, MX and SRV sets that go, before the addresses
	removing  // everything else that goes
	phases
)

// Order puts changes, given in canonical order of their keys, into a safe order: phase by phase, canonical within each.
// All changes of a name that a CNAME comes to or leaves stay together, deletions first (see Units).
func Order(changes []Change) []Change {
	var count [phases]int
	phase := make([]uint8, len(changes))
	cover := Change{}
	for start := 0; start < len(changes); {
		end := sameName(changes, start)
		one, name := switches(changes[start:end]), changes[start].Key.Name
		if cover.Key.Name.IsZero() || !name.Under(cover.Key.Name) {
			cover = Change{}
		}
		below := !cover.Key.Name.IsZero() && name.Below(cover.Key.Name)
		for i := start; i < end; i++ {
			phase[i] = phaseOf(changes[i], below)
			if one {
				phase[i] = phaseOfSwitch(changes[start:end])
			}
			count[phase[i]]++
			if cover.Key.Name.IsZero() && changes[i].Key.Type == rr.TypeDNAME && !changes[i].Deletes() {
				cover = changes[i]
			}
		}
		if one {
			deletionsFirst(changes[start:end])
		}
		start = end
	}
	return distribute(changes, phase, count)
}

// distribute sorts stably by phase.
func distribute(changes []Change, phase []uint8, count [phases]int) []Change {
	var at [phases]int
	for p := range phases {
		if count[p] == len(changes) {
			return changes
		}
		if p > 0 {
			at[p] = at[p-1] + count[p-1]
		}
	}
	ordered := make([]Change, len(changes))
	for i, c := range changes {
		ordered[at[phase[i]]] = c
		at[phase[i]]++
	}
	return ordered
}

func phaseOf(c Change, belowNewDNAME bool) uint8 {
	switch {
	case c.Deletes() && (belowNewDNAME || c.Key.Type == rr.TypeDNAME):
		return clearing
	case namesHosts(c.Key.Type) && c.Deletes():
		return uncutting
	case namesHosts(c.Key.Type):
		return cutting
	case c.Key.Type == rr.TypeDS && c.Deletes():
		return unsecured
	case c.Key.Type == rr.TypeDS:
		return securing
	case c.Deletes():
		return removing
	}
	return putting
}

// namesHosts reports whether sets of the type name hosts that want addresses. BIND checks that they have some.
func namesHosts(t rr.Type) bool { return t == rr.TypeNS || t == rr.TypeMX || t == rr.TypeSRV }

// phaseOfSwitch puts all changes of a name that switches to or from an alias into one phase.
func phaseOfSwitch(changes []Change) uint8 {
	for _, c := range changes {
		if namesHosts(c.Key.Type) && !c.Deletes() {
			return cutting
		}
	}
	return putting
}

// Units yields the changes in pieces that belong together: all changes of a name that switches to or from an alias,
// which make sense only in one message, and every other change alone. Changes are as Order returned them.
func Units(changes []Change) iter.Seq[[]Change] {
	return func(yield func([]Change) bool) {
		for start := 0; start < len(changes); {
			end := sameName(changes, start)
			if !switches(changes[start:end]) {
				end = start + 1
			}
			if !yield(changes[start:end:end]) {
				return
			}
			start = end
		}
	}
}

// sameName returns the end of the run of changes from start on that have one name.
func sameName(changes []Change, start int) int {
	end := start + 1
	for end < len(changes) && changes[end].Key.Name == changes[start].Key.Name {
		end++
	}
	return end
}

// switches reports whether the changes, all of one name, replace other sets by a CNAME or the reverse.
func switches(changes []Change) bool {
	if len(changes) < 2 {
		return false
	}
	for _, c := range changes {
		if c.Key.Type.Exclusive() {
			return true
		}
	}
	return false
}

// deletionsFirst sorts stably, in place: there are few.
func deletionsFirst(changes []Change) {
	for i, c := range changes {
		for j := i; c.Deletes() && j > 0 && !changes[j-1].Deletes(); j-- {
			changes[j-1], changes[j] = changes[j], changes[j-1]
		}
	}
}
