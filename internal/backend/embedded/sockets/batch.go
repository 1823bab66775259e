package sockets

import (
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
)

// batchSize is how many questions are read at once, and their answers sent at once, where as many wait. A system call
// costs more than an answer.
const batchSize = 32

// A Batch is what is read from a socket at once, and answered at once. Where the socket listens on all of the
// machine's addresses, an answer leaves from the one that its question came to.
type Batch struct {
	Conn      BatchConn
	questions []ipv4.Message
	answers   []ipv4.Message
	rooms     [batchSize][]byte    // for answers
	pieces    [batchSize][1][]byte // the answers, as a message has them
}

// Read reads questions, at least one. They stay as they are until the next call.
func (b *Batch) Read() ([]ipv4.Message, error) {
	b.answers = b.answers[:0]
	n, err := b.Conn.ReadBatch(b.questions, 0)
	return b.questions[:max(n, 0)], err
}

// Room is where the answer to a question may be written.
func (b *Batch) Room(i int) []byte { return b.rooms[i][:0] }

// Answer has an answer be sent with the others.
func (b *Batch) Answer(q *ipv4.Message, wire []byte) {
	piece := &b.pieces[len(b.answers)]
	piece[0] = wire
	b.answers = append(b.answers, ipv4.Message{Buffers: piece[:], OOB: SourceOf(q.OOB[:q.NN]), Addr: q.Addr})
}

// SenderOf returns who has sent a datagram.
func SenderOf(q *ipv4.Message) netip.AddrPort { return q.Addr.(*net.UDPAddr).AddrPort() }

// Write sends the answers. Nobody waits to hear that one cannot be sent: it is the first that is left then.
func (b *Batch) Write() {
	for rest := b.answers; len(rest) > 0; {
		n, _ := b.Conn.WriteBatch(rest, 0)
		rest = rest[max(n, 1):]
	}
}

// NewBatch reads from a socket questions of up to so many octets, and has so much room for an answer.
func NewBatch(c *net.UDPConn, question, answer int) *Batch {
	bound := c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	b := &Batch{Conn: batchOf(c, bound), questions: make([]ipv4.Message, batchSize)}
	for i := range b.questions {
		b.questions[i].Buffers = [][]byte{make([]byte, question)}
		b.questions[i].OOB = make([]byte, controlSize(bound))
		b.rooms[i] = make([]byte, 0, answer)
	}
	return b
}

// BatchConn reads and writes several datagrams at once, where the system can.
type BatchConn interface {
	ReadBatch(all []ipv4.Message, flags int) (int, error)
	WriteBatch(all []ipv4.Message, flags int) (int, error)
}
