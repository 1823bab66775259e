package embedded

import "github.com/zonefold/zonefold/internal/dnsname"

// Limits of RFC 1035 §2.3.4 and §3.1.
const (
	maxLabel  = 63
	maxName   = 255
	maxLabels = 127
)

// A path is a name in wire format, in lower case, and where its labels begin: what look-ups need of a name to find the
// names above it.
type path struct {
	wire   []byte
	labels int // without the root's
	starts [maxLabels + 1]uint8
}

// read takes an uncompressed name from the start of b, folded into dst, which has room for maxName octets, and returns
// how many octets it took, 0 if it is not a name.
func (p *path) read(dst, b []byte) int {
	p.labels = 0
	for at := 0; at < len(b) && at < maxName; {
		length := int(b[at])
		if length > maxLabel || at+1+length > len(b) || at+1+length > maxName {
			return 0
		}
		p.starts[p.labels] = uint8(at)
		dst[at] = b[at]
		at++
		if length == 0 {
			p.wire = dst[:at]
			return at
		}
		for end := at + length; at < end; at++ {
			dst[at] = lower(b[at])
		}
		p.labels++
	}
	return 0
}

// set makes p the path of a name in wire format that is known to be valid and in lower case.
func (p *path) set(wire []byte) {
	p.wire, p.labels = wire, 0
	at := 0
	for ; wire[at] != 0; at += 1 + int(wire[at]) {
		p.starts[p.labels] = uint8(at)
		p.labels++
	}
	p.starts[p.labels] = uint8(at)
}

// from returns the name without its first i labels.
func (p *path) from(i int) []byte { return p.wire[p.starts[i]:] }

func lower(c byte) byte {
	if c-'A' < 26 {
		return c + 'a' - 'A'
	}
	return c
}

// wireOf returns a name in wire format.
func wireOf(n dnsname.Name) []byte { return n.AppendWire(make([]byte, 0, len(n.String())+1)) }

// parentOf returns a name in wire format without its first label.
func parentOf(wire string) string { return wire[1+wire[0]:] }
