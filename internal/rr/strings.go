package rr

import (
	"errors"
	"fmt"
	"strings"
)

// charString is one character-string, or all that follow.
type charString bool

func (all charString) parse(c *codec, what string) error {
	for first := true; first || bool(all) && c.more(); first = false {
		t, err := c.token(what)
		if err != nil {
			return err
		}
		at := len(c.wire)
		c.wire = append(c.wire, 0)
		if c.wire, err = appendString(c.wire, t.text); err != nil {
			return err
		}
		size := len(c.wire) - at - 1
		switch {
		case size > 255 && bool(all):
			return fmt.Errorf("it has a string of %d octets, but at most 255 are allowed in one: split it into several quoted "+
				"strings, which readers join", size)
		case size > 255:
			return fmt.Errorf("the %s has %d octets: at most 255 are allowed", what, size)
		}
		c.wire[at] = byte(size)
	}
	return nil
}

func (all charString) print(c *codec, what string) error {
	for first := true; first || bool(all) && len(c.wire) > 0; first = false {
		b, err := c.takeCounted(what)
		if err != nil {
			return err
		}
		c.space()
		c.text = appendQuoted(c.text, b)
	}
	return nil
}

// octets is a string that goes to the end of the data and has no length of its
// own (RFC 7553 §4.4, RFC 8659 §4.1); it may be empty if optional.
type octets struct{ optional bool }

func (o octets) parse(c *codec, what string) error {
	t, err := c.token(what)
	if err != nil {
		return err
	}
	c.wire, err = appendString(c.wire, t.text)
	return err
}

func (o octets) print(c *codec, what string) error {
	if len(c.wire) == 0 && !o.optional {
		return fmt.Errorf("the %s is empty", what)
	}
	c.space()
	c.text = appendQuoted(c.text, c.wire)
	c.wire = nil
	return nil
}

// caaTag is the tag of CAA data: letters and digits, in lower case, as those who
// read it do not mind the case (RFC 8659 §4.1).
type caaTag struct{}

func (caaTag) parse(c *codec, what string) error {
	s, err := c.word(what)
	if err != nil {
		return err
	}
	return counted(c, what, func(dst []byte) ([]byte, error) { return append(dst, s...), nil })
}

func (caaTag) print(c *codec, what string) error {
	b, err := c.takeCounted(what)
	if err != nil {
		return err
	}
	tag := strings.ToLower(string(b))
	for i := range len(tag) {
		if letter := 'a' <= tag[i] && tag[i] <= 'z'; !letter && !isDigit(tag[i]) {
			return fmt.Errorf("the %s %s has characters other than letters and digits", what, shorten(tag))
		}
	}
	if tag == "" {
		return fmt.Errorf("the %s is empty", what)
	}
	c.put(tag)
	return nil
}

// substitution is the regular expression of NAPTR data (RFC 3403 §4.1): empty,
// or delimiter, pattern, delimiter, replacement, delimiter, flags. Servers
// refuse a message for one that is not of this shape.
type substitution struct{}

func (substitution) parse(c *codec, what string) error { return oneString.parse(c, what) }

func (substitution) print(c *codec, what string) error {
	b, err := c.takeCounted(what)
	if err != nil {
		return err
	}
	if len(b) > 0 {
		if err := checkSubstitution(b); err != nil {
			return fmt.Errorf("the %s %w", what, err)
		}
	}
	c.space()
	c.text = appendQuoted(c.text, b)
	return nil
}

func checkSubstitution(b []byte) error {
	delim := b[0]
	if isDigit(delim) || delim == '\\' || delim == 'i' || delim == 0 {
		return errors.New("begins with a digit, a backslash, an i or a zero, which cannot delimit its parts")
	}
	part, groups, most := 0, 0, 0
	for i := 1; i < len(b); i++ {
		c := b[i]
		switch {
		case c == 0:
			return errors.New("has a zero octet in it")
		case c == delim:
			part++
		case part == 2 && c != 'i':
			return errors.New("has a flag other than i")
		case part == 0 && c == '(':
			groups++
		case c == '\\' && part < 2:
			if i++; i == len(b) || b[i] == 0 {
				return errors.New("ends in a backslash")
			}
			if part == 1 && isDigit(b[i]) {
				most = max(most, int(b[i]-'0'))
				if b[i] == '0' {
					return errors.New("has the back reference 0")
				}
			}
		}
	}
	switch {
	case part != 2:
		return fmt.Errorf("does not have the form %[1]cpattern%[1]creplacement%[1]c", delim)
	case most > groups:
		return fmt.Errorf("has the back reference %d and only %d groups", most, groups)
	}
	return nil
}
