package bind9

import (
	"fmt"
	"strings"
)

// A token of BIND's configuration language: a word, a quoted string, or one of { } ;.
type token struct {
	text   string
	quoted bool
	line   int
}

func (t token) is(mark string) bool { return !t.quoted && t.text == mark }

// atEnd is the token after the last.
func (t token) atEnd() bool { return !t.quoted && t.text == "" }

// A lexer takes tokens off a text. Its errors name the line and never the text, which may be a secret.
type lexer struct {
	rest string
	line int
}

func newLexer(text string) *lexer { return &lexer{rest: text, line: 1} }

// next returns the next token.
func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	t := token{line: l.line}
	if l.rest == "" {
		return t, nil
	}
	switch c := l.rest[0]; {
	case c == '{' || c == '}' || c == ';':
		t.text = l.take(1)
	case c == '"':
		return l.quotedString()
	default:
		t.text = l.take(wordLength(l.rest))
	}
	return t, nil
}

// wordLength is how far a word without quotes goes: to space, a mark, a quote or a comment.
func wordLength(text string) int {
	for i := range len(text) {
		c := text[i]
		comment := c == '#' || c == '/' && i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '*')
		if c <= ' ' || c == 0x7f || strings.IndexByte(`{};"`, c) >= 0 || comment && i > 0 {
			return i
		}
	}
	return len(text)
}

func (l *lexer) quotedString() (token, error) {
	t := token{line: l.line, quoted: true}
	end := strings.IndexAny(l.rest[1:], "\"\\\n")
	switch {
	case end < 0 || l.rest[1+end] == '\n':
		return t, fmt.Errorf("line %d: a string is not closed by a quote on its line", l.line)
	case l.rest[1+end] == '\\':
		return t, fmt.Errorf("line %d: a string has a backslash, which no name or secret contains", l.line)
	}
	t.text = l.rest[1 : 1+end]
	l.take(end + 2)
	return t, nil
}

// skip passes over white space and comments.
func (l *lexer) skip() error {
	for {
		l.take(len(l.rest) - len(strings.TrimLeft(l.rest, " \t\r\n\v\f")))
		switch {
		case strings.HasPrefix(l.rest, "#"), strings.HasPrefix(l.rest, "//"):
			end := strings.IndexByte(l.rest, '\n')
			if end < 0 {
				end = len(l.rest)
			}
			l.take(end)
		case strings.HasPrefix(l.rest, "/*"):
			end := strings.Index(l.rest[2:], "*/")
			if end < 0 {
				return fmt.Errorf("line %d: a comment is not closed by */", l.line)
			}
			l.take(end + 4)
		default:
			if l.rest != "" && (l.rest[0] < ' ' || l.rest[0] == 0x7f) {
				return fmt.Errorf("line %d: there is a control character", l.line)
			}
			return nil
		}
	}
}

func (l *lexer) take(n int) string {
	text := l.rest[:n]
	l.line += strings.Count(text, "\n")
	l.rest = l.rest[n:]
	return text
}

// word expects a word or a string. what is named where there is none.
func (l *lexer) word(what string) (token, error) {
	t, err := l.next()
	if err == nil && (t.atEnd() || t.is("{") || t.is("}") || t.is(";")) {
		err = fmt.Errorf("line %d: %s is missing", t.line, what)
	}
	return t, err
}

// expect takes one of the marks.
func (l *lexer) expect(mark, after string) error {
	t, err := l.next()
	if err == nil && !t.is(mark) {
		err = fmt.Errorf("line %d: after %s there is no %q", t.line, after, mark)
	}
	return err
}
