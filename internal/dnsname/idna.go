package dnsname

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// profile is UTS 46 as browsers and registries use it today: mapped,
// non-transitional ("ß" stays), bidirectional and joiner rules checked. STD 3
// is not asked for, because "_" is at home in DNS; parseUnicode allows that
// one character and no other.
var profile = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.BidiRule(),
)

// maxUnicode bounds the work on one U-label, in octets: no label longer than
// this maps to one of 63.
const maxUnicode = 512

// parseUnicode returns the A-label of one U-label of the name s.
func parseUnicode(s, label string) (string, error) {
	if strings.IndexByte(label, '\\') >= 0 {
		return "", fmt.Errorf(
			"%s has a label with an escape and a character beyond ASCII: write such octets as \\DDD throughout", quote(s))
	}
	if len(label) > maxUnicode {
		return "", checkLabel(s, len(label))
	}
	ascii, err := profile.ToASCII(label)
	if err != nil || !utf8.ValidString(label) {
		return "", fmt.Errorf("%s has the label %s, which is not a valid internationalized label", quote(s), quote(label))
	}
	for _, c := range []byte(ascii) {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return "", fmt.Errorf("%s has the label %s, which is not a valid internationalized label: it stands for %s",
				quote(s), quote(label), quote(ascii))
		}
	}
	return ascii, checkLabel(s, len(ascii))
}

// Unicode returns the name for people: A-labels as U-labels, the rest as in
// String. Parse of the result gives n again; an A-label for which that would
// not hold is left as it is.
func (n Name) Unicode() string {
	if !strings.Contains(n.s, "xn--") {
		return n.s
	}
	labels := n.Labels()
	for i, label := range labels {
		labels[i] = unicodeLabel(label)
	}
	return strings.Join(labels, ".") + "."
}

func unicodeLabel(label string) string {
	if !strings.HasPrefix(label, "xn--") {
		return label
	}
	u, err := profile.ToUnicode(label)
	if err != nil {
		return label
	}
	if back, err := Parse(u + "."); err != nil || back.s != label+"." {
		return label
	}
	return u
}
