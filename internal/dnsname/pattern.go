package dnsname

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Pattern is a set of names, as delegations and grants write it:
//
//   - with a dot at the end it is absolute; with "@" as its last or only label,
//     "@" is the origin's own name; else it is relative to the origin;
//   - a leading "*" label is one or more labels, a "*" label elsewhere exactly one;
//   - one "*" inside a label is any run of octets of that label, also none;
//   - a "*" never takes part in matching the origin itself: only "@" and the
//     name written out do that.
//
// Every label is compared, without regard to case.
type Pattern struct {
	s       string
	globs   []glob // leftmost first, a leading "*" not included
	leading bool   // begins with a "*" label
	stars   bool   // has a "*" anywhere
	suffix  suffix
}

type suffix uint8

const (
	relative suffix = iota // "a.b", and the origin follows
	at                     // "a.@"
	absolute               // "a.b."
)

// A glob matches one label: exactly pre if whole, else anything that begins
// with pre and ends with post, which do not overlap. Raw octets in lower case.
type glob struct {
	pre, post string
	whole     bool
}

// ParsePattern reads a pattern. The error is a sentence about s.
func ParsePattern(s string) (Pattern, error) {
	if s == "." {
		return Pattern{s: s, suffix: absolute}, nil
	}
	if s == "" {
		return Pattern{}, fmt.Errorf(`the pattern is empty: write "@" for the zone's own name and "*" for all names below it`)
	}
	var p Pattern
	var out []byte
	size := 1
	for rest := s; rest != "" && p.suffix == relative; {
		label, after, dot := cutLabel(rest)
		if label == "@" {
			if dot {
				return Pattern{}, fmt.Errorf(
					`%s has "@" before its end: "@" is the zone's own name and comes last, with no dot after it`, quote(s))
			}
			p.suffix = at
			out = append(out, '@')
			break
		}
		g, err := parseGlob(s, label)
		if err != nil {
			return Pattern{}, err
		}
		out = g.append(out)
		size += 1 + len(g.pre) + len(g.post)
		p.add(g)
		if rest = after; dot {
			out = append(out, '.')
			if rest == "" {
				p.suffix = absolute
			}
		}
	}
	if size > maxName {
		return Pattern{}, errTooLong(s, size)
	}
	p.s = string(out)
	return p, nil
}

// add takes the next label, from the left.
func (p *Pattern) add(g glob) {
	p.stars = p.stars || !g.whole
	if len(p.globs) == 0 && !p.leading && g.any() {
		p.leading = true
		return
	}
	p.globs = append(p.globs, g)
}

// parseGlob reads one label of the pattern s.
func parseGlob(s, label string) (glob, error) {
	if strings.IndexFunc(label, func(c rune) bool { return c >= utf8.RuneSelf }) >= 0 {
		if strings.IndexByte(label, '*') >= 0 {
			return glob{},
				fmt.Errorf(
					`%s has a "*" inside an internationalized label: use "*" for the whole label, or write the label as xn--`,
					quote(s))
		}
		ascii, err := parseUnicode(s, label)
		return glob{pre: ascii, whole: true}, err
	}
	star := -1
	var raw []byte
	for i := 0; i < len(label); {
		octet, size, err := parseOctet(s, label[i:])
		switch {
		case err != nil:
			return glob{}, err
		case octet != '*':
			raw = append(raw, lower(octet))
		case size > 1:
			return glob{},
				fmt.Errorf(`%s has an escaped "*": wildcard names are matched by a "*" as the first label of a pattern`, quote(s))
		case star >= 0:
			return glob{}, fmt.Errorf(`%s has more than one "*" in a label: one is allowed`, quote(s))
		default:
			star = len(raw)
		}
		i += size
	}
	if star < 0 {
		return glob{pre: string(raw), whole: true}, checkLabel(s, len(raw))
	}
	return glob{pre: string(raw[:star]), post: string(raw[star:])}, checkLabel(s, max(len(raw), 1))
}

// any reports whether g is a bare "*".
func (g glob) any() bool { return !g.whole && g.pre == "" && g.post == "" }

// append adds the presentation form.
func (g glob) append(dst []byte) []byte {
	for i := range len(g.pre) {
		dst = appendOctet(dst, g.pre[i])
	}
	if !g.whole {
		dst = append(dst, '*')
	}
	for i := range len(g.post) {
		dst = appendOctet(dst, g.post[i])
	}
	return dst
}

// match compares g with a label in raw octets.
func (g *glob) match(label string) bool {
	if g.whole {
		return label == g.pre
	}
	return len(label) >= len(g.pre)+len(g.post) && strings.HasPrefix(label, g.pre) && strings.HasSuffix(label, g.post)
}

// A Candidate is a name that many patterns of one origin are compared with: it is taken apart once, in place, because
// it is large.
type Candidate struct {
	labels [maxLabels]string // raw octets, leftmost first
	count  int               // of labels
	below  int               // how many of them are below the origin; -1: the name is not under it
	apex   bool              // the name is the origin's own
	some   bool              // there is a name
}

// Of takes a name apart for the patterns of an origin. Patterns that belong to no zone are read in Root.
func (c *Candidate) Of(name, origin Name) {
	c.count, c.below, c.apex, c.some = 0, -1, name == origin, name.s != ""
	var buf [maxLabel]byte
	for rest := name.s; len(rest) > 1; c.count++ {
		end := labelEnd(rest)
		label := rest[:end]
		if strings.IndexByte(label, '\\') >= 0 {
			label = string(appendRaw(buf[:0], label))
		}
		c.labels[c.count], rest = label, rest[end+1:]
	}
	if name.Under(origin) {
		c.below = c.count - origin.NumLabels()
	}
}

// Match reports whether p means name. A pattern that is not absolute is read in
// origin, and means nothing when origin is zero. Patterns that belong to no
// zone are read in Root.
func (p Pattern) Match(name, origin Name) bool {
	var c Candidate
	c.Of(name, origin)
	return p.Matches(&c)
}

// Matches reports whether p means a candidate.
func (p *Pattern) Matches(c *Candidate) bool {
	if p.s == "" || !c.some || c.apex && p.stars {
		return false
	}
	rest := c.labels[:c.count]
	if p.suffix != absolute {
		if c.below < 0 {
			return false
		}
		rest = rest[:c.below]
	}
	if len(rest) < len(p.globs) || (len(rest) > len(p.globs)) != p.leading {
		return false
	}
	rest = rest[len(rest)-len(p.globs):]
	for i := len(rest) - 1; i >= 0; i-- {
		if !p.globs[i].match(rest[i]) {
			return false
		}
	}
	return true
}

// String returns the pattern in canonical form; ParsePattern reads it back.
func (p Pattern) String() string { return p.s }

// IsZero reports whether p is no pattern at all.
func (p Pattern) IsZero() bool { return p.s == "" }

// IsAbsolute reports whether p means the same names whatever the origin.
func (p Pattern) IsAbsolute() bool { return p.suffix == absolute }

// HasStar reports whether p has a "*" anywhere; without one it means one name.
func (p Pattern) HasStar() bool { return p.stars }

// Equal reports whether p and o are the same pattern text.
func (p Pattern) Equal(o Pattern) bool { return p.s == o.s }
