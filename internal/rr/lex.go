package rr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxText bounds rdata in text: 65535 octets, each written as \DDD, with room
// for quotes and spaces.
const maxText = 5 * maxData

// A token is one word of rdata: the text between spaces with its escapes in
// place, or what stands between two quotes.
type token struct {
	text   string
	quoted bool
}

// A lexer cuts one line of rdata into tokens (RFC 1035 §5.1). What master files
// use for more than one line or record is refused, so that text which passes
// stays one record wherever it is written: line breaks, comments, parentheses
// and directives.
type lexer struct {
	rest string
}

// checkText refuses characters that no rdata may hold, wherever they stand.
func checkText(s string) error {
	if len(s) > maxText {
		return fmt.Errorf("it is longer than any record can be")
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= ' ' && c != 0x7f || c == '\t':
		case c == '\n' || c == '\r':
			return errors.New("it has a line break in it: a record is one line; join the lines with spaces")
		default:
			return fmt.Errorf(`it has a control character in it: write \%03d inside a quoted string if it belongs to the data`,
				c)
		}
	}
	return nil
}

// more reports whether there is another token.
func (l *lexer) more() bool {
	for l.rest != "" && (l.rest[0] == ' ' || l.rest[0] == '\t') {
		l.rest = l.rest[1:]
	}
	return l.rest != ""
}

// next returns the next token, of which more has said that there is one. In
// pairs, key="value" is one token (RFC 9460 §2.1).
func (l *lexer) next(pairs bool) (token, error) {
	if l.rest[0] == '"' {
		return l.quoted(0)
	}
	if l.rest[0] == '$' {
		return token{},
			errors.New(`it has a word that begins with "$", which would be a directive in a master file: write \$, or quote it`)
	}
	i := 0
	for ; i < len(l.rest); i++ {
		switch c := l.rest[i]; c {
		case ' ', '\t':
			return l.cut(i, i), nil
		case '\\':
			if i++; i == len(l.rest) {
				return token{}, errTrailing
			}
		case '"':
			if pairs && l.rest[i-1] == '=' {
				return l.quoted(i)
			}
			return token{}, errors.New(`it has a quote inside a word: write \", or quote the whole word`)
		case ';', '(', ')':
			return token{}, fmt.Errorf(
				`it has the character %s outside quotes, which has another meaning in a master file: write \%c, or quote the word`,
				strconv.Quote(string(c)), c)
		}
	}
	return l.cut(i, i), nil
}

var errTrailing = errors.New("it ends in a backslash that escapes nothing")

// quoted cuts a token that ends with a quoted string, whose opening quote is at
// start. A token that is all quoted is returned without its quotes.
func (l *lexer) quoted(start int) (token, error) {
	for i := start + 1; i < len(l.rest); i++ {
		switch l.rest[i] {
		case '\\':
			i++
		case '"':
			if i+1 < len(l.rest) && l.rest[i+1] != ' ' && l.rest[i+1] != '\t' {
				return token{}, errors.New("it has text right after a closing quote: put a space between")
			}
			if start > 0 {
				return l.cut(i+1, i+1), nil
			}
			l.rest = l.rest[1:]
			t := l.cut(i-1, i)
			t.quoted = true
			return t, nil
		}
	}
	return token{}, errors.New("it has a quote that is not closed")
}

// cut takes the text up to end and drops what is before next.
func (l *lexer) cut(end, next int) token {
	t := token{text: l.rest[:end]}
	l.rest = l.rest[next:]
	return t
}

// appendString adds the octets of a character-string in text, escapes
// interpreted.
func appendString(dst []byte, s string) ([]byte, error) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			if i++; i == len(s) {
				return nil, errTrailing
			}
			if c = s[i]; isDigit(c) {
				v, err := strconv.ParseUint(s[i:min(i+3, len(s))], 10, 8)
				if err != nil || i+3 > len(s) {
					return nil, fmt.Errorf(`it has the bad escape %q: write a backslash and three digits, \000 to \255`,
						s[i-1:min(i+3, len(s))])
				}
				c = byte(v)
				i += 2
			}
		}
		dst = append(dst, c)
	}
	return dst, nil
}

// appendQuoted adds octets as a quoted character-string, in the one form that
// canonical data has: the quote and the backslash escaped with a backslash,
// what is not printable ASCII as \DDD.
func appendQuoted(dst, octets []byte) []byte {
	dst = append(dst, '"')
	for _, c := range octets {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ' && c <= '~':
			dst = append(dst, c)
		default:
			dst = append(dst, '\\', '0'+c/100, '0'+c/10%10, '0'+c%10)
		}
	}
	return append(dst, '"')
}

// shorten quotes text for a message, as it was written where that is possible.
func shorten(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	switch quoted := strconv.Quote(s); {
	case quoted == `"`+s+`"`:
		return quoted
	case strings.ContainsAny(s, `"\\`) && strconv.CanBackquote(s):
		return "`" + s + "`"
	default:
		return quoted
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
