package embedded

import (
	"github.com/miekg/dns"
)

// A responder turns messages into answers. It keeps what it needs for that from one to the next, so it takes one at a time.
type responder struct {
	request request
	answer  answer
	message message
}

// respond returns the answer to a message, in the memory of buf where that suffices, or nil if it gets none.
func (r *responder) respond(c *Catalogue, msg, buf []byte, stream bool) []byte {
	r.answer.reset()
	rcode := r.request.read(msg)
	if rcode == drop {
		return nil
	}
	m := &r.message
	m.begin(&r.request, buf)
	m.limit = min(r.request.size, udpSize)
	if stream {
		m.limit = dns.MaxMsgSize - 1
	}
	if r.request.edns {
		m.limit -= ednsSize
	}
	if rcode == dns.RcodeSuccess {
		if rcode = r.request.unanswerable(); rcode == dns.RcodeSuccess {
			r.answer.ask(c, &r.request.name, r.request.typ)
			r.write()
			rcode = r.answer.rcode
		}
	}
	m.mark(0, rcode)
	m.edns(&r.request, rcode)
	return m.buf
}

// short returns the same answer, truncated to nothing.
func (r *responder) short() []byte {
	m := &r.message
	flags := m.buf[2] & (flagAuthoritative >> 8)
	m.begin(&r.request, m.buf)
	m.mark(uint16(flags)<<8|flagTruncated, dns.RcodeSuccess)
	m.edns(&r.request, dns.RcodeSuccess)
	return m.buf
}

// unanswerable returns the rcode for questions that are never about a zone's data.
func (r *request) unanswerable() (rcode int) {
	switch uint16(r.typ) {
	case dns.TypeANY:
	case dns.TypeNone, dns.TypeOPT, dns.TypeTSIG:
		return dns.RcodeFormatError
	case dns.TypeAXFR, dns.TypeIXFR:
		return dns.RcodeRefused
	case dns.TypeTKEY, dns.TypeMAILA, dns.TypeMAILB:
		return dns.RcodeNotImplemented
	}
	if r.class != dns.ClassINET {
		return dns.RcodeRefused
	}
	return dns.RcodeSuccess
}

// write puts the answer into the message. What belongs to it and does not fit leaves a message that says no more than that it
// is truncated: half a set is no set (RFC 2181 §9). Addresses are left out silently, unless a referral is of no use without.
func (r *responder) write() {
	m, a := &r.message, &r.answer
	if a.authoritative {
		m.mark(flagAuthoritative, 0)
	}
	empty := len(m.buf)
	for i, sections := range [...][]section{a.answer, a.authority} {
		for _, s := range sections {
			if !m.put(s, r.first(s)) {
				m.truncate(empty)
				return
			}
			m.count(1+i, int(s.set.count))
		}
	}
	for _, must := range [...]bool{true, false} {
		for _, s := range a.glue {
			switch {
			case s.must != must:
			case m.put(s, r.first(s)):
				m.count(3, int(s.set.count))
			case must:
				m.mark(flagTruncated, 0)
				return
			}
		}
	}
}

// first returns which record of a set comes first. It changes from question to question, so that clients which take the first
// address spread over all.
func (r *responder) first(s section) int {
	if s.set.count < 2 {
		return 0
	}
	return int(r.request.id) % int(s.set.count)
}

// truncate takes everything out that was written after the question.
func (m *message) truncate(empty int) {
	m.buf = m.buf[:empty]
	clear(m.buf[6:headerSize])
	m.mark(flagTruncated, 0)
}
