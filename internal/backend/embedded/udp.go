package embedded

import (
	"errors"
	"net"
	"net/netip"
	"os"
)

// maxDatagram is the largest question that is read; more than that is not one.
const maxDatagram = 4096

// datagrams answers what comes over one UDP socket until the server stops.
func (s *Server) datagrams(c *net.UDPConn) {
	var r responder
	in, out := make([]byte, maxDatagram), make([]byte, 0, udpSize)
	control := newControl(c)
	for {
		n, oob, from, err := control.read(in)
		if err != nil {
			if s.closing.Load() || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
			continue // an error of one datagram, such as one that was too long
		}
		if isUpdate(in[:n]) { // which takes its time
			s.updateFrom(control, in[:n], oob, from)
			continue
		}
		r.client = from.Addr().Unmap()
		answer := s.respond(&r, in[:n], out, false)
		if answer == nil || !answerable(from) {
			continue
		}
		if s.limiter != nil && r.signature.valid() == nil && !s.limiter.allows(from.Addr(), &r, s.opts.Clock.Now()) {
			answer = r.short()
		}
		_ = control.write(answer, oob, from) // nobody waits to hear that it failed
	}
}

// answerable reports whether an answer to that address can reach somebody. Port 0 is nobody's, and a source of the
// whole network's address is forged.
func answerable(from netip.AddrPort) bool {
	return from.Port() != 0 && !from.Addr().IsMulticast() && !from.Addr().IsUnspecified()
}

// A control reads and writes datagrams of a socket. Where the socket listens on all of the machine's addresses, it has
// an answer leave from the one that the question came to.
type control struct {
	conn *net.UDPConn
	oob  []byte // nil: the socket has one address
}

func (c *control) read(b []byte) (n int, oob []byte, from netip.AddrPort, err error) {
	if c.oob == nil {
		n, from, err = c.conn.ReadFromUDPAddrPort(b)
		return n, nil, from, err
	}
	n, size, _, from, err := c.conn.ReadMsgUDPAddrPort(b, c.oob)
	return n, c.oob[:size], from, err
}

func (c *control) write(b, oob []byte, to netip.AddrPort) error {
	if c.oob == nil {
		_, err := c.conn.WriteToUDPAddrPort(b, to)
		return err
	}
	_, _, err := c.conn.WriteMsgUDPAddrPort(b, sourceOf(oob), to)
	return err
}
