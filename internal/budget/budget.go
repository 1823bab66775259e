// Package budget bounds what it may cost to read from a server that somebody else runs: octets on the wire, and what
// they become in memory, which is much more where names are compressed or a document has many small parts. A Pool
// bounds all readings together.
package budget

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/zonefold/zonefold/internal/guarded"
)

// Free is how much of each reading counts for no Pool, in octets: short answers are read whatever else is being read.
const Free = 1 << 20

// unlimited is what one reading may become in memory where no Pool says, in octets.
const unlimited = 512 << 20

// A Pool bounds what all readings that are under way become in memory, and each of them. Where they are too much
// together, the largest is ended: who holds memory by being slow keeps nobody else from being read. A nil Pool bounds
// each alone.
type Pool struct {
	total, each int64

	state guarded.Value[drawn]
}

// drawn is what readings hold.
type drawn struct {
	used int64
	by   map[*Meter]int64
}

// NewPool bounds all readings together to some octets of memory, and each to half of them.
func NewPool(total int64) *Pool {
	p := &Pool{total: total, each: total / 2}
	d, unlock := p.state.Lock()
	defer unlock()
	d.by = map[*Meter]int64{}
	return p
}

// Each is what one reading may become in memory, in octets.
func (p *Pool) Each() int64 {
	if p == nil {
		return unlimited
	}
	return p.each
}

// draw has a reading hold that much memory. It ends larger ones where there is not enough.
func (p *Pool) draw(m *Meter, memory int64) error {
	d, unlock := p.state.Lock()
	defer unlock()
	for d.used-d.by[m]+memory > p.total {
		largest, most := m, memory
		for other, holds := range d.by {
			if other != m && holds > most {
				largest, most = other, holds
			}
		}
		if largest == m {
			return &Error{Most: p.total, Shared: true}
		}
		d.release(largest)
		largest.ended.Store(true)
		go largest.end() // may wait for who is reading
	}
	d.used += memory - d.by[m]
	d.by[m] = memory
	return nil
}

// release gives back what a reading holds.
func (d *drawn) release(m *Meter) {
	d.used -= d.by[m]
	delete(d.by, m)
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
	ended          atomic.Bool // by the Pool
	end            func()
}

// Begin begins a reading of at most so many octets on the wire. End has to follow. Where others need the memory, end is
// called, which has the reading come to its end.
func (p *Pool) Begin(octets int64, end func()) *Meter {
	return &Meter{pool: p, mostOctets: octets, end: end}
}

// Take counts what was read: octets on the wire, and what they are in memory.
func (m *Meter) Take(octets, memory int64) error {
	m.octets += octets
	m.memory += memory
	switch {
	case m.ended.Load():
		return &Error{Most: m.pool.total, Shared: true}
	case m.octets > m.mostOctets:
		return &Error{What: "octets", Most: m.mostOctets}
	case m.memory > m.pool.Each():
		return &Error{What: "octets of memory, as it is read", Most: m.pool.Each(), Memory: true}
	case m.pool == nil || m.memory <= Free:
		return nil
	}
	return m.pool.draw(m, m.memory-Free)
}

// Ended returns the error of a reading that the Pool has ended, nil for any other.
func (m *Meter) Ended() error {
	if m.ended.Load() {
		return &Error{Most: m.pool.total, Shared: true}
	}
	return nil
}

// End gives back what the reading holds.
func (m *Meter) End() {
	if m.pool == nil {
		return
	}
	d, unlock := m.pool.state.Lock()
	defer unlock()
	d.release(m)
	m.ended.Store(true)
}

// What a part of a JSON document becomes in memory, in octets, whatever it is decoded into: an object a struct with
// some strings and slices, an element of a list or a member a pointer, a string or a map's entry.
const (
	objectCost  = 160
	elementCost = 16
)

// JSON returns a reader of a JSON document that counts what it becomes. Strings may have what looks like structure;
// they cost more then.
func (m *Meter) JSON(r io.Reader) io.Reader { return &document{r, m} }

type document struct {
	io.Reader
	meter *Meter
}

// Read reads on.
func (d *document) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if ended := d.meter.Ended(); ended != nil {
		return 0, ended
	}
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
