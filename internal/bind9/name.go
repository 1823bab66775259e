package bind9

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// The lengths of RFC 1035 §2.3.4, of names in text without the last dot.
const (
	maxName  = 253
	maxLabel = 63
)

// checkName accepts the names of keys, policies, lists and zones: letters, digits, '-', '_' and dots between labels.
// Nothing of that means anything to BIND's parser, within quotes or without. what begins the message.
func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s is empty; write a name such as bindy-operator", what)
	case len(name) > maxName:
		return fmt.Errorf("the %s %s has %d characters, more than %d; shorten it", what, quoteShort(name), len(name), maxName)
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return fmt.Errorf("the %s %s has an empty label; write it without a dot at its ends and without two dots in a row",
				what, quoteShort(name))
		case len(label) > maxLabel:
			return fmt.Errorf("the %s %s has a label of %d characters, more than %d; shorten it", what, quoteShort(name),
				len(label), maxLabel)
		case label[0] == '-':
			return fmt.Errorf("the %s %s has a label that begins with '-'; begin it with a letter or digit", what,
				quoteShort(name))
		}
		for i := range len(label) {
			if !inName(label[i]) {
				return fmt.Errorf("the %s %s has the character %q; use letters, digits, '-', '_' and dots", what, quoteShort(name),
					label[i])
			}
		}
	}
	return nil
}

func inName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// quoteShort quotes what somebody wrote for a message, at most so much of it that the message stays readable, and not
// what may be a secret that was written into the wrong field.
func quoteShort(text string) string {
	const most = 64
	switch {
	case mayBeSecret(text):
		return fmt.Sprintf("(%d characters that look like a secret)", len(text))
	case len(text) > most:
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}

// mayBeSecret reports whether text is base64 of as many octets as a secret has.
func mayBeSecret(text string) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(text), "="))
	return err == nil && len(b) >= leastSecret
}

// sameName compares names as DNS does: without regard to case and to a last dot.
func sameName(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}
