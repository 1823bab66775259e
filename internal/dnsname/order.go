package dnsname

import (
	"bytes"
	"cmp"
	"strings"
)

// Compare orders names as RFC 4034 §6.1 says: label by label from the right,
// by octet, a name before the names below it. It returns -1, 0 or 1.
// The zero Name comes first.
func (n Name) Compare(o Name) int {
	if n == o {
		return 0
	}
	if a, b, ok := siblings(n.s, o.s); ok {
		return strings.Compare(a, b)
	}
	a, b := strings.TrimSuffix(n.s, "."), strings.TrimSuffix(o.s, ".")
	if strings.IndexByte(a, '\\') < 0 && strings.IndexByte(b, '\\') < 0 {
		a, b = differing(a, b)
	}
	for a != "" && b != "" {
		i, j := lastLabel(a), lastLabel(b)
		if c := compareLabels(a[i:], b[j:]); c != 0 {
			return c
		}
		a, b = a[:max(i-1, 0)], b[:max(j-1, 0)]
	}
	return cmp.Or(strings.Compare(a, b), strings.Compare(n.s, o.s))
}

// siblings returns the first labels of two names whose other labels are the same, as they are of most names that are
// compared. It does not look into labels with escapes.
func siblings(a, b string) (first, other string, ok bool) {
	i, j := strings.IndexByte(a, '.'), strings.IndexByte(b, '.')
	if i < 0 || j < 0 || a[i:] != b[j:] {
		return "", "", false
	}
	first, other = a[:i], b[:j]
	return first, other, strings.IndexByte(first, '\\') < 0 && strings.IndexByte(other, '\\') < 0
}

// differing cuts the labels off the right that two names without escapes and
// final dots share. It looks at every octet of them once.
func differing(a, b string) (string, string) {
	i, j := len(a), len(b)
	cutA, cutB := i, j // after the last label that may differ
	for i > 0 && j > 0 && a[i-1] == b[j-1] {
		i, j = i-1, j-1
		if a[i] == '.' {
			cutA, cutB = i, j
		}
	}
	switch {
	case i == 0 && (j == 0 || b[j-1] == '.'):
		return "", b[:max(j-1, 0)]
	case j == 0 && a[i-1] == '.':
		return a[:i-1], ""
	}
	return a[:cutA], b[:cutB]
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
	return bytes.Compare(appendRaw(x[:0], a), appendRaw(y[:0], b))
}
