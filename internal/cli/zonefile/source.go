package zonefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// bounds are what a file and those that it includes have cost together, and what the parser is at.
type bounds struct {
	silence  int // octets since the last record
	includes int
	states   bool    // the record that the parser reads states its TTL
	ttl      *uint32 // what $TTL said last; nil: nothing
	stated   *uint32 // the last TTL that a record had; nil: none has
	last     *source // which the parser reads
	err      error
}

// A boundError says which bound was exceeded; it is a sentence.
type boundError struct{ text string }

func (e *boundError) Error() string { return e.text }

func (b *bounds) exceeded(format string, args ...any) error {
	b.err = &boundError{fmt.Sprintf(format, args...)}
	return b.err
}

// A source gives the parser a file byte by byte, a record at a time, so that what is known of it is about where the
// parser is. Where the parser reads something otherwise than BIND, or not at all, it is given other words for the same.
//
// The parser forgets at the end of an included file which TTL that has had. TTLs do not belong to a file: RFC 1035 §5.1
// and RFC 2308 §4 say nothing of it, and BIND and NSD agree. So the source keeps what $TTL says, and has the parser
// give each record that states none the TTL unstated.
type source struct {
	in     *bufio.Reader
	name   string
	bounds *bounds
	step   func(octets int) // nil: nobody asks

	line   []byte    // what is left of what the parser is given
	flat   []byte    // the last record that went over lines
	breaks int       // the ends of lines in what was read last
	made   *generate // what is left of a $GENERATE; nil: nothing
	lines  int       // that were read
	extra  int       // that the parser was given in addition
}

// ttlUnstated has the parser give each record that states no TTL the one unstated.
var ttlUnstated = fmt.Sprintf("$TTL %d\n", uint32(unstated))

// newSource begins a file with a line of ours.
func newSource(r io.Reader, name string, b *bounds) *source {
	return &source{in: bufio.NewReaderSize(r, 64<<10), name: name, bounds: b, line: []byte(ttlUnstated), extra: 1}
}

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

// next reads what the parser is given next.
func (s *source) next() error {
	s.bounds.last = s
	if s.bounds.err != nil {
		return s.bounds.err
	}
	if s.made != nil {
		s.extra++
		return s.make()
	}
	text, err := s.record()
	switch {
	case s.bounds.err != nil:
		return s.bounds.err
	case len(text) == 0 && err == nil:
		return io.EOF
	case len(text) == 0:
		return err
	case text[0] == '$':
		return s.directive(text)
	}
	s.entry(text)
	return nil // an error comes again with the next line
}

// record reads a record or directive to its end. If it may go over lines, it becomes one: the parser takes words of two
// lines for one word.
func (s *source) record() ([]byte, error) {
	line, err := s.read()
	s.breaks = 1
	if bytes.IndexByte(line, '(') < 0 && bytes.IndexByte(line, '"') < 0 {
		return slices.Clip(line), err
	}
	var open nest
	begin, first := s.lines, line[0]
	s.flat = open.flatten(s.flat[:0], line)
	for ; open.unclosed() && err == nil; s.breaks++ {
		line, err = s.read()
		s.flat = open.flatten(s.flat, line)
	}
	if open != (nest{}) && s.bounds.err == nil {
		return nil, s.bounds.exceeded("%s: line %d: the parentheses or quotes that begin here do not match; correct the file",
			s.name, begin)
	}
	if first == '(' { // the owner is not left out
		return bytes.TrimLeft(s.flat, blanks), err
	}
	return s.flat, err
}

// read reads a line.
func (s *source) read() ([]byte, error) {
	line, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = s.long(line)
	}
	s.lines++
	if s.bounds.silence += len(line); s.bounds.silence > MaxSilence {
		return nil, s.bounds.exceeded("%s: line %d: %d MiB contain no record; this is not a master file", s.name, s.lines,
			MaxSilence>>20)
	}
	if s.step != nil {
		s.step(len(line))
	}
	return line, err
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

// give gives the parser a line for all those that were read last.
func (s *source) give(line []byte) {
	for n := bytes.Count(line, []byte("\n")); n < s.breaks; n++ {
		line = append(line, '\n')
	}
	s.line = line
}

// directive takes a text that begins with "$".
func (s *source) directive(text []byte) error {
	word, rest := cutWord(text)
	switch strings.ToUpper(string(word)) {
	case "$TTL":
		word, _ = cutWord(rest)
		if ttl, ok := ttlOf(string(word)); ok {
			s.bounds.ttl = &ttl
			text = []byte(ttlUnstated)
		}
	case "$INCLUDE":
		if file, after, ok := cutQuoted(rest); ok {
			text = []byte("$INCLUDE " + file + " " + after)
		}
	case "$GENERATE":
		made, err := newGenerate(rest)
		if err != nil {
			return s.bounds.exceeded("%s: line %d: $GENERATE: %v", s.name, s.lines, err)
		}
		s.made = made
		return s.make()
	}
	s.give(text)
	return nil
}

// make gives the parser the next record of a $GENERATE.
func (s *source) make() error {
	record, err := s.made.next()
	if err != nil {
		return s.bounds.exceeded("%s: line %d: $GENERATE: %v", s.name, s.lines, err)
	}
	if s.made.done() {
		s.made = nil
	}
	s.entry([]byte(record))
	s.breaks = 1
	return nil
}

// entry gives the parser a record in words that it reads.
func (s *source) entry(record []byte) {
	if owner, rest, ok := cutQuoted(record); ok && record[0] == '"' {
		record = []byte(owner + " " + rest)
	}
	h := headOf(record)
	s.bounds.states = h.states
	if data := ownData(h.typ, h.data); data != "" {
		record = slices.Concat(record[:len(record)-len(h.data)], []byte(" "+data))
	}
	s.give(record)
	if bytes.EqualFold(h.typ, []byte("IPSECKEY")) { // after which the parser misses the end of the line
		s.extra++
		s.line = append(slices.Clip(s.line), '\n')
	}
}

// ttlOf reads what $TTL says; the parser says what is wrong with it.
func ttlOf(word string) (uint32, bool) {
	if word == "" || word[0] < '0' || word[0] > '9' {
		return 0, false
	}
	record, err := dns.NewRR(". " + word + " A 192.0.2.1")
	if err != nil {
		return 0, false
	}
	return record.Header().Ttl, true
}
