package backend

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/rr"
)

func TestNextSerial(t *testing.T) {
	day := time.Date(2026, 11, 21, 23, 59, 0, 0, time.FixedZone("", -3600*5))
	for _, c := range []struct {
		name string
		last uint32
		has  bool
		want uint32
	}{
		{"a new zone begins with the date, in UTC", 0, false, 2026112200},
		{"a serial of an earlier day becomes the date", 2026112199, true, 2026112200},
		{"a serial of today goes up by one", 2026112200, true, 2026112201},
		{"the hundredth change of a day runs into the next", 2026112299, true, 2026112300},
		{"a serial in the future goes up by one", 2030010100, true, 2030010101},
		{"a small serial becomes the date", 1, true, 2026112200},
		{"a serial half the circle away, which RFC 1982 does not order, goes up by one", 2026112200 + 1<<31, true, 2026112201 + 1<<31},
		{"the highest serial is followed by the date", 1<<32 - 1, true, 2026112200},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := nextSerial(c.last, c.has, day); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// TestNextSerialIsNotZero: some servers take serial 0 for none.
func TestNextSerialIsNotZero(t *testing.T) {
	far := time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := nextSerial(1<<32-1, true, far); got != 1 {
		t.Errorf("the highest serial is followed by %d, want 1", got)
	}
}

func TestNextSerialComesAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last := rapid.Uint32Range(1, 1<<32-1).Draw(t, "last")
		now := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "now"), 0)
		if next := nextSerial(last, true, now); !rr.SerialLess(last, next) || next == 0 {
			t.Fatalf("%d is followed by %d", last, next)
		}
	})
}
