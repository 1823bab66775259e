package main

import "testing"

func TestGCPercent(t *testing.T) {
	for _, tt := range []struct {
		what string
		live uint64
		want int
	}{
		{"nothing yet", 0, 100},
		{"a small heap doubles", 100 << 20, 100},
		{"a larger one grows by as much", 200 << 20, 50},
		{"a large one by a part of it", 4 << 30, 40},
	} {
		if got := gcPercent(tt.live); got != tt.want {
			t.Errorf("%s: %d octets in use grow by %d percent, want %d", tt.what, tt.live, got, tt.want)
		}
	}
}
