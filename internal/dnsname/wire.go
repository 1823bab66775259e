package dnsname

import (
	"errors"
	"fmt"
	"strings"
)

// FromWire reads an uncompressed name in wire format (RFC 1035 §3.1) from the
// start of b and returns how many octets it took. Upper case is folded.
func FromWire(b []byte) (n Name, size int, err error) {
	var buf [1024]byte
	text := buf[:0]
	for {
		if size >= len(b) {
			return Name{}, 0, errors.New("the name in wire format is cut off")
		}
		length := int(b[size])
		size++
		switch {
		case length == 0 && len(text) == 0:
			return Root, size, nil
		case length == 0:
			return Name{string(text)}, size, nil
		case length > maxLabel:
			return Name{}, 0, fmt.Errorf(
				"the name in wire format has the label length %d: pointers and labels above %d octets are not allowed here", length,
				maxLabel)
		case size+length >= maxName:
			return Name{}, 0, fmt.Errorf("the name in wire format has more than %d octets", maxName)
		case size+length > len(b):
			return Name{}, 0, errors.New("the name in wire format is cut off")
		}
		for _, c := range b[size : size+length] {
			text = appendOctet(text, lower(c))
		}
		text = append(text, '.')
		size += length
	}
}

// AppendWire adds the uncompressed wire format of n to dst. The zero Name adds
// nothing.
func (n Name) AppendWire(dst []byte) []byte {
	if n.s == "" {
		return dst
	}
	for rest := n.s; len(rest) > 1; {
		end := labelEnd(rest)
		at := len(dst)
		dst = append(dst, 0)
		if label := rest[:end]; strings.IndexByte(label, '\\') < 0 {
			dst = append(dst, label...)
		} else {
			dst = appendRaw(dst, label)
		}
		dst[at] = byte(len(dst) - at - 1)
		rest = rest[end+1:]
	}
	return append(dst, 0)
}
