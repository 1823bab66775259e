package rr

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// The plain kinds, of which most types are made.
const (
	u8  = number(8)
	u16 = number(16)
	u32 = number(32)

	oneString  = charString(false) // <character-string> (RFC 1035 §3.3)
	allStrings = charString(true)  // one or more of them, to the end

	hexRest    = encoded('x') // hexadecimal digits, to the end
	base64Rest = encoded('b') // base64, to the end

	ipv4 = address(4)
	ipv6 = address(16)
)

// number is an unsigned number of so many bits.
type number int

func (n number) parse(c *codec, what string) error {
	v, err := c.number(what, int(n))
	if err != nil {
		return err
	}
	for shift := int(n) - 8; shift >= 0; shift -= 8 {
		c.wire = append(c.wire, byte(v>>shift))
	}
	return nil
}

func (n number) print(c *codec, what string) error {
	v, err := n.take(c, what)
	if err == nil {
		c.putNumber(v)
	}
	return err
}

func (n number) take(c *codec, what string) (v uint64, err error) {
	b, err := c.take(what, int(n)/8)
	for _, o := range b {
		v = v<<8 | uint64(o)
	}
	return v, err
}

// domain is a name, never compressed and always in lower case.
type domain struct{}

func (domain) parse(c *codec, what string) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	n, err := dnsname.Parse(s)
	if err != nil {
		return fmt.Errorf("the %s %w", what, err)
	}
	c.wire = n.AppendWire(c.wire)
	return nil
}

func (domain) print(c *codec, what string) error {
	n, size, err := dnsname.FromWire(c.wire)
	if err != nil {
		return fmt.Errorf("the %s: %w", what, err)
	}
	c.wire = c.wire[size:]
	if c.collect {
		c.names = append(c.names, n)
	}
	c.put(n.String())
	return nil
}

// encoded is data to the end in a text encoding, in which spaces are allowed
// anywhere: 'x' for hexadecimal, 'b' for base64.
type encoded byte

func (b encoded) parse(c *codec, what string) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	if c.more() {
		var all strings.Builder
		for all.WriteString(s); c.more(); all.WriteString(s) {
			if s, err = c.word(what); err != nil {
				return err
			}
		}
		s = all.String()
	}
	c.wire, err = b.decode(c.wire, what, s)
	return err
}

// decode adds the octets that s encodes.
func (b encoded) decode(dst []byte, what, s string) (_ []byte, err error) {
	encoding := "hexadecimal"
	if b == 'x' {
		dst, err = hex.AppendDecode(dst, []byte(s))
	} else {
		encoding = "base64"
		dst, err = base64.StdEncoding.Strict().AppendDecode(dst, []byte(s))
	}
	switch {
	case err == nil:
		return dst, nil
	case b == 'x' && len(s)%2 != 0:
		return nil, fmt.Errorf("the %s %s has an odd number of hexadecimal digits", what, shorten(s))
	}
	return nil, fmt.Errorf("the %s %s is not %s", what, shorten(s), encoding)
}

func (b encoded) print(c *codec, what string) error {
	if len(c.wire) == 0 {
		return fmt.Errorf("the %s is empty", what)
	}
	c.space()
	c.text = b.encode(c.text, c.wire)
	c.wire = nil
	return nil
}

// encode adds the text of octets; hexadecimal in upper case, as BIND prints it.
func (b encoded) encode(dst, octets []byte) []byte {
	if b == 'b' {
		return base64.StdEncoding.AppendEncode(dst, octets)
	}
	const digits = "0123456789ABCDEF"
	for _, o := range octets {
		dst = append(dst, digits[o>>4], digits[o&15])
	}
	return dst
}

// address is an IP address of so many octets.
type address int

func (a address) parse(c *codec, what string) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	ip, err := a.read(s)
	if err != nil {
		return fmt.Errorf("the %s %w", what, err)
	}
	c.wire = append(c.wire, ip.AsSlice()...)
	return nil
}

// read parses the text of an address; IPv6 without a zone, IPv4 without
// leading zeros, which some read as octal.
func (a address) read(s string) (netip.Addr, error) {
	ip, err := netip.ParseAddr(s)
	if err != nil || ip.BitLen() != 8*int(a) || ip.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("%s is not an %s address", shorten(s), a)
	}
	return ip, nil
}

func (a address) print(c *codec, what string) error {
	b, err := c.take(what, int(a))
	if err != nil {
		return err
	}
	ip, _ := netip.AddrFromSlice(b)
	c.space()
	c.text = ip.AppendTo(c.text)
	return nil
}

// String returns the name of the protocol.
func (a address) String() string {
	if a == ipv4 {
		return "IPv4"
	}
	return "IPv6"
}

// period is a time in seconds, in text also with units ("1h30m"), as BIND reads
// them in SOA data.
type period struct{}

func (period) parse(c *codec, what string) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	v, ok := seconds(s)
	if !ok {
		return fmt.Errorf("the %s %s is not a number of seconds from 0 to 4294967295", what, shorten(s))
	}
	c.wire = binary.BigEndian.AppendUint32(c.wire, v)
	return nil
}

func (period) print(c *codec, what string) error { return u32.print(c, what) }

// seconds reads a number, or numbers with the units w, d, h, m and s.
func seconds(s string) (uint32, bool) {
	if v, err := strconv.ParseUint(s, 10, 32); err == nil {
		return uint32(v), true
	}
	units := map[byte]uint64{'w': 604800, 'd': 86400, 'h': 3600, 'm': 60, 's': 1}
	var total uint64
	ok := s != ""
	for s != "" {
		i := strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' })
		if i < 1 {
			return 0, false
		}
		v, err := strconv.ParseUint(s[:i], 10, 32)
		unit := units[s[i]|0x20]
		if total += v * unit; err != nil || unit == 0 || total > math.MaxUint32 {
			return 0, false
		}
		s = s[i+1:]
	}
	return uint32(total), ok
}
