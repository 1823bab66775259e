package embedded

import (
	"errors"
	"net"
	"net/netip"
	"os"

	"github.com/zonefold/zonefold/internal/backend/embedded/sockets"
)

// maxDatagram is the largest question that is read; more than that is not one. An update may be larger, over TCP.
const maxDatagram = 4096

// datagrams answers what comes over one UDP socket until the server stops.
func (s *Server) datagrams(c *net.UDPConn) {
	var r responder
	b := sockets.NewBatch(c, maxDatagram, udpSize)
	for {
		questions, err := b.Read()
		if err != nil {
			if s.closing.Load() || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
			continue // an error of one datagram
		}
		for i := range questions {
			q := &questions[i]
			msg, from := q.Buffers[0][:q.N], sockets.SenderOf(q)
			if isUpdate(msg) { // which takes its time
				s.updateFrom(b.Conn, q)
				continue
			}
			r.client = from.Addr().Unmap()
			answer := s.respond(&r, msg, b.Room(i), false)
			if answer == nil || !answerable(from) {
				continue
			}
			if s.limiter != nil && r.signature.valid() == nil && !s.limiter.allows(from.Addr(), &r, s.opts.Clock.Now()) {
				answer = r.short()
			}
			b.Answer(q, answer)
		}
		b.Write()
	}
}

// answerable reports whether an answer to that address can reach somebody. Port 0 is nobody's, and a source of the
// whole network's address is forged.
func answerable(from netip.AddrPort) bool {
	return from.Port() != 0 && !from.Addr().IsMulticast() && !from.Addr().IsUnspecified()
}
