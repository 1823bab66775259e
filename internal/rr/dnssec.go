package rr

import (
	"encoding/base32"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// algorithm is a DNSSEC algorithm: a number or its mnemonic; canonically the
// number, since mnemonics come and go.
type algorithm struct{}

// algorithmNames is the mnemonics of the IANA registry, and those of BIND where
// they differ.
var algorithmNames = map[string]uint16{
	"DELETE": 0, "RSAMD5": 1, "DH": 2, "DSA": 3, "ECC": 4, "RSASHA1": 5,
	"DSA-NSEC3-SHA1": 6, "NSEC3DSA": 6, "RSASHA1-NSEC3-SHA1": 7, "NSEC3RSASHA1": 7,
	"RSASHA256": 8, "RSASHA512": 10, "ECC-GOST": 12, "ECCGOST": 12,
	"ECDSAP256SHA256": 13, "ECDSAP384SHA384": 14, "ED25519": 15, "ED448": 16,
	"INDIRECT": 252, "PRIVATEDNS": 253, "PRIVATEOID": 254,
}

func (algorithm) parse(c *codec, what string) error {
	return mnemonic(c, what, algorithmNames, 8)
}

func (algorithm) print(c *codec, what string) error { return u8.print(c, what) }

// certType is the type of a certificate (RFC 4398 §2.1), like algorithm.
type certType struct{}

var certNames = map[string]uint16{
	"PKIX": 1, "SPKI": 2, "PGP": 3, "IPKIX": 4, "ISPKI": 5, "IPGP": 6, "ACPKIX": 7, "IACPKIX": 8, "URI": 253, "OID": 254,
}

func (certType) parse(c *codec, what string) error {
	return mnemonic(c, what, certNames, 16)
}

func (certType) print(c *codec, what string) error { return u16.print(c, what) }

// mnemonic reads a number of so many bits or a name for one.
func mnemonic(c *codec, what string, names map[string]uint16, bits int) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	v, err := strconv.ParseUint(s, 10, bits)
	if err != nil {
		named, ok := names[strings.ToUpper(s)]
		if !ok {
			return fmt.Errorf("the %s %s is neither a number from 0 to %d nor a name for one", what, shorten(s), 1<<bits-1)
		}
		v = uint64(named)
	}
	if bits == 16 {
		c.wire = append(c.wire, byte(v>>8))
	}
	c.wire = append(c.wire, byte(v))
	return nil
}

// digest is hexadecimal data to the end, whose length follows from the octet
// before it, the algorithm, where the table knows that.
type digest struct {
	lengths map[byte]int
	least   int
}

// Lengths of digests in octets, by algorithm number: RFC 4034 §5.1.3, 4509 and
// 6605; RFC 4255 and 6594; RFC 8976 §2.2.4.
var (
	dsDigest    = digest{map[byte]int{1: 20, 2: 32, 4: 48}, 1}
	sshfpDigest = digest{map[byte]int{1: 20, 2: 32}, 1}
	zoneDigest  = digest{map[byte]int{1: 48, 2: 64}, 12}
)

func (digest) parse(c *codec, what string) error { return hexRest.parse(c, what) }

func (d digest) print(c *codec, what string) error {
	kind := c.before()
	if want, ok := d.lengths[kind]; ok && len(c.wire) != want {
		return fmt.Errorf("the %s has %d octets: one of type %d has %d", what, len(c.wire), kind, want)
	}
	if len(c.wire) < d.least {
		return fmt.Errorf("the %s has %d octets: at least %d are needed", what, len(c.wire), d.least)
	}
	return hexRest.print(c, what)
}

// keyData is the public key of KEY data in base64 to the end, which is missing exactly where
// the flags say that there is none (RFC 2535 §3.1.2).
type keyData struct{}

// noKey is the flags that say so, in the first octet.
const noKey = 0xc0

func (keyData) parse(c *codec, what string) error {
	if !c.more() && c.wire[0]&noKey == noKey {
		return nil
	}
	return base64Rest.parse(c, what)
}

func (keyData) print(c *codec, what string) error {
	if c.data[0]&noKey != noKey {
		return base64Rest.print(c, what)
	}
	if len(c.wire) > 0 {
		return fmt.Errorf("the %s is present although the flags say that there is none", what)
	}
	return nil
}

// salt is octets that their number precedes, in hexadecimal, "-" if there are
// none (RFC 5155 §3.3).
type salt struct{}

func (salt) parse(c *codec, what string) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	if s == "-" {
		s = ""
	}
	return counted(c, what, func(dst []byte) ([]byte, error) { return hexRest.decode(dst, what, s) })
}

