package sim

import (
	"slices"
	"strings"
)

// repeated are the steps by which people ask for something.
var repeated = []string{"apply", "deny", "try", "delete", "annotate", "status", "update"}

// restored has the API server come back with a backup, and people repeat what they did since, one thing at a time. All
// is done before the backup is made, before it comes back, and before the next thing is repeated, also by an operator
// that waits for the Lease of another: of an object that is made and deleted meanwhile nothing would say that a server
// has it. The same if an object that was the oldest of its name is not when it is made again, as the clock has jumped.
func (a *author) restored(plots []plot) {
	if slices.ContainsFunc(plots, func(p plot) bool { _, is := p.(*fleetLife); return is }) {
		return // what the pods of a fleet have then is not simulated
	}
	if slices.ContainsFunc(a.steps, func(s Step) bool { return strings.HasPrefix(s.Text, "clock ") }) {
		return
	}
	a.calm(plots...)
	a.step("backup", "")
	from := len(a.steps)
	for range 3 {
		plots[a.IntN(len(plots))].turn()
		a.step("wait "+a.choose(pauses), "")
	}
	a.calm(plots...)
	did := slices.Clone(a.steps[from:])
	a.step(a.choose([]string{"restore", "restore bumped"}), "")
	a.step("wait "+a.choose(pauses), "")
	for _, s := range did {
		if slices.Contains(repeated, strings.Fields(s.Text)[0]) {
			a.steps = append(a.steps, s)
			a.rest()
		}
	}
}
