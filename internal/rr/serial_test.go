package rr

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestNextSerial(t *testing.T) {
	now := time.Date(2024, 5, 17, 23, 30, 0, 0, time.UTC)
	for _, test := range []struct {
		name       string
		last, want uint32
		now        time.Time
	}{
		{"the first serial is that of the day", 0, 2024051700, now},
		{"an earlier day gives way to today", 2023123145, 2024051700, now},
		{"a small serial gives way to today", 1, 2024051700, now},
		{"the second of a day counts up", 2024051700, 2024051701, now},
		{"the hundredth runs into the next day", 2024051799, 2024051800, now},
		{"a clock that goes back does not take the serial back", 2024051803, 2024051804, now},
		{"the day is that of UTC", 2024051700, 2024051800,
			time.Date(2024, 5, 17, 23, 30, 0, 0, time.FixedZone("west", -3600))},
		{"the largest serial is followed by 1, since 0 means none to some servers", math.MaxUint32, 1,
			time.Date(2148, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"past the largest serial today comes as before", math.MaxUint32, 2024051700, now},
		{"a serial more than half the circle ahead counts as behind", 2024051700 + 1<<31 + 1, 2024051700, now},
		{"a serial half the circle away, of which RFC 1982 does not say which is newer, counts up", 2024051700 + 1<<31,
			2024051700 + 1<<31 + 1, now},
		{"a serial ahead of the day counts up", 4000000000, 4000000001, now},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := NextSerial(test.last, test.now); got != test.want {
				t.Errorf("after %d comes %d, not %d", test.last, got, test.want)
			}
		})
	}
}

func TestSerialsNeverFall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last := rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(2020010100, 2030010100),
			rapid.Uint32Range(math.MaxUint32-5, math.MaxUint32)).Draw(t, "last")
		for range 20 {
			now := time.Unix(rapid.Int64Range(0, 4102444800).Draw(t, "now"), 0)
			next := NextSerial(last, now)
			if next == 0 {
				t.Fatalf("after %d comes 0", last)
			}
			if last != 0 && !SerialLess(last, next) {
				t.Fatalf("after %d comes %d, which secondaries do not take as newer", last, next)
			}
			last = next
		}
	})
}

func TestNextSerialNearMidnight(t *testing.T) {
	day := time.Date(2026, 11, 21, 23, 59, 0, 0, time.FixedZone("", -3600*5))
	for _, c := range []struct {
		name string
		last uint32
		want uint32
	}{
		{"a new zone begins with the date, in UTC", 0, 2026112200},
		{"a serial of an earlier day becomes the date", 2026112199, 2026112200},
		{"a serial of today goes up by one", 2026112200, 2026112201},
		{"the hundredth change of a day runs into the next", 2026112299, 2026112300},
		{"a serial in the future goes up by one", 2030010100, 2030010101},
		{"a small serial becomes the date", 1, 2026112200},
		{"a serial half the circle away, which RFC 1982 does not order, goes up by one", 2026112200 + 1<<31,
			2026112201 + 1<<31},
		{"the highest serial is followed by the date", 1<<32 - 1, 2026112200},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := NextSerial(c.last, day); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// TestNextSerialIsNotZero: some servers take serial 0 for none.
func TestNextSerialIsNotZero(t *testing.T) {
	far := time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := NextSerial(1<<32-1, far); got != 1 {
		t.Errorf("the highest serial is followed by %d, want 1", got)
	}
}

func TestNextSerialComesAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last := rapid.Uint32Range(1, 1<<32-1).Draw(t, "last")
		now := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "now"), 0)
		if next := NextSerial(last, now); !SerialLess(last, next) || next == 0 {
			t.Fatalf("%d is followed by %d", last, next)
		}
	})
}

func TestLaterSerial(t *testing.T) {
	for _, c := range []struct{ a, b, want uint32 }{
		{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {4, 5, 5}, {5, 4, 5}, {1<<32 - 1, 1, 1}, {1, 1<<32 - 1, 1},
	} {
		if got := LaterSerial(c.a, c.b); got != c.want {
			t.Errorf("of %d and %d the later is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