func (salt) print(c *codec, what string) error {
	b, err := c.takeCounted(what)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		c.put("-")
		return nil
	}
	c.space()
	c.text = hexRest.encode(c.text, b)
	return nil
}

// counted adds what add adds, its length in one octet before it.
func counted(c *codec, what string, add func([]byte) ([]byte, error)) (err error) {
	at := len(c.wire)
	if c.wire, err = add(append(c.wire, 0)); err != nil {
		return err
	}
	size := len(c.wire) - at - 1
	if size > 255 {
		return fmt.Errorf("the %s has %d octets: at most 255 are allowed", what, size)
	}
	c.wire[at] = byte(size)
	return nil
}

// nextHash is a hashed owner name in base32 with extended hex alphabet and
// without padding (RFC 5155 §3.3).
type nextHash struct{}

// base32hex is the alphabet in upper case.
var base32hex = base32.HexEncoding.WithPadding(base32.NoPadding)

func (nextHash) parse(c *codec, what string) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	return counted(c, what, func(dst []byte) ([]byte, error) {
		dst, err := base32hex.AppendDecode(dst, []byte(strings.ToUpper(s)))
		if err != nil {
			return nil, fmt.Errorf("the %s %s is not base32 in the extended hex alphabet", what, shorten(s))
		}
		return dst, nil
	})
}

func (nextHash) print(c *codec, what string) error {
	b, err := c.takeCounted(what)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return fmt.Errorf("the %s is empty", what)
	}
	c.space()
	c.text = base32hex.AppendEncode(c.text, b)
	return nil
}

// covered is one type, by mnemonic or TYPEnnn.
type covered struct{}

func (covered) parse(c *codec, what string) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	t, err := anyType(s)
	if err != nil {
		return err
	}
	c.wire = append(c.wire, byte(t>>8), byte(t))
	return nil
}

func (covered) print(c *codec, what string) error {
	v, err := u16.take(c, what)
	if err == nil {
		c.put(Type(v).String())
	}
	return err
}

// anyType reads a type, also by mnemonics that records are not written with.
func anyType(s string) (Type, error) {
	if t, ok := foreignType(strings.ToUpper(s)); ok {
		return t, nil
	}
	return ParseType(s)
}

// bitmap is a set of types to the end (RFC 4034 §4.1.2), which may be empty if
// optional.
type bitmap struct{ optional bool }

func (bitmap) parse(c *codec, what string) error {
	var types []Type
	for c.more() {
		s, err := c.word(what)
		if err != nil {
			return err
		}
		t, err := anyType(s)
		if err != nil {
			return err
		}
		types = append(types, t)
	}
	slices.Sort(types)
	window, at := -1, 0
	for _, t := range slices.Compact(types) {
		if w := int(t >> 8); w != window {
			window, at = w, len(c.wire)+1
			c.wire = append(c.wire, byte(w), 0)
		}
		for octet := int(t) & 255 / 8; int(c.wire[at]) <= octet; c.wire[at]++ {
			c.wire = append(c.wire, 0)
		}
		c.wire[len(c.wire)-1] |= 0x80 >> (t & 7)
	}
	return nil
}

func (m bitmap) print(c *codec, what string) error {
	if len(c.wire) == 0 && !m.optional {
		return fmt.Errorf("the %s is empty", what)
	}
	for last := -1; len(c.wire) > 0; {
		window := int(c.wire[0])
		c.wire = c.wire[1:]
		b, err := c.takeCounted(what)
		switch {
		case err != nil:
			return err
		case len(b) == 0 || len(b) > 32 || window <= last:
			return fmt.Errorf("the %s is not in the form of RFC 4034 §4.1.2", what)
		}
		for i, o := range b {
			for bit := range 8 {
				if o&(0x80>>bit) != 0 {
					c.put(Type(window<<8 | i<<3 | bit).String())
				}
			}
		}
		last = window
	}
	return nil
}

// moment is a time in seconds since 1970 in serial arithmetic (RFC 4034 §3.1.5):
// YYYYMMDDHHmmSS or a number, canonically the former, read as before 2106.
type moment struct{}

const momentLayout = "20060102150405"

func (moment) parse(c *codec, what string) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		t, err := time.Parse(momentLayout, s)
		if err != nil {
			return fmt.Errorf("the %s %s is neither a time YYYYMMDDHHmmSS nor a number of seconds", what, shorten(s))
		}
		v = uint64(t.Unix())
	}
	c.wire = append(c.wire, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
	return nil
}

func (moment) print(c *codec, what string) error {
	v, err := u32.take(c, what)
	if err == nil {
		c.space()
		c.text = time.Unix(int64(v), 0).UTC().AppendFormat(c.text, momentLayout)
	}
	return err
}
