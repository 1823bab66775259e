package embedded

import (
	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

// An outgoing transfer is one moment of a zone, or the way to it.
type outgoing struct {
	zone  *Zone
	steps []*step // nil: the whole zone
	kind  string
}

// kind names the transfer that is asked for, for the Observer.
func (r *request) kind() string {
	if r.typ == rr.Type(dns.TypeAXFR) {
		return "axfr"
	}
	return "ixfr"
}

// transfer answers the question for a transfer (RFC 5936 §2.2, RFC 1995 §4): in one message what fits into one, else it
// leaves the responder with what is outgoing.
func (r *responder) transfer(c *Catalogue, stream bool) (rcode int) {
	q := &r.request
	z := c.zones.Get(q.name.wire)
	if stream && r.isReplica() && r.asksForListing() {
		z = r.listing()
	}
	outcome := TransferRefused
	switch {
	case z == nil:
		rcode, outcome = dns.RcodeNotAuth, TransferUnavailable
	case !r.admits(z) || q.typ == rr.Type(dns.TypeAXFR) && !stream: // AXFR over UDP does not exist (RFC 5936 §4.2)
		rcode = dns.RcodeRefused
	case q.typ == rr.Type(dns.TypeAXFR):
		r.outgoing = &outgoing{zone: z, kind: q.kind()}
		return dns.RcodeSuccess
	default:
		return r.increment(z, stream)
	}
	r.observe(q.kind(), outcome)
	return rcode
}

func (r *responder) observe(kind, outcome string) {
	if r.server != nil {
		r.server.opts.Observer.Transferred(kind, outcome)
	}
}

// increment answers an IXFR: with the SOA alone if the client has that serial or a later one (RFC 1995 §2), with the
// way from its serial to now, or with the whole zone if that way is not known or longer. Over UDP what does not fit is
// the SOA alone, upon which the client comes over TCP.
func (r *responder) increment(z *Zone, stream bool) (rcode int) {
	q, now := &r.request, z.version()
	steps, known := z.history.since(q.serial)
	current := q.serial == z.soa.Serial || rr.SerialLess(z.soa.Serial, q.serial)
	switch {
	case current:
		r.observe(q.kind(), TransferCurrent)
	case stream:
		r.outgoing = &outgoing{zone: z, kind: q.kind()}
		if known {
			r.outgoing.steps = steps
		}
		return dns.RcodeSuccess
	case known:
		w := newWriter(&r.message, nil)
		if w.steps(z, steps) == nil {
			r.message.mark(flagAuthoritative, 0)
			r.observe(q.kind(), TransferIncrement)
			return dns.RcodeSuccess
		}
		r.begin(r.message.buf, false)
	}
	r.message.mark(flagAuthoritative, 0)
	w := newWriter(&r.message, nil)
	_ = w.set(z.path.wire, &now.soa) // one record fits
	return dns.RcodeSuccess
}

// A writer writes records one after the other into as many messages as they take.
type writer struct {
	m    *message
	next func() error // sends the message and begins another one; nil: there is one message only
	base int          // how many names of the message stay known from one set to the next

	written int // records in this message
}

func newWriter(m *message, next func() error) *writer {
	return &writer{m: m, next: next, base: m.known}
}

// softLimit is how large a message of a transfer gets if no single record is larger, in octets: names are compressed up
// to there (RFC 1035 §4.1.4).
const softLimit = maxPointer

type tooLongError struct{}

func (tooLongError) Error() string { return "the answer does not fit into one message" }

// set writes the records of a set.
func (w *writer) set(owner []byte, s *set) (err error) {
	w.m.known = min(w.m.known, w.base)
	s.records(0, func(data []byte) {
		if err == nil {
			err = w.record(owner, s, data)
		}
	})
	return err
}

func (w *writer) record(owner []byte, s *set, data []byte) error {
	m := w.m
	for {
		before, known := len(m.buf), m.known
		m.record(owner, s.typ, s.ttl, data)
		if len(m.buf) <= m.limit && (len(m.buf) <= softLimit || w.written == 0 || w.next == nil) {
			m.count(1, 1)
			if w.written++; w.written == 1 {
				w.base = min(m.known, len(m.names)/2)
			}
			return nil
		}
		m.buf, m.known = m.buf[:before], known
		if w.next == nil || w.written == 0 {
			return tooLongError{}
		}
		if err := w.next(); err != nil {
			return err
		}
		w.written, w.base = 0, 0
	}
}

// steps writes an increment: the new SOA, for each step the SOA that it starts from, what goes, the SOA that it leads
// to and what comes, and the new SOA (RFC 1995 §4).
func (w *writer) steps(z *Zone, steps []*step) error {
	now := z.version()
	apex := z.path.wire
	err := w.set(apex, &now.soa)
	for _, s := range steps {
		for _, half := range [...]struct {
			soa  *set
			sets []owned
		}{{&s.from.soa, s.gone}, {&s.to.soa, s.come}} {
			if err == nil {
				err = w.set(apex, half.soa)
			}
			for i := range half.sets {
				if err == nil {
					err = w.set([]byte(half.sets[i].owner), &half.sets[i].set)
				}
			}
		}
	}
	if err != nil {
		return err
	}
	return w.set(apex, &now.soa)
}

// zone writes a zone: its SOA, everything else, its SOA (RFC 5936 §2.2).
func (w *writer) zone(z *Zone) error {
	now := z.version()
	err := w.set(z.path.wire, &now.soa)
	z.names.All(func(n *node) bool {
		for i := range n.sets {
			if err == nil && n.sets[i].typ != rr.TypeSOA {
				err = w.set([]byte(n.name), &n.sets[i])
			}
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	return w.set(z.path.wire, &now.soa)
}
