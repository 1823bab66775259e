package dnsname

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// text is a parsed name: its canonical presentation form, with the final dot
// if it had one.
type text struct {
	s        string
	absolute bool
}

// What an octet means in the presentation form of a name.
const (
	special = iota // must be escaped, or starts an escape, or is not ASCII
	plain          // stands for itself
	upper          // stands for its lower-case form
)

// kinds gives the meaning of every octet but the dot. The characters that are
// escaped are those that BIND escapes, so that its output is read unchanged.
var kinds = func() (k [256]uint8) {
	for c := '!'; c <= '~'; c++ {
		k[c] = plain
	}
	for c := 'A'; c <= 'Z'; c++ {
		k[c] = upper
	}
	for _, c := range `.();@$"\` {
		k[c] = special
	}
	return k
}()

// parseText reads a name other than ".". Names that are plain ASCII, which is
// nearly all, are checked in one pass and not copied if they are lower-case.
func parseText(s string) (text, error) {
	var fold bool
	size, label := 1, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			if err := checkLabel(s, i-label); err != nil {
				return text{}, err
			}
			size += 1 + i - label
			label = i + 1
		case kinds[c] == upper:
			fold = true
		case kinds[c] == special:
			return parseSpecial(s)
		}
	}
	absolute := label == len(s) && s != ""
	if !absolute {
		if err := checkLabel(s, len(s)-label); err != nil {
			return text{}, err
		}
		size += 1 + len(s) - label
	}
	if size > maxName {
		return text{}, errTooLong(s, size)
	}
	if fold {
		s = strings.ToLower(s)
	}
	return text{s, absolute}, nil
}

// parseSpecial reads a name with escapes or U-labels, label by label.
func parseSpecial(s string) (text, error) {
	var buf [1024]byte
	out, size := buf[:0], 1
	for rest := s; ; {
		label, after, dot := cutLabel(rest)
		raw, err := parseLabel(s, label)
		if err != nil {
			return text{}, err
		}
		if size += 1 + len(raw); size > maxName {
			return text{}, errTooLong(s, size)
		}
		for i := range len(raw) {
			out = appendOctet(out, raw[i])
		}
		if dot {
			out = append(out, '.')
		}
		if rest = after; rest == "" {
			return text{string(out), dot}, nil
		}
	}
}

// parseLabel returns the octets of one label of the name s, in lower case.
func parseLabel(s, label string) (string, error) {
	for i := range len(label) {
		if label[i] >= utf8.RuneSelf {
			return parseUnicode(s, label)
		}
	}
	var buf [maxLabel + 1]byte
	raw := buf[:0]
	for i := 0; i < len(label); {
		octet, size, err := parseOctet(s, label[i:])
		if err != nil {
			return "", err
		}
		raw = append(raw, lower(octet))
		i += size
	}
	return string(raw), checkLabel(s, len(raw))
}

// parseOctet reads one octet of a label of the name s: a character that stands
// for itself, or an escape. It returns how many characters it took.
func parseOctet(s, label string) (octet byte, size int, err error) {
	c := label[0]
	switch {
	case c == '\\':
		return parseEscape(s, label)
	case kinds[c] != special:
		return c, 1, nil
	case c > ' ' && c < 0x7f:
		return 0, 0, fmt.Errorf(`%s has the character %s in it: write \%c if it belongs to the name`, quote(s),
			strconv.Quote(string(c)), c)
	case c == ' ':
		return 0, 0, fmt.Errorf(`%s has a space in it: write \032 if it belongs to the name`, quote(s))
	}
	return 0, 0, fmt.Errorf(`%s has a control character in it: write \%03d if it belongs to the name`, quote(s), c)
}

// parseEscape reads "\DDD" or "\X" (RFC 1035 §5.1) at the start of label.
func parseEscape(s, label string) (octet byte, size int, err error) {
	switch {
	case len(label) < 2:
		return 0, 0, fmt.Errorf(`%s has a backslash with nothing to escape: write \\ if it belongs to the name`, quote(s))
	case label[1] < '0' || label[1] > '9':
		if label[1] < ' ' || label[1] > '~' {
			return 0, 0, fmt.Errorf(`%s has a backslash before a character that is not printable: write \%03d`, quote(s),
				label[1])
		}
		return label[1], 2, nil
	case len(label) >= 4:
		if v, err := strconv.ParseUint(label[1:4], 10, 8); err == nil {
			return byte(v), 4, nil
		}
	}
	return 0, 0, fmt.Errorf(`%s has a bad escape %s: write a backslash and three digits, \000 to \255`, quote(s),
		quote(label[:min(4, len(label))]))
}

// cutLabel splits s after its first label. The separators are the dot and the
// three characters that UTS 46 maps to it.
func cutLabel(s string) (label, rest string, dot bool) {
	for i, c := range s {
		switch c {
		case '.', '\u3002', '\uff0e', '\uff61':
			if !escaped(s, i) {
				return s[:i], s[i+utf8.RuneLen(c):], true
			}
		}
	}
	return s, "", false
}

// appendOctet adds one octet in canonical presentation form.
func appendOctet(dst []byte, c byte) []byte {
	switch {
	case kinds[c] != special:
		return append(dst, c)
	case c > ' ' && c < 0x7f:
		return append(dst, '\\', c)
	}
	return append(dst, '\\', '0'+c/100, '0'+c/10%10, '0'+c%10)
}

// appendRaw adds the octets of a canonical label or name without its dots
// interpreted.
func appendRaw(dst []byte, label string) []byte {
	for i := 0; i < len(label); i++ {
		c := label[i]
		if c == '\\' {
			i++
			if c = label[i]; c >= '0' && c <= '9' {
				c = (c-'0')*100 + (label[i+1]-'0')*10 + label[i+2] - '0'
				i += 2
			}
		}
		dst = append(dst, c)
	}
	return dst
}

// labelEnd returns where the first label of a canonical name ends: the index
// of its dot.
func labelEnd(s string) int {
	for i := 0; ; i++ {
		i += strings.IndexByte(s[i:], '.')
		if !escaped(s, i) {
			return i
		}
	}
}

// escaped reports whether the character at i has an odd number of backslashes
// before it.
func escaped(s string, i int) bool {
	odd := false
	for i--; i >= 0 && s[i] == '\\'; i-- {
		odd = !odd
	}
	return odd
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// checkLabel says what is wrong with a label of this many octets in s.
func checkLabel(s string, size int) error {
	switch {
	case s == "":
		return fmt.Errorf("the name is empty")
	case size == 0:
		return fmt.Errorf("%s has an empty label", quote(s))
	case size > maxLabel:
		return fmt.Errorf("%s has a label of %d octets: at most %d are allowed", quote(s), size, maxLabel)
	}
	return nil
}

func errTooLong(s string, size int) error {
	return fmt.Errorf("%s has %d octets: at most %d are allowed", quote(s), size, maxName)
}

// quote shows what somebody wrote, as it was written where that is possible,
// shortened to fit a condition.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	switch quoted := strconv.Quote(s); {
	case quoted == `"`+s+`"`:
		return quoted
	case strings.ContainsAny(s, `"\`) && strconv.CanBackquote(s):
		return "`" + s + "`"
	default:
		return quoted
	}
}
