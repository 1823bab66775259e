package rr

import "testing"

func TestLaterSerial(t *testing.T) {
	for _, c := range []struct{ a, b, want uint32 }{
		{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {4, 5, 5}, {5, 4, 5}, {1<<32 - 1, 1, 1}, {1, 1<<32 - 1, 1},
	} {
		if got := LaterSerial(c.a, c.b); got != c.want {
			t.Errorf("of %d and %d the later is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
