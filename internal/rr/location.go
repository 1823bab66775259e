package rr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// location is LOC data (RFC 1876): angles in thousandths of a second of arc
// from 2³¹, altitude in centimeters from 100 km below the ground, sizes in
// centimeters as one digit and a power of ten.
type location struct{}

const (
	origin    = 1 << 31 // equator and prime meridian
	degree    = 3_600_000
	minute    = 60_000
	bottom    = 100_000_00    // altitude 0, in the format's centimeters
	highest   = 42_849_672_95 // in centimeters above 0
	largest   = 90_000_000_00 // in centimeters
	defSize   = 0x12          // 1 m
	defHoriz  = 0x16          // 10 km
	defVert   = 0x13          // 10 m
	maxDegLat = 90
	maxDegLon = 180
)

func (l location) parse(c *codec, _ string) error {
	lat, err := l.angle(c, "latitude", maxDegLat, "NS")
	if err != nil {
		return err
	}
	lon, err := l.angle(c, "longitude", maxDegLon, "EW")
	if err != nil {
		return err
	}
	s, err := c.word("altitude")
	if err != nil {
		return err
	}
	alt, err := meters(s, -bottom, highest)
	if err != nil {
		return fmt.Errorf("the altitude %s %w", shorten(s), err)
	}
	sizes := [3]byte{defSize, defHoriz, defVert}
	for i, what := range [...]string{"size", "horizontal precision", "vertical precision"} {
		if !c.more() {
			break
		}
		if sizes[i], err = l.size(c, what); err != nil {
			return err
		}
	}
	c.wire = append(c.wire, 0, sizes[0], sizes[1], sizes[2])
	for _, v := range [...]uint32{lat, lon, uint32(alt + bottom)} {
		c.wire = append(c.wire, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
	}
	return nil
}

// angle reads degrees, optionally minutes and seconds, and a direction, the
// first of two of which counts up.
func (location) angle(c *codec, what string, most uint64, directions string) (uint32, error) {
	deg, err := c.number(what, 8)
	if err != nil {
		return 0, err
	}
	total := deg * degree
	for i := 0; ; i++ {
		s, err := c.word(what)
		if err != nil {
			return 0, err
		}
		switch {
		case s == directions[:1] && total <= most*degree:
			return uint32(origin + total), nil
		case s == directions[1:] && total <= most*degree:
			return uint32(origin - total), nil
		}
		v, ok := arc(s, i)
		if !ok {
			return 0, fmt.Errorf("the %s is not degrees (up to %d), minutes and seconds (up to 59.999), and %c or %c", what,
				most, directions[0], directions[1])
		}
		total += v
	}
}

// arc reads minutes, which come first, or seconds, which come second.
func arc(s string, i int) (uint64, bool) {
	switch i {
	case 0:
		v, err := fixed(s, 0)
		return v * minute, err == nil && v < 60
	case 1:
		v, err := fixed(s, 3)
		return v, err == nil && v < 60_000
	}
	return 0, false
}

// fixed reads a decimal number without a sign, in units of its last decimal.
func fixed(s string, decimals int) (uint64, error) {
	whole, fraction, dot := strings.Cut(s, ".")
	if dot && (fraction == "" || len(fraction) > decimals) {
		return 0, fmt.Errorf("has more than %d decimals", decimals)
	}
	for _, part := range [...]string{whole, fraction} {
		for i := range len(part) {
			if part[i] < '0' || part[i] > '9' {
				return 0, errors.New("is not a number")
			}
		}
	}
	return strconv.ParseUint(whole+fraction+strings.Repeat("0", decimals-len(fraction)), 10, 63)
}

// meters reads a length with an optional "m", in centimeters.
func meters(s string, least, most int64) (int64, error) {
	number, _ := strings.CutSuffix(s, "m")
	number, negative := strings.CutPrefix(number, "-")
	u, err := fixed(number, 2)
	v := int64(u)
	if negative {
		v = -v
	}
	if err != nil || number == "" || v < least || v > most {
		return 0, fmt.Errorf("is not a number of meters from %d to %d.%02d with at most two decimals", least/100, most/100,
			most%100)
	}
	return v, nil
}

// size reads a length as its first digit and the power of ten of centimeters
// that it stands for; the format holds no more.
func (location) size(c *codec, what string) (byte, error) {
	s, err := c.word(what)
	if err != nil {
		return 0, err
	}
	v, err := meters(s, 0, largest)
	if err != nil {
		return 0, fmt.Errorf("the %s %s %w", what, shorten(s), err)
	}
	power := byte(0)
	for ; v >= 10; v /= 10 {
		power++
	}
	return byte(v)<<4 | power, nil
}

func (l location) print(c *codec, what string) error {
	b, err := c.take(what, 16)
	if err != nil {
		return err
	}
	if b[0] != 0 {
		return fmt.Errorf("the %s has version %d, and only 0 is known", what, b[0])
	}
	be := func(i int) int64 {
		return int64(b[i])<<24 | int64(b[i+1])<<16 | int64(b[i+2])<<8 | int64(b[i+3])
	}
	if err := l.putAngle(c, be(4)-origin, maxDegLat, "NS"); err != nil {
		return err
	}
	if err := l.putAngle(c, be(8)-origin, maxDegLon, "EW"); err != nil {
		return err
	}
	alt, sign := be(12)-bottom, ""
	if alt < 0 {
		alt, sign = -alt, "-"
	}
	c.put(fmt.Sprintf("%s%d.%02dm", sign, alt/100, alt%100))
	for _, size := range b[1:4] {
		digit, power := int64(size>>4), size&15
		if digit > 9 || power > 9 || digit == 0 && power > 0 {
			return fmt.Errorf("the %s has a size that is not one digit and a power of ten", what)
		}
		for ; power > 0; power-- {
			digit *= 10
		}
		if digit%100 == 0 {
			c.put(fmt.Sprintf("%dm", digit/100))
		} else {
			c.put(fmt.Sprintf("%d.%02dm", digit/100, digit%100))
		}
	}
	return nil
}

func (location) putAngle(c *codec, v, most int64, directions string) error {
	direction := directions[0]
	if v < 0 {
		v, direction = -v, directions[1]
	}
	if v > most*degree {
		return fmt.Errorf("it has an angle above %d degrees", most)
	}
	c.put(fmt.Sprintf("%d %d %d.%03d %c", v/degree, v%degree/minute, v%minute/1000, v%1000, direction))
	return nil
}
