package v1alpha1

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is an unsigned 32-bit number of the DNS: seconds or a serial. The
// schema bounds it, but objects stored under an older schema may hold any whole
// number, so every whole number decodes: one beyond int64 becomes the nearest
// int64, which no later check takes for valid.
type Number int64

// UnmarshalJSON reads a whole JSON number of any size, also with a fraction of
// zero or an exponent. Everything else, which no schema ever allowed, is an error.
func (n *Number) UnmarshalJSON(data []byte) error {
	var text json.Number
	if len(data) > 0 && data[0] == '"' {
		return fmt.Errorf("reading %.40s: a number is not written in quotes", data)
	}
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("reading %.40s: a whole number belongs here", data)
	}
	if text == "" { // null
		return nil
	}
	if i, err := strconv.ParseInt(text.String(), 10, 64); err == nil {
		*n = Number(i)
		return nil
	}
	// An error of ParseFloat here is one of range, and comes with ±Inf.
	f, _ := strconv.ParseFloat(text.String(), 64)
	switch {
	case f >= math.MaxInt64:
		*n = math.MaxInt64
	case f <= math.MinInt64:
		*n = math.MinInt64
	case f == math.Trunc(f):
		*n = Number(f)
	default:
		return fmt.Errorf("reading %.40s: a whole number belongs here", data)
	}
	return nil
}
