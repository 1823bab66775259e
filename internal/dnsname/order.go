package dnsname

import "strings"

// Compare orders names as RFC 4034 §6.1 says: label by label from the right,
// by octet, a name before the names below it. It returns -1, 0 or 1.
func (n Name) Compare(o Name) int {
	if n == o {
		return 0
	}
	a, b := strings.TrimSuffix(n.s, "."), strings.TrimSuffix(o.s, ".")
	for a != "" && b != "" {
		i, j := lastLabel(a), lastLabel(b)
		if c := compareLabels(a[i:], b[j:]); c != 0 {
			return c
		}
		a, b = a[:max(i-1, 0)], b[:max(j-1, 0)]
	}
	return strings.Compare(a, b)
}

// lastLabel returns where the last label of a canonical name without its final
// dot begins.
func lastLabel(s string) int {
	for end := len(s); ; {
		end = strings.LastIndexByte(s[:end], '.')
		if end < 0 || !escaped(s, end) {
			return end + 1
		}
	}
}

// compareLabels compares the octets of two canonical labels.
func compareLabels(a, b string) int {
	if strings.IndexByte(a, '\\') < 0 && strings.IndexByte(b, '\\') < 0 {
		return strings.Compare(a, b)
	}
	var x, y [maxLabel]byte
	return strings.Compare(string(appendRaw(x[:0], a)), string(appendRaw(y[:0], b)))
}

// Key returns bytes whose order is the order of Compare, and which are a prefix
// of the Key of every name below n and of no other name's: labels from the
// right in raw octets, 0x00 written 0x01 0x01 and 0x01 written 0x01 0x02, each
// label ended by 0x00. The root's Key is "".
func (n Name) Key() string {
	var buf [2 * maxName]byte
	return string(n.AppendKey(buf[:0]))
}

// AppendKey adds Key to dst, for look-ups that need no string.
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
