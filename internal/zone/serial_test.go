package zone

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/rr"
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
		{"the day is that of UTC", 2024051700, 2024051800, time.Date(2024, 5, 17, 23, 30, 0, 0, time.FixedZone("west", -3600))},
		{"the largest serial is followed by 1, since 0 means none to some servers", math.MaxUint32, 1, time.Date(2148, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"past the largest serial today comes as before", math.MaxUint32, 2024051700, now},
		{"a serial more than half the circle ahead counts as behind", 2024051700 + 1<<31 + 1, 2024051700, now},
		{"a serial half the circle away, of which RFC 1982 does not say which is newer, counts up", 2024051700 + 1<<31, 2024051700 + 1<<31 + 1, now},
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
		last := rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(2020010100, 2030010100), rapid.Uint32Range(math.MaxUint32-5, math.MaxUint32)).Draw(t, "last")
		for range 20 {
			now := time.Unix(rapid.Int64Range(0, 4102444800).Draw(t, "now"), 0)
			next := NextSerial(last, now)
			if next == 0 {
				t.Fatalf("after %d comes 0", last)
			}
			if last != 0 && !rr.SerialLess(last, next) {
				t.Fatalf("after %d comes %d, which secondaries do not take as newer", last, next)
			}
			last = next
		}
	})
}
