package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend/embedded/sockets"
)

// slowest is the pace at which a transfer has to be taken, in octets a second. A slower client is cut off, for it keeps
// others waiting.
const slowest = 16 << 10

// A transfer of a stream of messages to one client.
type transfer struct {
	*outgoing
	server *Server
	worker *worker
	conn   *sockets.Conn
	began  time.Time
	sent   int // octets
}

// send carries out what the worker's responder has outgoing.
func (s *Server) send(w *worker, c *sockets.Conn) (err error) {
	r := &w.responder
	t := &transfer{outgoing: r.outgoing, server: s, worker: w, conn: c}
	r.outgoing = nil
	r.begin(w.page, true)
	defer func() {
		w.page = r.message.buf
		if fault := recover(); fault != nil {
			s.opts.Log.Error("A transfer broke off. This is a bug in zonefold.", slog.Any("fault", fault),
				slog.String("zone", t.zone.name.String()))
			*r, err = responder{}, errors.New("the transfer broke off")
		}
	}()
	if !r.isReplica() { // which must not wait for strangers
		if !s.takeSlot() {
			return t.refuse()
		}
		defer func() { <-s.slots }()
	}
	t.began = s.opts.Clock.Now()
	outcome := TransferWhole
	out := newWriter(&r.message, t.next)
	if t.steps != nil {
		outcome = TransferIncrement
		err = out.steps(t.zone, t.steps)
	} else {
		err = out.zone(t.zone)
	}
	if err == nil {
		err = t.flush()
	}
	if err != nil {
		outcome = TransferBroken
		err = fmt.Errorf("transferring zone %s: %w", t.zone.name, err)
		s.opts.Log.Info("A transfer was not completed.", slog.String("client", c.Client.String()),
			slog.String("error", err.Error()))
	}
	s.opts.Observer.Transferred(t.kind, outcome)
	return err
}

// takeSlot waits for its turn to transfer, and returns false if it does not come.
func (s *Server) takeSlot() bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
	}
	late := make(chan struct{})
	timer := s.opts.Clock.AfterFunc(s.opts.IdleTimeout, func() { close(late) })
	defer timer.Stop()
	select {
	case s.slots <- struct{}{}:
		return true
	case <-late:
	case <-s.stopping:
	}
	return false
}

// refuse answers that too many others transfer at the moment.
func (t *transfer) refuse() error {
	t.began = t.server.opts.Clock.Now()
	t.server.opts.Observer.Transferred(t.kind, TransferUnavailable)
	t.worker.responder.finish(dns.RcodeServerFailure)
	return t.write()
}

// next sends the message and begins another one, which has no question (RFC 5936 §2.2.1).
func (t *transfer) next() error {
	if err := t.flush(); err != nil {
		return err
	}
	r := &t.worker.responder
	r.request.question = nil
	r.begin(r.message.buf, true)
	return nil
}

// flush ends the message and sends it. Every message is signed if the request was, each over the MAC of the one before
// (RFC 8945 §5.3.1).
func (t *transfer) flush() error {
	r := &t.worker.responder
	r.message.mark(flagAuthoritative, 0)
	r.signature.stamp.Time = uint64(t.server.opts.Clock.Now().Unix()) // a long transfer outlasts the fudge
	r.signature.mac = append(r.signature.mac[:0:0], r.finish(dns.RcodeSuccess)...)
	r.signature.stream = true
	return t.write()
}

func (t *transfer) write() error {
	s, msg := t.server, t.worker.responder.message.buf
	t.worker.out = append(binary.BigEndian.AppendUint16(t.worker.out[:0], uint16(len(msg))), msg...)
	now := s.opts.Clock.Now()
	deadline := now.Add(s.opts.IdleTimeout)
	if last := t.began.Add(s.opts.IdleTimeout + time.Duration(t.sent)*time.Second/slowest); last.Before(deadline) {
		deadline = last
	}
	s.conns.Touch(t.conn, deadline) // whether it may go on after this transfer is asked again then
	if err := t.conn.SetWriteDeadline(deadline); err != nil {
		return err
	}
	n, err := t.conn.Write(t.worker.out)
	t.sent += n
	return err
}
