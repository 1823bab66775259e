package embedded

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend/tsig"
	"github.com/zonefold/zonefold/internal/rr"
)

// message makes the NOTIFY of a zone (RFC 1996 §3.7), with its SOA, and remembers its MAC.
func (n *notice) message(z *Zone) []byte {
	m := message{limit: dns.MaxMsgSize}
	m.buf = binary.BigEndian.AppendUint16(m.buf, n.id)
	m.buf = binary.BigEndian.AppendUint16(m.buf, dns.OpcodeNotify<<11|flagAuthoritative)
	m.buf = append(m.buf, 0, 1, 0, 1, 0, 0, 0, 0)
	m.name(z.path.wire)
	m.buf = binary.BigEndian.AppendUint16(m.buf, uint16(rr.TypeSOA))
	m.buf = binary.BigEndian.AppendUint16(m.buf, dns.ClassINET)
	soa := z.version().soa
	m.record(z.path.wire, rr.TypeSOA, soa.ttl, soa.only())
	s := signature{key: n.key}
	if n.key != nil {
		s.name, s.algorithm = n.key.Wire()
		s.stamp = tsig.Stamp{Time: uint64(n.sent.Unix()), Fudge: tsig.Fudge}
	}
	n.mac = s.sign(&m)
	return m.buf
}

// listen takes answers until the socket is closed.
func (o *notifier) listen(c *net.UDPConn) {
	buf := make([]byte, maxDatagram)
	for {
		size, from, err := c.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			o.take(buf[:size], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		}
	}
}

// take takes one answer. Whatever it says, the follower has heard; what nobody waits for is ignored.
func (o *notifier) take(msg []byte, from netip.AddrPort) {
	const answer = flagResponse | dns.OpcodeNotify<<11
	if len(msg) < headerSize || binary.BigEndian.Uint16(msg[2:])&(flagResponse|opcodeMask) != answer {
		return
	}
	all, unlock := o.state.Lock()
	defer unlock()
	n := all.open[awaited{from, binary.BigEndian.Uint16(msg)}]
	if n == nil || all.closed {
		return
	}
	rcode := int(msg[3] & 15)
	switch signed := n.verifies(msg, o.server); {
	case rcode != dns.RcodeSuccess && (signed || rcode == dns.RcodeNotAuth):
		all.answered(n, NotifyRefused) // who does not know the key cannot sign with it
	case rcode == dns.RcodeSuccess && signed:
		all.answered(n, NotifyAnswered)
	}
}

// verifies reports whether an answer is signed as the notice was.
func (n *notice) verifies(msg []byte, s *Server) bool {
	if n.key == nil {
		return true
	}
	at := findSignature(msg)
	if at == 0 {
		return false
	}
	name, _ := n.key.Wire()
	v := signature{prior: withLength(n.mac)}
	return v.check(msg, at, keyring{string(name): {n.key}}, s.opts.Clock.Now()) == dns.RcodeSuccess
}

// findSignature returns where the last record of a message begins if that is a TSIG, else 0.
func findSignature(msg []byte) int {
	at := headerSize
	for range binary.BigEndian.Uint16(msg[4:]) {
		n := skipName(msg[at:])
		if n == 0 || len(msg) < at+n+4 {
			return 0
		}
		at += n + 4
	}
	records := 0
	for section := range 3 {
		records += int(binary.BigEndian.Uint16(msg[6+2*section:]))
	}
	last := 0
	for i := range records {
		rec, rest, ok := cutRecord(msg[at:])
		if !ok {
			return 0
		}
		if i == records-1 && rec.typ == dns.TypeTSIG && len(rest) == 0 && binary.BigEndian.Uint16(msg[10:]) > 0 {
			last = at
		}
		at = len(msg) - len(rest)
	}
	return last
}
