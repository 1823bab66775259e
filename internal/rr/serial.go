package rr

// SerialLess reports whether serial a comes before b (RFC 1982 §3.2). For two
// serials exactly 2³¹ apart, where the RFC defines no order, neither is less.
func SerialLess(a, b uint32) bool { return int32(b-a) > 0 }
