package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Less subtracts, and leaves out what is nothing then.
func Less[T time.Duration | float64](now, before map[string]T) map[string]T {
	out := map[string]T{}
	for what, n := range now {
		if n -= before[what]; n != 0 {
			out[what] = n
		}
	}
	return out
}

// Sum adds up the samples of a metric, whatever their labels.
func Sum(samples map[string]float64, name string) float64 {
	total := 0.0
	for sample, v := range samples {
		if sample == name || strings.HasPrefix(sample, name+"{") {
			total += v
		}
	}
	return total
}

// Samples reads metrics in the exposition format: by name and labels.
func Samples(text string) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		i := strings.LastIndexByte(line, ' ')
		if i < 0 || line[0] == '#' {
			continue
		}
		if v, err := strconv.ParseFloat(line[i+1:], 64); err == nil {
			out[line[:i]] = v
		}
	}
	return out
}

// ByCPU lists programs and their seconds, who used most first.
func ByCPU(cpu map[string]time.Duration) string {
	var out []string
	for _, name := range slices.SortedFunc(maps.Keys(cpu), func(a, b string) int { return cmp.Compare(cpu[b], cpu[a]) }) {
		if cpu[name] >= 50*time.Millisecond {
			out = append(out, fmt.Sprintf("%s %.1f", name, cpu[name].Seconds()))
		}
	}
	return strings.Join(out, ", ")
}

// ByCount lists counts, the most frequent first.
func ByCount(counts map[string]float64) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var out []string
	for _, k := range keys {
		out = append(out, fmt.Sprintf("%.0f %s", counts[k], k))
	}
	return strings.Join(out, ", ")
}
