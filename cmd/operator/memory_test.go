package main

import (
	"os"
	"testing"
)

func TestGCPercent(t *testing.T) {
	for _, tt := range []struct {
		what string
		live uint64
		want int
	}{
		{"nothing yet", 0, 100},
		{"a small heap doubles", 16 << 20, 100},
		{"a larger one grows by as much", 32 << 20, 50},
		{"a large one by a part of it", 4 << 30, 40},
	} {
		if got := gcPercent(tt.live); got != tt.want {
			t.Errorf("%s: %d octets in use grow by %d percent, want %d", tt.what, tt.live, got, tt.want)
		}
	}
}

func TestHowMuchMemoryThereIs(t *testing.T) {
	const v2, v1 = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"the chart's limit", map[string]string{v2: "536870912\n"}, 512 << 20},
		{"the chart's limit in version 1", map[string]string{v1: "536870912\n"}, 512 << 20},
		{"no limit", map[string]string{v2: "max\n"}, assumedMemory},
		{"no limit in version 1", map[string]string{v1: "9223372036854771712\n"}, assumedMemory},
		{"no control groups", nil, assumedMemory},
	} {
		got := memoryLimit(func(name string) ([]byte, error) {
			text, ok := c.files[name]
			if !ok {
				return nil, os.ErrNotExist
			}
			return []byte(text), nil
		})
		if got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		flag string
		want int64 // 0: it is refused
	}{
		{"", leastReadMemory}, {"128Mi", 128 << 20}, {"1Mi", 0}, {"-1Gi", 0}, {"0", 0}, {"x", 0},
	} {
		var args []string
		if c.flag != "" {
			args = []string{"--read-memory=" + c.flag}
		}
		o, err := parse(args, func(string) string { return "" })
		if (err == nil) != (c.want > 0) || err == nil && o.readBudget(1) != c.want {
			t.Errorf("--read-memory=%s: %d, %v", c.flag, o.readBudget(1), err)
		}
	}
}
