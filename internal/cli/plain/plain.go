// Package plain makes text of objects fit to be shown to people: text that somebody else chose writes no lines of its
// own, gives no orders to a terminal, and does not turn around what stands beside it on a page.
package plain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// Line makes text fit for one line of a terminal, a comment of a master file or a cell of a page: whatever is no
// printable character becomes an escape.
func Line(s string) string {
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

// Sentence ends a clause as a sentence.
func Sentence(clause string) string {
	if strings.HasSuffix(clause, "?") || strings.HasSuffix(clause, ".") {
		return clause
	}
	return clause + "."
}

// Name returns a name, and how it reads in other scripts.
func Name(n dnsname.Name) string {
	if u := n.Unicode(); u != n.String() {
		return fmt.Sprintf("%s (%s)", n, Line(u))
	}
	return n.String()
}
