package dnsname

import (
	"fmt"
	"strings"
)

// A Relative is a partial name, such as "dev" or "a.b", that becomes a Name
// with an origin; "@" is the origin itself. Like a Name it is canonical and
// comparable; the zero value is no name.
type Relative struct{ s string }

// ParseRelative reads a partial name: "@", or labels with no dot at the end.
// The error is a sentence about s.
func ParseRelative(s string) (Relative, error) {
	switch s {
	case "@":
		return Relative{s}, nil
	case ".":
		return Relative{}, fmt.Errorf(`"." is the root, which is absolute: write "@" for the origin`)
	}
	t, err := parseText(s)
	if err != nil {
		return Relative{}, err
	}
	if t.absolute {
		return Relative{}, fmt.Errorf("%s is absolute: a partial name has no dot at the end", quote(s))
	}
	return Relative{t.s}, nil
}

// In returns the absolute name that r is in origin. It fails when that is
// longer than 255 octets, and when r or origin is zero.
func (r Relative) In(origin Name) (Name, error) {
	switch {
	case r.s == "" || origin.s == "":
		return Name{}, fmt.Errorf("no name: %s in %s", quote(r.s), quote(origin.s))
	case r.s == "@":
		return origin, nil
	case origin.s == ".":
		return Name{r.s + "."}, nil
	}
	n := Name{r.s + "." + origin.s}
	if size := n.size(); size > maxName {
		return Name{}, errTooLong(n.s, size)
	}
	return n, nil
}

// String returns the canonical form, without a final dot; the zero Relative
// gives "".
func (r Relative) String() string { return r.s }

// IsZero reports whether r is no name at all.
func (r Relative) IsZero() bool { return r.s == "" }

// IsOrigin reports whether r is "@".
func (r Relative) IsOrigin() bool { return r.s == "@" }

// IsWildcard reports whether the leftmost label is exactly "*".
func (r Relative) IsWildcard() bool { return r.s == "*" || strings.HasPrefix(r.s, "*.") }

// Equal reports whether r and o are the same. It is ==, for go-cmp.
func (r Relative) Equal(o Relative) bool { return r == o }
