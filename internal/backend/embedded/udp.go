package embedded

import (
	"errors"
	"net"
	"net/netip"
	"os"

	"golang.org/x/net/ipv4"
)

// maxDatagram is the largest question that is read; more than that is not one.
const maxDatagram = 4096

// datagrams answers what comes over one UDP socket until the server stops.
func (s *Server) datagrams(c *net.UDPConn) {
	var r responder
	b := newDatagramBatch(c)
	for {
		questions, err := b.read()
		if err != nil {
			if s.closing.Load() || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
			continue // an error of one datagram
		}
		for i := range questions {
			q := &questions[i]
			msg, from := q.Buffers[0][:q.N], senderOf(q)
			if isUpdate(msg) { // which takes its time
				s.updateFrom(b.conn, q)
				continue
			}
			r.client = from.Addr().Unmap()
			answer := s.respond(&r, msg, b.room(i), false)
			if answer == nil || !answerable(from) {
				continue
			}
			if s.limiter != nil && r.signature.valid() == nil && !s.limiter.allows(from.Addr(), &r, s.opts.Clock.Now()) {
				answer = r.short()
			}
			b.answer(q, answer)
		}
		b.write()
	}
}

// answerable reports whether an answer to that address can reach somebody. Port 0 is nobody's, and a source of the
// whole network's address is forged.
func answerable(from netip.AddrPort) bool {
	return from.Port() != 0 && !from.Addr().IsMulticast() && !from.Addr().IsUnspecified()
}

// batchSize is how many questions are read at once, and their answers sent at once, where as many wait. A system call
// costs more than an answer.
const batchSize = 32

// A datagramBatch is what is read from a socket at once, and answered at once. Where the socket listens on all of the
// machine's addresses, an answer leaves from the one that its question came to.
type datagramBatch struct {
	conn      batchConn
	questions []ipv4.Message
	answers   []ipv4.Message
	rooms     [batchSize][]byte    // for answers
	pieces    [batchSize][1][]byte // the answers, as a message has them
}

// read reads questions, at least one. They stay as they are until the next call.
func (b *datagramBatch) read() ([]ipv4.Message, error) {
	b.answers = b.answers[:0]
	n, err := b.conn.ReadBatch(b.questions, 0)
	return b.questions[:max(n, 0)], err
}

// room is where the answer to a question may be written.
func (b *datagramBatch) room(i int) []byte { return b.rooms[i][:0] }

// answer has an answer be sent with the others.
func (b *datagramBatch) answer(q *ipv4.Message, wire []byte) {
	piece := &b.pieces[len(b.answers)]
	piece[0] = wire
	b.answers = append(b.answers, ipv4.Message{Buffers: piece[:], OOB: sourceOf(q.OOB[:q.NN]), Addr: q.Addr})
}

// senderOf returns who has sent a datagram.
func senderOf(q *ipv4.Message) netip.AddrPort { return q.Addr.(*net.UDPAddr).AddrPort() }

// write sends the answers. Nobody waits to hear that one cannot be sent: it is the first that is left then.
func (b *datagramBatch) write() {
	for rest := b.answers; len(rest) > 0; {
		n, _ := b.conn.WriteBatch(rest, 0)
		rest = rest[max(n, 1):]
	}
}

func newDatagramBatch(c *net.UDPConn) *datagramBatch {
	bound := c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	b := &datagramBatch{conn: batchOf(c, bound), questions: make([]ipv4.Message, batchSize)}
	for i := range b.questions {
		b.questions[i].Buffers = [][]byte{make([]byte, maxDatagram)}
		b.questions[i].OOB = make([]byte, controlSize(bound))
		b.rooms[i] = make([]byte, 0, udpSize)
	}
	return b
}

// batchConn reads and writes several datagrams at once, where the system can.
type batchConn interface {
	ReadBatch(all []ipv4.Message, flags int) (int, error)
	WriteBatch(all []ipv4.Message, flags int) (int, error)
}
