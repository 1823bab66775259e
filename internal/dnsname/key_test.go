package dnsname

import "strings"

// Key returns bytes whose order is the order of Compare, and which are a prefix
// of the Key of every name below n and of no other name's: labels from the
// right in raw octets, 0x00 written 0x01 0x01 and 0x01 written 0x01 0x02, each
// label ended by 0x00. The root's Key is "". Tests compare Compare and Under with it.
func (n Name) Key() string {
	var buf [2 * maxName]byte
	return string(n.AppendKey(buf[:0]))
}

// AppendKey adds Key to dst.
func (n Name) AppendKey(dst []byte) []byte {
	for rest := strings.TrimSuffix(n.s, "."); rest != ""; {
		i := lastLabel(rest)
		dst = appendKeyLabel(dst, rest[i:])
		rest = rest[:max(i-1, 0)]
	}
	return dst
}

func appendKeyLabel(dst []byte, label string) []byte {
	if strings.IndexByte(label, '\\') < 0 {
		dst = append(dst, label...)
		return append(dst, 0)
	}
	var buf [maxLabel]byte
	for _, c := range appendRaw(buf[:0], label) {
		if c < 2 {
			dst = append(dst, 1)
			c++
		}
		dst = append(dst, c)
	}
	return append(dst, 0)
}
