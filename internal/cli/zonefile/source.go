package zonefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// bounds are what a file and those that it includes have cost together.
type bounds struct {
	silence  int // octets since the last record
	includes int
	mend     bool   // an IPSECKEY record is read, after which the parser misses the end of the line, and wants another
	ttl      string // what $TTL said last where the parser is
	err      error
}

// A boundError says which bound was exceeded; it is a sentence.
type boundError struct{ text string }

func (e *boundError) Error() string { return e.text }

func (b *bounds) exceeded(format string, args ...any) error {
	b.err = &boundError{fmt.Sprintf(format, args...)}
	return b.err
}

// A source gives the parser a file byte by byte, so that what is known of it is about where the parser is.
//
// The parser gives what a $GENERATE makes a TTL of an hour where the directive says none. It has the TTL that a record
// at its place would have (RFC 1035 §5.1), so the source writes that into the directive.
type source struct {
	in     *bufio.Reader
	name   string
	bounds *bounds
	before string           // the TTL that an including file had
	step   func(octets int) // nil: nobody asks

	line  []byte // what is left of the current one
	lines int
}

func newSource(r io.Reader, name string, b *bounds) *source {
	if b.ttl == "" {
		b.ttl = strconv.Itoa(unstated)
	}
	return &source{in: bufio.NewReaderSize(r, 64<<10), name: name, bounds: b, before: b.ttl}
}

// end gives the including file back its TTL.
func (s *source) end() { s.bounds.ttl = s.before }

// ReadByte returns the next byte.
func (s *source) ReadByte() (byte, error) {
	if len(s.line) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	c := s.line[0]
	s.line = s.line[1:]
	return c, nil
}

// Read reads from the current line.
func (s *source) Read(p []byte) (int, error) {
	if len(s.line) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.line)
	s.line = s.line[n:]
	return n, nil
}

// next reads a line.
func (s *source) next() error {
	if s.bounds.err != nil {
		return s.bounds.err
	}
	line, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = s.long(line)
	}
	s.lines++
	if s.bounds.silence += len(line); s.bounds.silence > MaxSilence {
		return s.bounds.exceeded("%s: line %d: %d MiB contain no record; this is not a master file", s.name, s.lines,
			MaxSilence>>20)
	}
	if s.step != nil {
		s.step(len(line))
	}
	if len(line) == 0 {
		if err == nil {
			err = io.EOF
		}
		return err
	}
	if line[0] == '$' {
		line = s.directive(line)
	}
	if bytes.Contains(line, []byte("IPSECKEY")) || bytes.Contains(line, []byte("ipseckey")) {
		s.bounds.mend = true
	}
	if s.bounds.mend {
		line = append(bytes.Clone(line), '\n')
	}
	s.line = line
	return nil // an error comes again with the next line
}

// long reads the rest of a line that is longer than the buffer.
func (s *source) long(begin []byte) ([]byte, error) {
	line := bytes.Clone(begin)
	for {
		more, err := s.in.ReadSlice('\n')
		line = append(line, more...)
		if len(line) > MaxLine {
			return nil, s.bounds.exceeded("%s: line %d is longer than %d KiB; no record is so long", s.name, s.lines+1,
				MaxLine>>10)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// directive looks at a line that begins with "$".
func (s *source) directive(line []byte) []byte {
	fields := strings.Fields(string(line))
	switch strings.ToUpper(fields[0]) {
	case "$TTL":
		if len(fields) > 1 {
			s.bounds.ttl = fields[1]
		}
	case "$GENERATE":
		if !statesTTL(fields) {
			return withTTL(line, s.bounds.ttl)
		}
	}
	return line
}

// owner is where a $GENERATE has the names that it makes, after its range.
const owner = 2

// statesTTL reports whether a $GENERATE has a TTL; before or after its class, if there is one.
func statesTTL(fields []string) bool {
	for _, word := range fields[min(owner+1, len(fields)):] {
		switch {
		case word[0] >= '0' && word[0] <= '9':
			return true
		case !strings.EqualFold(word, "IN") && !strings.EqualFold(word, "CH") && !strings.EqualFold(word, "HS"):
			return false
		}
	}
	return true // there is no type either
}

// withTTL writes a TTL after the owner of a $GENERATE.
func withTTL(line []byte, ttl string) []byte {
	at := 0
	for range owner + 1 {
		at += len(line[at:]) - len(bytes.TrimLeft(line[at:], " \t"))
		if end := bytes.IndexAny(line[at:], " \t"); end >= 0 {
			at += end
		}
	}
	return slices.Concat(line[:at], []byte(" "+ttl), line[at:])
}
