package backend

import (
	"time"

	"github.com/zonefold/zonefold/internal/rr"
)

// nextSerial returns a serial after last (RFC 1982 §3.1): the date form YYYYMMDD00 of now where that comes after last,
// else last+1. It is never 0, which some servers take for "none". Without a last one it is the date form.
func nextSerial(last uint32, hasLast bool, now time.Time) uint32 {
	y, m, d := now.UTC().Date()
	date := uint32(y*1_000_000 + int(m)*10_000 + d*100)
	if !hasLast || rr.SerialLess(last, date) {
		return date
	}
	return max(last+1, 1)
}

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
