// Package budget bounds what reading from a server may cost that somebody else runs: octets on the wire, and what they become in
// memory, which is much more where names are compressed or a document has many small parts. A Pool bounds all readings together.
package budget

import (
	"fmt"
	"io"
	"sync/atomic"
)

// Free is how much of each reading counts for no Pool, in octets: short answers are read whatever else is being read.
const Free = 1 << 20

// unlimited is what one reading may become in memory where no Pool says, in octets.
const unlimited = 512 << 20

// A Pool bounds what all readings that are under way become in memory, and each of them. A nil Pool bounds each alone.
type Pool struct {
	total, each int64
	used        atomic.Int64
}

// NewPool bounds all readings together to some octets of memory, and each to half of them.
func NewPool(total int64) *Pool { return &Pool{total: total, each: total / 2} }

// Each is what one reading may become in memory, in octets.
func (p *Pool) Each() int64 {
	if p == nil {
		return unlimited
	}
	return p.each
}

// An Error says which limit an answer has exceeded.
type Error struct {
	What   string // "octets", …
	Most   int64
	Memory bool // it is the limit of what one reading becomes in memory
	Shared bool // the limit of all readings together: it is worth another try
}

// Error names the limit.
func (e *Error) Error() string {
	if e.Shared {
		return fmt.Sprintf("all answers that are being read have more than %d octets of memory together", e.Most)
	}
	return fmt.Sprintf("the answer has more than %d %s", e.Most, e.What)
}

// A Meter counts one reading. It is used by one goroutine.
type Meter struct {
	pool           *Pool
	mostOctets     int64
	octets, memory int64
	drawn          int64
}

// Begin begins a reading of at most so many octets on the wire. End has to follow.
func (p *Pool) Begin(octets int64) *Meter { return &Meter{pool: p, mostOctets: octets} }

// Take counts what was read: octets on the wire, and what they are in memory.
func (m *Meter) Take(octets, memory int64) error {
	m.octets += octets
	m.memory += memory
	switch {
	case m.octets > m.mostOctets:
		return &Error{What: "octets", Most: m.mostOctets}
	case m.memory > m.pool.Each():
		return &Error{What: "octets of memory, as it is read", Most: m.pool.Each(), Memory: true}
	}
	if more := m.memory - Free - m.drawn; m.pool != nil && more > 0 {
		if m.pool.used.Add(more) > m.pool.total {
			m.pool.used.Add(-more)
			return &Error{Most: m.pool.total, Shared: true}
		}
		m.drawn += more
	}
	return nil
}

// End gives back what the reading has drawn.
func (m *Meter) End() {
	if m.pool != nil {
		m.pool.used.Add(-m.drawn)
	}
	m.memory, m.drawn = 0, 0
}

// What a part of a JSON document becomes in memory, in octets, whatever it is decoded into: an object a struct with some strings
// and slices, an element of a list or a member a pointer, a string or a map's entry.
const (
	objectCost  = 256
	elementCost = 48
)

// JSON returns a reader of a JSON document that counts what it becomes. Strings may have what looks like structure; they cost more then.
func (m *Meter) JSON(r io.Reader) io.Reader { return &document{r, m} }

type document struct {
	io.Reader
	meter *Meter
}

// Read reads on.
func (d *document) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	memory := int64(n)
	for _, c := range p[:n] {
		switch c {
		case '{', '[':
			memory += objectCost
		case ',', ':':
			memory += elementCost
		}
	}
	if exceeded := d.meter.Take(int64(n), memory); exceeded != nil {
		return 0, exceeded
	}
	return n, err
}
