package rr

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
