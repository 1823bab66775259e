package cli

import (
	"strconv"
	"strings"
	"unicode"
)

// oneLine makes text of objects fit for one line of a terminal or a comment of a
// master file: whatever is no printable character becomes an escape, so that nobody
// writes lines of their own, or to the terminal.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if unprintable(c) {
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func unprintable(c rune) bool { return !unicode.IsPrint(c) }
