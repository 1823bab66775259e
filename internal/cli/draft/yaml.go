package draft

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AppendScalar adds a text as YAML that is read as the same text: as it is where that is sure, else in quotes.
func AppendScalar(dst []byte, s string) []byte {
	switch {
	case plain(s):
		return append(dst, s...)
	case quotable(s):
		dst = append(dst, '\'')
		dst = append(dst, strings.ReplaceAll(s, "'", "''")...)
		return append(dst, '\'')
	}
	return appendEscaped(dst, s)
}

// plain reports whether YAML takes a text without quotes for that text: a name with letters and a dot, an object's
// name, or an IPv4 address, none of which can be a number, a date, a truth value or null.
func plain(s string) bool {
	letters, dots, digits, hyphens := 0, 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '/':
			letters++
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			dots++
		case c == '-':
			hyphens++
		default:
			return false
		}
	}
	if s == "" || s[0] == '-' || s[0] == '.' || s[0] == '/' || s[0] == '_' {
		return false
	}
	if letters == 0 {
		return dots == 3 && hyphens == 0 && digits > 3 && s[len(s)-1] != '.' // an IPv4 address
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	// 1e3 and 0x1f are numbers, 1.e3 is one, too
	first := s[0]
	return first < '0' || first > '9' || letters > 1 && (dots > 1 || hyphens > 1)
}

// quotable reports whether a text can stand in single quotes: printable ASCII.
func quotable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// appendEscaped adds a text in double quotes; it is valid UTF-8.
func appendEscaped(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c < 0x80 && c >= ' ' && c != 0x7f, c > 0xa0 && unicode.IsPrint(c):
			dst = utf8.AppendRune(dst, c)
		case c > 0xffff:
			dst = fmt.Appendf(dst, `\U%08x`, c)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, c)
		}
	}
	return append(dst, '"')
}
