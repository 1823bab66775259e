package rr

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A field is one part of a type's rdata: a kind, which reads it from text and
// prints it from wire format, and what messages call it.
type field struct {
	kind kind
	what string
}

// A kind is a form that rdata is made of. parse reads tokens and adds octets;
// it checks only what text can get wrong. print consumes octets and adds
// canonical text; it checks everything, so that data which comes in wire
// format is held to the same rules. Both return clauses about "it".
type kind interface {
	parse(c *codec, what string) error
	print(c *codec, what string) error
}

// A codec turns one record's rdata from text into wire format and from there
// into canonical text, so that canonical text depends on nothing but the octets.
type codec struct {
	lexer
	row  *row
	wire []byte // parse adds at its end, print takes from its start
	data []byte // all of wire, while print takes
	text []byte // canonical text so far

	collect bool           // whether print keeps the names it meets
	names   []dnsname.Name // those names

	buf [240]byte // where wire and text begin, for the usual short record
}

func newCodec(t Type) *codec {
	c := &codec{row: byType[t]}
	if c.row == nil {
		c.row = &row{typ: t}
	}
	c.wire, c.text = c.buf[:0:96], c.buf[96:96]
	return c
}

// parse reads rdata text into wire format.
func (c *codec) parse(s string) error {
	if err := checkText(s); err != nil {
		return err
	}
	c.rest = s
	switch {
	case !c.more():
		return errors.New("it is empty")
	case c.generic():
		return c.parseGeneric()
	case c.row.fields == nil:
		return errors.New(`the type has no other form than "\# length hex" (RFC 3597 §5)`)
	}
	for _, f := range c.row.fields {
		if err := f.kind.parse(c, f.what); err != nil {
			return err
		}
	}
	if c.more() {
		return fmt.Errorf("it goes on after its end with %s", shorten(c.rest))
	}
	return c.checkSize()
}

func (c *codec) checkSize() error {
	if len(c.wire) > maxData {
		return fmt.Errorf("it has %d octets: at most %d are allowed", len(c.wire), maxData)
	}
	return nil
}

// print turns c.wire into canonical text.
func (c *codec) print() error {
	c.data = c.wire
	if c.row.fields == nil || len(c.wire) == 0 && c.row.rules&empty != 0 {
		c.text, c.wire = appendGeneric(c.text, c.wire), nil
		return nil
	}
	for _, f := range c.row.fields {
		if err := f.kind.print(c, f.what); err != nil {
			return err
		}
	}
	if len(c.wire) > 0 {
		return fmt.Errorf("it has %d octets after its end", len(c.wire))
	}
	return nil
}

// generic reports whether the text is in the form of RFC 3597 §5.
func (c *codec) generic() bool {
	return c.rest == `\#` || len(c.rest) > 2 && c.rest[:2] == `\#` && (c.rest[2] == ' ' || c.rest[2] == '\t')
}

func (c *codec) parseGeneric() error {
	c.rest = c.rest[2:]
	length, err := c.number("length", 16)
	if err != nil {
		return err
	}
	if c.more() || length > 0 {
		if err := hexRest.parse(c, "data"); err != nil {
			return err
		}
	}
	if len(c.wire) != int(length) {
		return fmt.Errorf("it has %d octets instead of the %d that it declares", len(c.wire), length)
	}
	return nil
}

// appendGeneric adds wire format in the form of RFC 3597 §5.
func appendGeneric(dst, wire []byte) []byte {
	dst = strconv.AppendInt(append(dst, `\# `...), int64(len(wire)), 10)
	if len(wire) == 0 {
		return dst
	}
	return hexRest.encode(append(dst, ' '), wire)
}

// word takes a token that may not be quoted.
func (c *codec) word(what string) (string, error) {
	t, err := c.token(what)
	if err == nil && t.quoted {
		err = fmt.Errorf("the %s is quoted: leave out the quotes", what)
	}
	return t.text, err
}

// token takes a token.
func (c *codec) token(what string) (token, error) {
	if !c.more() {
		return token{}, fmt.Errorf("the %s is missing", what)
	}
	return c.next(false)
}

// number takes a decimal number of so many bits.
func (c *codec) number(what string, bits int) (uint64, error) {
	s, err := c.word(what)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseUint(s, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("the %s %s is not a number from 0 to %d", what, shorten(s), uint64(1)<<bits-1)
	}
	return v, nil
}

// take consumes n octets of the wire format.
func (c *codec) take(what string, n int) ([]byte, error) {
	if n > len(c.wire) {
		return nil, fmt.Errorf("the %s is cut off", what)
	}
	b := c.wire[:n]
	c.wire = c.wire[n:]
	return b, nil
}

// takeCounted consumes octets that their number precedes in one octet.
func (c *codec) takeCounted(what string) ([]byte, error) {
	n, err := c.take(what, 1)
	if err != nil {
		return nil, err
	}
	return c.take(what, int(n[0]))
}

// before returns the octet before what print takes next, 0 if there is none.
func (c *codec) before() byte {
	if at := len(c.data) - len(c.wire); at > 0 {
		return c.data[at-1]
	}
	return 0
}

// space separates what is printed next from what was.
func (c *codec) space() {
	if len(c.text) > 0 {
		c.text = append(c.text, ' ')
	}
}

// put prints one word.
func (c *codec) put(word string) {
	c.space()
	c.text = append(c.text, word...)
}

// putNumber prints a number.
func (c *codec) putNumber(v uint64) {
	c.space()
	c.text = strconv.AppendUint(c.text, v, 10)
}
