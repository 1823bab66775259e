package figures

import (
	"cmp"
	"slices"
	"time"
)

// Times are how long each of some things took.
type Times []time.Duration

// Percentile is by nearest rank: with 100 times the 99th is the second longest.
func (t Times) Percentile(p int) time.Duration {
	sorted := slices.Sorted(slices.Values(t))
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// Median is the lower of the two in the middle.
func Median[T cmp.Ordered](all []T) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)-1)/2]
}

// Milliseconds are exact to a microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Mebi is how many octets a MiB has.
const Mebi = 1 << 20
