package embedded

import (
	"net/netip"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

// A responder turns messages into answers. It keeps what it needs for that from one to the next, so it takes one at a
// time.
type responder struct {
	request   request
	signature signature
	answer    answer
	message   message

	server   *Server // whose policies hold; nil: nothing is allowed to anybody
	client   netip.Addr
	opened   bool      // whether the server answered when the message came
	outgoing *outgoing // the answer is to be sent as a stream of messages

	received    []byte // the message
	explanation string // of the rcode, for people; "": there is none
	passed      []byte // the answer, of another server; nil: it is ours
}

// serve makes a responder one of a server. What it answers from then on is from a catalogue that is read afterwards:
// one of before the server had everything must not be taken for all that it has.
func (r *responder) serve(s *Server) {
	r.opened = s.Opened()
	if r.server == nil {
		r.server = s
		r.answer.admits = r.admits
	}
}

// admits reports whether who asks may have all of a zone.
func (r *responder) admits(z *Zone) bool {
	return r.server != nil && r.server.admits(z.name, asker{r.client, r.signature.valid()})
}

// respond returns the answer to a message, in the memory of buf where that suffices, or nil if it gets none, or not in
// one piece.
func (r *responder) respond(c *Catalogue, msg, buf []byte, stream bool) []byte {
	r.answer.reset()
	r.signature.clear()
	r.outgoing, r.received, r.explanation, r.passed = nil, msg, "", nil
	rcode := r.request.read(msg)
	if rcode == drop {
		return nil
	}
	if rcode == dns.RcodeSuccess && r.request.signed > 0 {
		rcode = r.verify(msg)
	}
	r.begin(buf, stream)
	if rcode == dns.RcodeSuccess {
		rcode = r.find(c, stream)
		switch {
		case r.outgoing != nil:
			return nil
		case r.passed != nil:
			r.answer.rcode = rcode
			return r.passed
		}
	}
	r.finish(rcode)
	return r.message.buf
}

// verify checks the request's signature. A server that is not open yet may lack keys too: it does not say that it knows
// none by which the signature holds, for clients give up then.
func (r *responder) verify(msg []byte) (rcode int) {
	if r.server == nil {
		return dns.RcodeNotAuth
	}
	rcode = r.signature.check(msg, r.request.signed, *r.server.keys.Load(), r.server.opts.Clock.Now())
	if rcode == dns.RcodeNotAuth && r.signature.key == nil && !r.opened {
		r.signature.clear()
		return r.unopened()
	}
	return rcode
}

// begin starts a message, with room for what ends it.
func (r *responder) begin(buf []byte, stream bool) {
	m := &r.message
	m.begin(&r.request, buf)
	m.limit = min(r.request.size, udpSize)
	if stream {
		m.limit = dns.MaxMsgSize - 1
	}
	if r.request.edns {
		m.limit -= ednsSize
	}
	m.limit -= r.signature.size()
}

// finish ends a message. It returns the MAC if it is signed.
func (r *responder) finish(rcode int) (mac []byte) {
	r.answer.rcode = rcode
	r.message.mark(0, rcode)
	r.message.edns(&r.request, rcode, r.explanation)
	return r.signature.sign(&r.message)
}

// find looks for the answer and writes it.
func (r *responder) find(c *Catalogue, stream bool) (rcode int) {
	if rcode = r.request.unanswerable(); rcode != dns.RcodeSuccess {
		return rcode
	}
	if r.server != nil && !r.opened {
		return r.unopened()
	}
	if r.request.update {
		return r.update()
	}
	if r.request.transfers() {
		return r.transfer(c, stream)
	}
	r.answer.ask(c, &r.request.name, r.request.typ)
	r.write()
	return r.answer.rcode
}

// short returns the same answer, truncated to nothing.
func (r *responder) short() []byte {
	m := &r.message
	flags := m.buf[2] & (flagAuthoritative >> 8)
	m.begin(&r.request, m.buf)
	m.mark(uint16(flags)<<8|flagTruncated, 0)
	r.finish(dns.RcodeSuccess)
	return m.buf
}

// unanswerable returns the rcode for questions that are never about a zone's data.
func (r *request) unanswerable() (rcode int) {
	if r.update {
		return dns.RcodeSuccess
	}
	switch uint16(r.typ) {
	case dns.TypeANY:
	case dns.TypeNone, dns.TypeOPT, dns.TypeTSIG, dns.TypeNXNAME: // the last by RFC 9824 §3.5
		return dns.RcodeFormatError
	case dns.TypeTKEY, dns.TypeMAILA, dns.TypeMAILB:
		return dns.RcodeNotImplemented
	}
	if r.class != dns.ClassINET {
		return dns.RcodeRefused
	}
	return dns.RcodeSuccess
}

// transfers reports whether the question is for a transfer.
func (r *request) transfers() bool {
	return r.typ == rr.Type(dns.TypeAXFR) || r.typ == rr.Type(dns.TypeIXFR)
}

// write puts the answer into the message. What belongs to it and does not fit leaves a message that says no more than
// that it is truncated: half a set is no set (RFC 2181 §9). Addresses are left out silently, unless a referral is of no
// use without.
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

// first returns which record of a set comes first. It changes from question to question, so that clients which take the
// first address spread over all.
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
