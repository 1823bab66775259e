// Package dnsname decides what a domain name is, which names are the same, in
// which order they come, and which names a pattern means.
//
// A [Name] is absolute and canonical: two names are the same name exactly when
// they are equal with ==. A [Relative] name gets an origin before it is one. A
// [Pattern] is how a zone says which names it hands to others. Text in other
// scripts is accepted everywhere and stored as A-labels (UTS 46,
// non-transitional); RFC 1035 §5.1 escapes are accepted and stored in one form.
//
// The package knows nothing of zones, records or servers.
package dnsname

import (
	"fmt"
	"strings"
)

// A Name is an absolute domain name in canonical form: lower-case, A-labels,
// presentation form with the final dot, one spelling of every escape. Only the
// functions of this package make one, so a Name is valid or zero, and may be
// compared with == and used as a map key. The zero value is no name.
type Name struct{ s string }

// Root is the name of the DNS root, ".".
var Root = Name{"."}

// Limits of RFC 1035 §2.3.4, in octets of wire format.
const (
	maxLabel = 63
	maxName  = 255
)

// maxLabels is how many labels fit into a name.
const maxLabels = (maxName - 1) / 2

// Parse reads an absolute name in presentation form: it must end in an
// unescaped dot. Escapes of RFC 1035 §5.1, U-labels, and labels with any
// printable character that needs no escape ("_", "*", "/") are accepted. The
// error is a sentence about s.
func Parse(s string) (Name, error) {
	if s == "." {
		return Root, nil
	}
	t, err := parseText(s)
	if err != nil {
		return Name{}, err
	}
	if !t.absolute {
		return Name{}, fmt.Errorf("%s is not absolute: end it with a dot", quote(s))
	}
	return Name{t.s}, nil
}

// FromLabels makes a name of raw labels, leftmost first, without the root's
// empty one. Labels are octets: no escapes and no IDN are interpreted.
func FromLabels(labels []string) (Name, error) {
	if len(labels) == 0 {
		return Root, nil
	}
	size := 1
	var buf [1024]byte
	text := buf[:0]
	for _, label := range labels {
		if err := checkLabel(label, len(label)); err != nil {
			return Name{}, err
		}
		size += 1 + len(label)
		for i := range len(label) {
			text = appendOctet(text, lower(label[i]))
		}
		text = append(text, '.')
	}
	if size > maxName {
		return Name{}, errTooLong(string(text), size)
	}
	return Name{string(text)}, nil
}

// String returns the canonical presentation form, with the final dot; the zero
// Name gives "".
func (n Name) String() string { return n.s }

// IsZero reports whether n is no name at all.
func (n Name) IsZero() bool { return n.s == "" }

// IsRoot reports whether n is the root.
func (n Name) IsRoot() bool { return n.s == "." }

// IsWildcard reports whether the leftmost label is exactly "*" (RFC 4592 §2.1.1).
func (n Name) IsWildcard() bool { return strings.HasPrefix(n.s, "*.") }

// Equal reports whether n and o are the same name. It is ==, for go-cmp.
func (n Name) Equal(o Name) bool { return n == o }

// NumLabels counts the labels, the root's empty one not included.
func (n Name) NumLabels() int {
	count := 0
	for rest := n.s; len(rest) > 1; count++ {
		rest = rest[labelEnd(rest)+1:]
	}
	return count
}

// Labels returns the labels in canonical presentation form, leftmost first.
func (n Name) Labels() []string {
	labels := make([]string, 0, n.NumLabels())
	for rest := n.s; len(rest) > 1; {
		end := labelEnd(rest)
		labels = append(labels, rest[:end])
		rest = rest[end+1:]
	}
	return labels
}

// Parent returns the name without its leftmost label; false for the root and
// the zero Name.
func (n Name) Parent() (Name, bool) {
	if len(n.s) < 2 {
		return Name{}, false
	}
	if end := labelEnd(n.s); end+1 < len(n.s) {
		return Name{n.s[end+1:]}, true
	}
	return Root, true
}

// Under reports whether n is zone or a name below it.
func (n Name) Under(zone Name) bool { return n == zone && n.s != "" || n.Below(zone) }

// Below reports whether n is below zone, and not zone itself.
func (n Name) Below(zone Name) bool {
	cut := len(n.s) - len(zone.s)
	switch {
	case zone.s == ".":
		return len(n.s) > 1
	case zone.s == "" || cut < 2 || n.s[cut-1] != '.' || n.s[cut:] != zone.s:
		return false
	}
	return !escaped(n.s, cut-1)
}

// In returns n relative to zone, "@" for zone itself. A name that is not under
// zone is returned absolute, which every reader of master files understands.
func (n Name) In(zone Name) string {
	switch {
	case n == zone && n.s != "":
		return "@"
	case !n.Below(zone):
		return n.s
	case zone.s == ".":
		return n.s[:len(n.s)-1]
	}
	return n.s[:len(n.s)-len(zone.s)-1]
}

// size is the length in wire format, in octets.
func (n Name) size() int {
	if strings.IndexByte(n.s, '\\') < 0 {
		if len(n.s) < 2 {
			return len(n.s)
		}
		return len(n.s) + 1
	}
	var buf [maxName]byte
	return len(n.AppendWire(buf[:0]))
}
