package rr

import "time"

// SerialLess reports whether serial a comes before b (RFC 1982 §3.2). For two
// serials exactly 2³¹ apart, where the RFC defines no order, neither is less.
func SerialLess(a, b uint32) bool { return int32(b-a) > 0 }

// LaterSerial returns the later of two serials, either of which may be missing (0).
func LaterSerial(a, b uint32) uint32 {
	if a == 0 || b != 0 && SerialLess(a, b) {
		return b
	}
	return a
}

// NextSerial returns a serial that secondaries take as newer than last (RFC 1982).
// It prefers the date form YYYYMMDD00 of now in UTC and never falls behind last+1.
// Zero, which some servers take as "no serial", is stepped over; a last of zero is none.
func NextSerial(last uint32, now time.Time) uint32 {
	year, month, day := now.UTC().Date()
	today := uint32(year*1_000_000 + int(month)*10_000 + day*100)
	if last == 0 || SerialLess(last, today) {
		return today
	}
	return max(last+1, 1)
}
