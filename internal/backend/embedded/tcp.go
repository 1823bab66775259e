package embedded

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"github.com/zonefold/zonefold/internal/backend/embedded/sockets"
)

// acceptPause is how long accepting waits for others to give back what it needs.
const acceptPause = 20 * time.Millisecond

// accept takes connections until the server stops.
func (s *Server) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			if s.closing.Load() || errors.Is(err, net.ErrClosed) {
				return
			}
			// Most likely there are no file descriptors left.
			if !s.conns.CloseOldest() {
				<-time.After(acceptPause)
			}
			continue
		}
		if link := s.conns.Add(c); link != nil {
			s.running.Go(func() { s.stream(link) })
		}
	}
}

// Sizes of a connection's buffers, in octets. Questions are small; answers of questions that came together leave
// together.
const (
	readBuffer = 512
	writeBatch = 16 << 10
)

// stream answers what comes over one connection, in the order in which it came, as no answer takes long (RFC 7766
// §6.2.1.1, §7). A question has to be there in full before the time-out, and so have answers to be taken: who is slow
// is cut off.
func (s *Server) stream(c *sockets.Conn) {
	defer s.conns.Remove(c)
	in := bufio.NewReaderSize(c.Conn, readBuffer)
	for {
		deadline := s.opts.Clock.Now().Add(s.opts.IdleTimeout)
		if !s.conns.Touch(c, deadline) {
			return
		}
		msg, err := readMessage(in)
		if err != nil {
			return
		}
		w := s.workers.Get().(*worker)
		err = s.batch(w, in, msg, c)
		s.workers.Put(w)
		if err != nil {
			return
		}
	}
}

// A worker is what answering takes while there is something to answer: idle connections, of which there may be
// thousands, have none.
type worker struct {
	responder responder
	out       []byte // answers
	page      []byte // a message of a transfer
}

// batch answers a message and all that have come after it.
func (s *Server) batch(w *worker, in *bufio.Reader, msg []byte, c *sockets.Conn) (err error) {
	w.out = w.out[:0]
	for {
		at := len(w.out)
		w.out = append(w.out, 0, 0)
		w.responder.client = c.Addr
		answer := s.respond(&w.responder, msg, w.out[at+2:], true)
		if w.responder.outgoing != nil {
			if err = s.flush(w.out[:at], c); err != nil {
				return err
			}
			return s.send(w, c)
		}
		if answer == nil {
			return errors.New("the message is not a question")
		}
		w.out = append(w.out, answer...) // it may be there already
		binary.BigEndian.PutUint16(w.out[at:], uint16(len(answer)))
		if len(w.out) > writeBatch || !whole(in) {
			break
		}
		if msg, err = readMessage(in); err != nil {
			return err
		}
	}
	return s.flush(w.out, c)
}

// flush writes answers.
func (s *Server) flush(out []byte, c *sockets.Conn) error {
	if len(out) == 0 {
		return nil
	}
	if err := c.SetWriteDeadline(s.opts.Clock.Now().Add(s.opts.IdleTimeout)); err != nil {
		return err
	}
	_, err := c.Write(out)
	return err
}

// whole reports whether a whole message waits in the buffer.
func whole(in *bufio.Reader) bool {
	if in.Buffered() < 2 {
		return false
	}
	b, err := in.Peek(2)
	return err == nil && in.Buffered() >= 2+int(binary.BigEndian.Uint16(b))
}

// readMessage reads one message with its length before it (RFC 1035 §4.2.2). It is good until the next is read.
func readMessage(in *bufio.Reader) ([]byte, error) {
	b, err := in.Peek(2)
	if err != nil {
		return nil, err
	}
	size := 2 + int(binary.BigEndian.Uint16(b))
	if size <= in.Size() {
		b, err = in.Peek(size)
		if err != nil {
			return nil, err
		}
		_, err = in.Discard(size)
		return b[2:], err
	}
	if size > maxDatagram {
		if b, err = in.Peek(2 + headerSize); err != nil || !isUpdate(b[2:]) {
			return nil, errors.New("the message is too long for a question")
		}
	}
	b, err = io.ReadAll(io.LimitReader(in, int64(size))) // room for what is there, not for what is announced
	if len(b) < size {
		return nil, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	return b[2:], nil
}
