package bind9

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ParseZone reads what named answers to showzone. Clauses that Zone has no field for are kept, and written again by
// ModifyZone.
func ParseZone(text string) (name string, z Zone, err error) {
	l := newLexer(text)
	name, err = zoneHead(l)
	if err != nil {
		return "", Zone{}, fmt.Errorf("reading the configuration that named shows: %w", err)
	}
	for {
		clause, err := readClause(l)
		if err == nil && clause == nil {
			return name, z, z.check()
		}
		if err == nil {
			err = z.add(clause)
		}
		if err != nil {
			return "", Zone{}, fmt.Errorf("reading the configuration that named shows of the zone %s: %w", quoteShort(name), err)
		}
	}
}

// zoneHead reads: zone "name" [class] {
func zoneHead(l *lexer) (string, error) {
	if t, err := l.next(); err != nil || !t.is("zone") {
		return "", errors.Join(err, errors.New("it does not begin with a zone"))
	}
	name, err := l.word("the zone's name")
	if err != nil {
		return "", err
	}
	for {
		switch t, err := l.next(); {
		case err != nil:
			return "", err
		case t.is("{"):
			return name.text, nil
		case t.atEnd():
			return "", errors.New("the zone has no clauses")
		}
	}
}

// readClause returns the tokens of a clause without its semicolon; nil at the brace that closes the zone.
func readClause(l *lexer) ([]token, error) {
	var clause []token
	for depth := 0; ; {
		t, err := l.next()
		switch {
		case err != nil:
			return nil, err
		case t.atEnd():
			return nil, errors.New("it ends before the zone does")
		case t.is("}") && depth == 0 && len(clause) == 0:
			return nil, nil
		case t.is(";") && depth == 0:
			if len(clause) == 0 {
				return nil, errors.New("it has an empty clause")
			}
			return clause, nil
		case t.is("{"):
			depth++
		case t.is("}"):
			if depth--; depth < 0 {
				return nil, errors.New("a clause does not end in a semicolon")
			}
		}
		clause = append(clause, t)
	}
}

func (z *Zone) add(clause []token) (err error) {
	body, braced := inBraces(clause)
	plain := len(clause) == 2 && !braced
	switch first := clause[0].text; {
	case first == "type" && plain:
		z.Type = zoneType(clause[1].text)
	case first == "file" && plain:
		z.File = clause[1].text
	case first == "dnssec-policy" && plain:
		z.DNSSECPolicy = clause[1].text
	case first == "inline-signing" && plain:
		signed := slices.Contains([]string{"yes", "true", "1"}, clause[1].text)
		z.InlineSigning = &signed
	case first == "allow-query" && braced:
		z.AllowQuery, err = readACL(first, body)
	case first == "allow-update" && braced:
		z.AllowUpdate, err = readACL(first, body)
	case first == "allow-transfer" && braced:
		z.AllowTransfer, err = readACL(first, body)
	case (first == "primaries" || first == "masters") && braced:
		z.Primaries, err = readRemotes(first, body)
	case first == "also-notify" && braced:
		z.AlsoNotify, err = readRemotes(first, body)
	default:
		z.others = append(z.others, join(clause)+";")
	}
	return err
}

// zoneType reads the words of older versions too.
func zoneType(text string) ZoneType {
	switch text {
	case "master":
		return Primary
	case "slave":
		return Secondary
	}
	return ZoneType(text)
}

// inBraces splits what is between the braces of a clause of one list, at the semicolons.
func inBraces(clause []token) ([][]token, bool) {
	if len(clause) < 3 || !clause[1].is("{") || !clause[len(clause)-1].is("}") {
		return nil, false
	}
	items, item := [][]token{}, []token(nil)
	for _, t := range clause[2 : len(clause)-1] {
		switch {
		case t.is(";"):
			items, item = append(items, item), nil
		case t.is("{") || t.is("}"):
			return nil, false
		default:
			item = append(item, t)
		}
	}
	return items, len(item) == 0
}

func readACL(clause string, items [][]token) (ACL, error) {
	acl := ACL{}
	for _, item := range items {
		var e Element
		var err error
		if len(item) == 1 && item[0].quoted && !slices.Contains(builtins, item[0].text) {
			e, err = ListElement(item[0].text)
		} else {
			e, err = parseElement(unquote(join(item)))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", clause, err)
		}
		acl = append(acl, e)
	}
	return acl, nil
}

func readRemotes(clause string, items [][]token) ([]Remote, error) {
	all := []Remote{}
	for _, item := range items {
		r, err := readRemote(item)
		if err != nil {
			return nil, fmt.Errorf("%s: %s is not a server: %w", clause, quoteShort(join(item)), err)
		}
		all = append(all, r)
	}
	return all, nil
}

// readRemote reads: address [port N] [key "name"].
func readRemote(item []token) (r Remote, err error) {
	if len(item) == 0 {
		return r, errors.New("it is empty")
	}
	if r.Address, err = netip.ParseAddr(item[0].text); err != nil {
		return r, errors.New("it does not begin with an address")
	}
	for rest := item[1:]; len(rest) > 0; rest = rest[2:] {
		switch {
		case len(rest) >= 2 && rest[0].is("port"):
			port, err := strconv.ParseUint(rest[1].text, 10, 16)
			if err != nil {
				return r, errors.New("its port is not a port number")
			}
			r.Port = uint16(port)
		case len(rest) >= 2 && rest[0].is("key"):
			r.Key = rest[1].text
		default:
			return r, errors.New("there is something else than a port and a key")
		}
	}
	return r, nil
}

// join writes tokens again.
func join(tokens []token) string {
	var all []string
	for _, t := range tokens {
		text := t.text
		if t.quoted {
			text = `"` + text + `"`
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}
