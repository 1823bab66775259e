package bind9

import (
	"errors"
	"fmt"
	"strconv"
)

// A ClientConfig is what rndc.conf and key files say.
type ClientConfig struct {
	Keys []Key
	// DefaultKey, DefaultServer and DefaultPort are of the options statement; zero where it does not say.
	DefaultKey    string
	DefaultServer string
	DefaultPort   uint16
}

// Bounds of what a file and its includes may hold.
const (
	maxIncludes = 16
	maxKeys     = 4096
	maxKeyFile  = 4 << 20 // octets
)

// ParseKeys reads key statements and nothing else. Each key is usable, and no name is there twice.
func ParseKeys(text string) ([]Key, error) {
	p := clientParser{keysOnly: true}
	if err := p.parse(text); err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	return p.conf.Keys, nil
}

// ParseClientConfig reads a file in the syntax of rndc.conf, with what it includes. read opens files by the names that
// they have in there; server statements are passed over.
func ParseClientConfig(name string, read func(name string) ([]byte, error)) (ClientConfig, error) {
	p := clientParser{read: read}
	if err := p.include(name); err != nil {
		return ClientConfig{}, err
	}
	return p.conf, nil
}

// OrderedKeys are the keys, the default one first.
func (c ClientConfig) OrderedKeys() []Key {
	var first, rest []Key
	for _, k := range c.Keys {
		if sameName(k.Name, c.DefaultKey) {
			first = append(first, k)
		} else {
			rest = append(rest, k)
		}
	}
	return append(first, rest...)
}

type clientParser struct {
	conf     ClientConfig
	keysOnly bool
	read     func(name string) ([]byte, error)
	includes int
}

func (p *clientParser) include(name string) error {
	if p.includes++; p.includes > maxIncludes {
		return fmt.Errorf("reading %s: more than %d files are included; one of them seems to include itself",
			quoteShort(name), maxIncludes)
	}
	text, err := p.read(name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", quoteShort(name), err)
	}
	if err := p.parse(string(text)); err != nil {
		return fmt.Errorf("reading %s: %w", quoteShort(name), err)
	}
	return nil
}

func (p *clientParser) parse(text string) error {
	if len(text) > maxKeyFile {
		return fmt.Errorf("it has more than %d octets, so it is not a key file", maxKeyFile)
	}
	l := newLexer(text)
	for {
		t, err := l.next()
		switch {
		case err != nil || t.atEnd():
			return err
		case t.is("key"):
			err = p.key(l)
		case p.keysOnly:
			err = fmt.Errorf("line %d: only the statement key is allowed", t.line)
		case t.is("options"):
			err = p.options(l)
		case t.is("include"):
			err = p.includeStatement(l)
		case t.is("server"):
			err = skipStatement(l)
		default:
			err = fmt.Errorf("line %d: only the statements key, options, server and include are allowed", t.line)
		}
		if err != nil {
			return err
		}
	}
}

// key reads what follows the word key.
func (p *clientParser) key(l *lexer) error {
	name, err := l.word("the key's name")
	if err != nil {
		return err
	}
	k := Key{Name: name.text}
	err = block(l, "the key's name", func(clause token) error {
		value, err := l.word("the value")
		switch {
		case err != nil:
			return err
		case clause.is("algorithm") && k.Algorithm == "":
			k.Algorithm, err = ParseAlgorithm(value.text)
			return atLine(value.line, err)
		case clause.is("secret") && k.Secret == "":
			k.Secret = value.text
			return nil
		}
		return fmt.Errorf("line %d: a key has one algorithm, one secret and nothing else", clause.line)
	})
	if err != nil {
		return err
	}
	if k.Algorithm == "" || k.Secret == "" {
		return fmt.Errorf("line %d: the key %s has no algorithm or no secret", name.line, quoteShort(k.Name))
	}
	if err := k.Validate(); err != nil {
		return atLine(name.line, err)
	}
	for _, other := range p.conf.Keys {
		if sameName(other.Name, k.Name) {
			return fmt.Errorf("line %d: the key %s occurs twice", name.line, quoteShort(k.Name))
		}
	}
	if len(p.conf.Keys) == maxKeys {
		return fmt.Errorf("line %d: there are more than %d keys", name.line, maxKeys)
	}
	p.conf.Keys = append(p.conf.Keys, k)
	return nil
}

func (p *clientParser) options(l *lexer) error {
	return block(l, "options", func(clause token) error {
		value, err := l.word("the value")
		switch {
		case err != nil:
			return err
		case clause.is("default-key"):
			p.conf.DefaultKey = value.text
		case clause.is("default-server"):
			p.conf.DefaultServer = value.text
		case clause.is("default-port"):
			port, err := strconv.ParseUint(value.text, 10, 16)
			if err != nil || port == 0 {
				return fmt.Errorf("line %d: the default-port is not a port number from 1 to 65535", value.line)
			}
			p.conf.DefaultPort = uint16(port)
		default: // source addresses and the like say nothing about keys
		}
		return nil
	})
}

func (p *clientParser) includeStatement(l *lexer) error {
	name, err := l.word("the included file's name")
	if err != nil {
		return err
	}
	if err := l.expect(";", "the included file's name"); err != nil {
		return err
	}
	return atLine(name.line, p.include(name.text))
}

// block reads { … }; of clauses that each end in a semicolon. clause reads one after its first word.
func block(l *lexer, after string, clause func(first token) error) error {
	if err := l.expect("{", after); err != nil {
		return err
	}
	for {
		t, err := l.next()
		switch {
		case err != nil:
			return err
		case t.is("}"):
			return l.expect(";", "a closing brace")
		case t.atEnd():
			return fmt.Errorf("line %d: a brace is not closed", t.line)
		}
		if err := clause(t); err != nil {
			return err
		}
		if err := l.expect(";", "a value"); err != nil {
			return err
		}
	}
}

// skipStatement passes over a statement, up to the semicolon that is in no braces.
func skipStatement(l *lexer) error {
	for depth := 0; ; {
		t, err := l.next()
		switch {
		case err != nil:
			return err
		case t.atEnd():
			return errors.New("the last statement does not end")
		case t.is("{"):
			depth++
		case t.is("}"):
			depth--
		case t.is(";") && depth <= 0:
			return nil
		}
	}
}

func atLine(line int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", line, err)
}
