package backend

import "time"

// farthest is the largest step that a serial can take at once (RFC 1982 §3.1).
const farthest = 1<<31 - 1

// The steps by which a ceiling is raised. A zone that uses up a step quickly gets longer ones, so that writing ceilings
// stays rare under load; a crash skips what is left of one.
const (
	shortestStep = 16
	longestStep  = 4096
	quickly      = 10 * time.Second
)

// stepAfter returns the next step, the last one having lasted for d.
func stepAfter(step uint32, d time.Duration) uint32 {
	if d < quickly {
		return min(max(step*2, shortestStep), longestStep)
	}
	return max(step/2, shortestStep)
}
