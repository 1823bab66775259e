package embedded

import (
	"cmp"
	"encoding/binary"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

const headerSize = 12 // octets (RFC 1035 §4.1.1)

// The bits of the header's second word.
const (
	flagResponse      = 1 << 15
	flagAuthoritative = 1 << 10
	flagTruncated     = 1 << 9
	flagRecursion     = 1 << 8 // desired
	flagNoChecking    = 1 << 4
	opcodeMask        = 15 << 11
)

// Sizes of answers over UDP, in octets: what everybody takes (RFC 1035 §4.2.1), and what passes every network without
// being cut into fragments (DNS Flag Day 2020).
const (
	plainSize = 512
	udpSize   = 1232
)

// A request is a message that came, as far as its answer depends on it.
type request struct {
	id, flags uint16
	question  []byte // as it came; nil if there is none that can be repeated
	name      path
	typ       rr.Type
	class     uint16
	edns      bool
	dnssec    bool   // the DO bit, which is repeated (RFC 3225 §3)
	size      int    // what the client takes over UDP
	serial    uint32 // of an IXFR: what the client has
	signed    int    // where the TSIG record begins in the message; 0: there is none
	update    bool   // it is an UPDATE (RFC 2136), and the question its zone

	buf [maxName]byte // of name
}

// drop says that a message gets no answer.
const drop = -1

// read reads a message. It returns the rcode to answer with if it is not a question that can be looked up, or drop.
func (r *request) read(msg []byte) (rcode int) {
	*r = request{size: plainSize}
	if len(msg) < headerSize {
		return drop
	}
	r.id, r.flags = binary.BigEndian.Uint16(msg), binary.BigEndian.Uint16(msg[2:])
	if r.flags&flagResponse != 0 {
		return drop // answering answers makes a loop
	}
	switch r.flags & opcodeMask {
	case dns.OpcodeQuery << 11:
	case dns.OpcodeUpdate << 11:
		r.update = true
	default:
		return dns.RcodeNotImplemented
	}
	var counts [4]int
	for i := range counts {
		counts[i] = int(binary.BigEndian.Uint16(msg[4+2*i:]))
	}
	rest := msg[headerSize:]
	for range counts[0] {
		if rest = r.readQuestion(rest); rest == nil {
			return dns.RcodeFormatError
		}
	}
	// What has no meaning is read to its end all the same: the answer has an OPT if the message has (RFC 6891 §6.1.1).
	rcode = r.readRest(msg, len(msg)-len(rest), counts[1]+counts[2], counts[3])
	if counts[0] != 1 { // more than one question has no meaning (RFC 9619 §4); none leaves nothing to answer
		r.question = nil
		rcode = cmp.Or(rcode, dns.RcodeFormatError)
	}
	if counts[1] != 0 && !r.update {
		rcode = cmp.Or(rcode, dns.RcodeFormatError)
	}
	return rcode
}

// readQuestion returns what follows the question, nil if it cannot be read.
func (r *request) readQuestion(b []byte) (rest []byte) {
	n := r.name.read(r.buf[:], b)
	if n == 0 || len(b) < n+4 {
		r.question = nil
		return nil
	}
	r.question = b[:n+4]
	r.typ, r.class = rr.Type(binary.BigEndian.Uint16(b[n:])), binary.BigEndian.Uint16(b[n+2:])
	return b[n+4:]
}

// readRest reads the records after the question: so many of the sections before the additional one, and so many there.
// An IXFR has the client's SOA in the authority section (RFC 1995 §3), other questions have nothing there. The records
// of an update are read by who carries it out.
func (r *request) readRest(msg []byte, at, before, additional int) (rcode int) {
	wanted := 0
	if r.typ == rr.Type(dns.TypeIXFR) {
		wanted = 1
	}
	wrong := before != wanted && !r.update
	for i := range before + additional {
		rec, rest, ok := cutRecord(msg[at:])
		if !ok || r.signed > 0 { // a TSIG is the last record (RFC 8945 §5.1)
			return dns.RcodeFormatError
		}
		switch {
		case i < before && r.update:
		case i < before:
			wrong = wrong || !r.readSerial(rec)
		case rec.typ == dns.TypeOPT:
			if rcode = r.readEDNS(rec); rcode != dns.RcodeSuccess {
				return rcode
			}
		case rec.typ == dns.TypeTSIG:
			r.signed = at
		}
		at = len(msg) - len(rest)
	}
	if at < len(msg) || wrong {
		return dns.RcodeFormatError
	}
	return dns.RcodeSuccess
}

// soaNumbers is what an SOA has after its names, in octets.
const soaNumbers = 20

// readSerial takes the serial that a client has from the SOA that comes with an IXFR. Nothing else of it matters.
func (r *request) readSerial(rec record) bool {
	n := skipName(rec.data)
	m := skipName(rec.data[n:])
	if rec.typ != dns.TypeSOA || n == 0 || m == 0 || len(rec.data) != n+m+soaNumbers {
		return false
	}
	r.serial = binary.BigEndian.Uint32(rec.data[n+m:])
	return true
}

// readEDNS reads an OPT record (RFC 6891 §6.1). Options are checked for their lengths and otherwise ignored, as unknown
// ones must be.
func (r *request) readEDNS(rec record) (rcode int) {
	if r.edns || !rec.root {
		return dns.RcodeFormatError
	}
	r.edns = true
	r.dnssec = rec.ttl&(1<<15) != 0
	r.size = max(plainSize, int(rec.class))
	if version := rec.ttl >> 16 & 0xff; version != 0 {
		return dns.RcodeBadVers
	}
	for b := rec.data; len(b) > 0; {
		if len(b) < 4 || len(b) < 4+int(binary.BigEndian.Uint16(b[2:])) {
			return dns.RcodeFormatError
		}
		b = b[4+int(binary.BigEndian.Uint16(b[2:])):]
	}
	return dns.RcodeSuccess
}

// A record is one of a request, not looked into.
type record struct {
	root       bool // its name is the root's
	typ, class uint16
	ttl        uint32
	data       []byte
}

// cutRecord takes one record from the start of b.
func cutRecord(b []byte) (rec record, rest []byte, ok bool) {
	n := skipName(b)
	if n == 0 || len(b) < n+10 {
		return record{}, nil, false
	}
	rec = record{
		root: n == 1, typ: binary.BigEndian.Uint16(b[n:]), class: binary.BigEndian.Uint16(b[n+2:]),
		ttl: binary.BigEndian.Uint32(b[n+4:]),
	}
	end := n + 10 + int(binary.BigEndian.Uint16(b[n+8:]))
	if len(b) < end {
		return record{}, nil, false
	}
	rec.data = b[n+10 : end]
	return rec, b[end:], true
}

// skipName returns how many octets a name takes that may end in a pointer, 0 if it is none.
func skipName(b []byte) int {
	for at := 0; at < len(b) && at < maxName; {
		switch length := int(b[at]); {
		case length == 0:
			return at + 1
		case length > maxLabel && (length < 0xc0 || at+1 == len(b)):
			return 0
		case length > maxLabel:
			return at + 2
		default:
			at += 1 + length
		}
	}
	return 0
}
