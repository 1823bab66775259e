package embedded

import (
	"encoding/binary"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

// A message is being written. Names in it are compressed (RFC 1035 §4.1.4) against the names written before.
type message struct {
	buf   []byte
	limit int // octets
	names [24]uint16
	known int // names in use
}

const maxPointer = 0x3fff

// begin starts a message with the header of an answer and the question as it came, its case included.
func (m *message) begin(r *request, buf []byte) {
	m.buf, m.known = buf[:0], 0
	m.buf = binary.BigEndian.AppendUint16(m.buf, r.id)
	m.buf = binary.BigEndian.AppendUint16(m.buf, flagResponse|r.flags&(opcodeMask|flagRecursion|flagNoChecking))
	m.buf = append(m.buf, 0, 0, 0, 0, 0, 0, 0, 0)
	if r.question == nil {
		return
	}
	m.buf[5] = 1
	for at := 0; r.question[at] != 0; at += 1 + int(r.question[at]) {
		m.learn(headerSize + at)
	}
	m.buf = append(m.buf, r.question...)
}

// learn notes that a name begins at an offset.
func (m *message) learn(at int) {
	if m.known < len(m.names) && at <= maxPointer {
		m.names[m.known] = uint16(at)
		m.known++
	}
}

// count adds to one of the header's four counts.
func (m *message) count(section, n int) {
	at := m.buf[4+2*section:]
	binary.BigEndian.PutUint16(at, binary.BigEndian.Uint16(at)+uint16(n))
}

// mark sets flags and the low bits of the rcode.
func (m *message) mark(flags uint16, rcode int) {
	at := m.buf[2:]
	binary.BigEndian.PutUint16(at, binary.BigEndian.Uint16(at)|flags|uint16(rcode&15))
}

// name writes a name in wire format.
func (m *message) name(name []byte) {
	for name[0] != 0 {
		if at := m.find(name); at > 0 {
			m.buf = binary.BigEndian.AppendUint16(m.buf, 0xc000|uint16(at))
			return
		}
		m.learn(len(m.buf))
		end := 1 + name[0]
		m.buf = append(m.buf, name[:end]...)
		name = name[end:]
	}
	m.buf = append(m.buf, 0)
}

// find returns where a name stands in the message, 0 if nowhere.
func (m *message) find(name []byte) int {
	for _, at := range m.names[:m.known] {
		if m.buf[at] == name[0] && m.same(int(at), name) {
			return int(at)
		}
	}
	return 0
}

// same reports whether the name at an offset is name, which is in lower case. All pointers of the message lead
// backwards to names, for this type has written them; the last one may be half written, of which more follows.
func (m *message) same(at int, name []byte) bool {
	for at < len(m.buf) {
		length := int(m.buf[at])
		if length >= 0xc0 {
			at = int(binary.BigEndian.Uint16(m.buf[at:])) & maxPointer
			continue
		}
		if length != int(name[0]) {
			return false
		}
		if length == 0 {
			return true
		}
		for i := 1; i <= length; i++ {
			if lower(m.buf[at+i]) != name[i] {
				return false
			}
		}
		at, name = at+1+length, name[1+length:]
	}
	return false
}

// put writes a set, all of it or nothing. The record at the index first comes first.
func (m *message) put(s section, first int) bool {
	before, known := len(m.buf), m.known
	s.set.records(first, func(data []byte) {
		if len(m.buf) <= m.limit {
			m.record(s.owner, s.set.typ, s.ttl, data)
		}
	})
	if len(m.buf) > m.limit {
		m.buf, m.known = m.buf[:before], known
		return false
	}
	return true
}

// record writes one record, whatever its size.
func (m *message) record(owner []byte, t rr.Type, ttl uint32, data []byte) {
	m.name(owner)
	m.buf = binary.BigEndian.AppendUint16(m.buf, uint16(t))
	m.buf = binary.BigEndian.AppendUint16(m.buf, dns.ClassINET)
	m.buf = binary.BigEndian.AppendUint32(m.buf, ttl)
	at := len(m.buf)
	m.buf = append(m.buf, 0, 0)
	m.data(t, data)
	binary.BigEndian.PutUint16(m.buf[at:], uint16(len(m.buf)-at-2))
}

// data writes rdata. Only in types of RFC 1035 names may be compressed (RFC 3597 §4).
func (m *message) data(t rr.Type, data []byte) {
	switch t {
	case rr.TypeNS, rr.TypeCNAME, rr.TypePTR:
		m.name(data)
	case rr.TypeMX:
		m.buf = append(m.buf, data[:2]...)
		m.name(data[2:])
	case rr.TypeSOA:
		m.name(data)
		data = data[skipName(data):]
		m.name(data)
		m.buf = append(m.buf, data[skipName(data):]...)
	default:
		m.buf = append(m.buf, data...)
	}
}

// ednsSize is what an OPT record without options takes.
const ednsSize = 11

// maxExplanation is how long an explanation gets, in octets: it has to fit into any answer.
const maxExplanation = 400

// edns writes the OPT record of an answer, with the high bits of the rcode, and an explanation if there is one and room
// for it (RFC 8914; its code is Other Error).
func (m *message) edns(r *request, rcode int, explanation string) {
	if !r.edns {
		return
	}
	m.buf = append(m.buf, 0, 0, byte(dns.TypeOPT), udpSize>>8, udpSize&0xff, byte(rcode>>4), 0, 0, 0, 0, 0)
	if r.dnssec {
		m.buf[len(m.buf)-4] = 1 << 7
	}
	m.count(3, 1)
	if len(explanation) > maxExplanation {
		explanation = strings.ToValidUTF8(explanation[:maxExplanation], "")
	}
	size := 6 + len(explanation)
	if explanation == "" || len(m.buf)+size > m.limit+ednsSize {
		return
	}
	binary.BigEndian.PutUint16(m.buf[len(m.buf)-2:], uint16(size))
	m.buf = binary.BigEndian.AppendUint16(m.buf, dns.EDNS0EDE)
	m.buf = binary.BigEndian.AppendUint16(m.buf, uint16(size-4))
	m.buf = binary.BigEndian.AppendUint16(m.buf, dns.ExtendedErrorCodeOther)
	m.buf = append(m.buf, explanation...)
}
