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

// bounds are what a file and those that it includes have cost together.
type bounds struct {
	silence  int // octets since the last record
	includes int
	mend     bool    // an IPSECKEY record is read, after which the parser misses the end of the line, and wants another
	ttl      *uint32 // what $TTL said last; nil: nothing
	stated   *uint32 // the last TTL that a record had; nil: none has
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
// The parser forgets at the end of an included file which TTL that has had, and gives what a $GENERATE makes one of an
// hour. TTLs do not belong to a file: RFC 1035 §5.1 and RFC 2308 §4 say nothing of it, and BIND and NSD agree. So the
// source keeps what $TTL says, and has the parser give each record that states none the TTL unstated.
type source struct {
	in     *bufio.Reader
	name   string
	bounds *bounds
	step   func(octets int) // nil: nobody asks

	line  []byte // what is left of the current one
	lines int
}

// ttlUnstated has the parser give each record that states no TTL the one unstated.
var ttlUnstated = fmt.Sprintf("$TTL %d\n", uint32(unstated))

// newSource begins a file with a line of ours: see explain.
func newSource(r io.Reader, name string, b *bounds) *source {
	return &source{in: bufio.NewReaderSize(r, 64<<10), name: name, bounds: b, line: []byte(ttlUnstated)}
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
			if ttl, ok := ttlOf(fields[1]); ok {
				s.bounds.ttl = &ttl
				return []byte(ttlUnstated)
			}
		}
	case "$GENERATE":
		if !statesTTL(fields) {
			return withTTL(line)
		}
	}
	return line
}

// ttlOf reads what $TTL says; the parser says what is wrong with it.
func ttlOf(word string) (uint32, bool) {
	word, _, _ = strings.Cut(word, ";")
	if word == "" || word[0] < '0' || word[0] > '9' {
		return 0, false
	}
	record, err := dns.NewRR(". " + word + " A 192.0.2.1")
	if err != nil {
		return 0, false
	}
	return record.Header().Ttl, true
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

// withTTL writes the TTL unstated after the owner of a $GENERATE.
func withTTL(line []byte) []byte {
	at := 0
	for range owner + 1 {
		at += len(line[at:]) - len(bytes.TrimLeft(line[at:], " \t"))
		if end := bytes.IndexAny(line[at:], " \t"); end >= 0 {
			at += end
		}
	}
	return slices.Concat(line[:at], fmt.Appendf(nil, " %d", uint32(unstated)), line[at:])
}
