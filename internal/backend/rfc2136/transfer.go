package rfc2136

import (
	"context"
	"errors"
	"fmt"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// transfer reads the whole zone: the changes since known when the server has them and they fit, else all of it.
func (c *Client) transfer(ctx context.Context, zone dnsname.Name, known *backend.Known) (backend.Observed, error) {
	if known != nil {
		found, err := c.stream(ctx, zone, known)
		if err == nil || !errors.Is(err, errNoIncrement) {
			return found, err
		}
	}
	return c.stream(ctx, zone, nil)
}

// errNoIncrement says that the server has no usable increment, and that the zone is to be read from scratch.
var errNoIncrement = errors.New("the server has no increment to the known content")

// stream sends one request for a transfer and reads its answer to the end.
func (c *Client) stream(ctx context.Context, zone dnsname.Name, known *backend.Known) (backend.Observed, error) {
	var found backend.Observed
	err := c.talk(ctx, reading, func(link *conn) (err error) {
		m := new(dns.Msg)
		if known == nil {
			m.SetAxfr(zone.String())
		} else {
			m.SetIxfr(zone.String(), known.SOA.Serial, known.SOA.MName.String(), known.SOA.RName.String())
		}
		t := newTransfer(zone, known)
		if err := c.receiveTransfer(link, m, t); err != nil {
			return err
		}
		if found, err = t.observed(); err == nil && known != nil {
			c.learn(zone, t.increment(), found.Sets.Len())
		}
		return err
	})
	return found, err
}

// cheap is how many sets a whole zone may have that costs no more than some queries. Servers send a zone whole when the
// increment is larger (BIND's max-ixfr-ratio).
const cheap = 1000

// learn notes whether an IXFR was answered with a large zone: while it is, a few sets are rather read by queries.
func (c *Client) learn(zone dnsname.Name, increment bool, sets int) {
	if !increment && sets > cheap {
		c.dear.Store(zone, struct{}{})
	} else {
		c.dear.Delete(zone)
	}
}

// receiveTransfer feeds the messages of a transfer to t. A transfer that is left before its end makes the connection
// useless, since the rest may follow.
func (c *Client) receiveTransfer(link *conn, m *dns.Msg, t *transfer) error {
	wire, mac, err := link.key.pack(m, c.now())
	if err != nil {
		return err
	}
	if err := link.send(wire); err != nil {
		return err
	}
	meter := c.reads.Begin(maxTransfer, func() { _ = link.Close() })
	defer meter.End()
	v := verifier{signer: link.key, mac: mac, now: c.now}
	for !t.complete {
		wire, answer, err := link.receive()
		if ended := meter.Ended(); ended != nil {
			return &unfinishedError{backend.Exceeded(ended)}
		}
		if err != nil {
			return err
		}
		if answer.Id != m.Id {
			return errOtherAnswer
		}
		if err := v.check(wire, answer); err != nil {
			return &unfinishedError{err}
		}
		if err := meter.Take(int64(len(wire)), memoryOf(answer)); err != nil {
			return &unfinishedError{backend.Exceeded(err)}
		}
		if err := t.take(answer); err != nil {
			return &unfinishedError{err}
		}
	}
	return v.done()
}

// maxTransfer bounds a transfer, in octets: more than a zone of ten million records has.
const maxTransfer = 1 << 30

// recordCost is what a record costs in memory besides its text, in octets.
const recordCost = 256

// memoryOf returns what the records of a message cost while they are read: names are compressed in it, and not in
// memory.
func memoryOf(m *dns.Msg) int64 {
	var sum int64
	for _, section := range [][]dns.RR{m.Answer, m.Ns, m.Extra} {
		for _, record := range section {
			sum += recordCost + int64(dns.Len(record))
		}
	}
	return sum
}

// A transfer reads the records of an AXFR (RFC 5936 §2.2) or an IXFR (RFC 1995 §4) one by one. A zone is never shorter
// than what the server sent between the two SOAs: whatever ends early is an error.
type transfer struct {
	zone  dnsname.Name
	known *backend.Known     // nil for AXFR
	each  func(dns.RR) error // gets the records of an AXFR in the place of this; nil: nobody

	phase    phase
	complete bool
	same     bool // the server has nothing newer
	soa      *dns.SOA
	records  []dns.RR
	diffs    []difference
}

// difference is one step of an IXFR, to the SOA.
type difference struct {
	to         *dns.SOA
	gone, come []dns.RR
}

// phase is what a transfer expects next.
type phase uint8

const (
	atStart    phase = iota // the first SOA
	afterFirst              // the rest of a zone, or the first SOA of a difference
	inZone                  // records up to the closing SOA
	inGone                  // records that go, up to a SOA
	inCome                  // records that come, up to a SOA
)

func newTransfer(zone dnsname.Name, known *backend.Known) *transfer {
	return &transfer{zone: zone, known: known}
}

// take reads the records of one message.
func (t *transfer) take(m *dns.Msg) error {
	if m.Rcode != dns.RcodeSuccess {
		if t.known != nil && t.phase == atStart && (m.Rcode == dns.RcodeFormatError || m.Rcode == dns.RcodeNotImplemented) {
			return errNoIncrement
		}
		return readError(m.Rcode)
	}
	if len(m.Answer) == 0 {
		return t.broken("has an empty message")
	}
	for i, record := range m.Answer {
		if t.complete {
			return t.broken("goes on after its end")
		}
		if err := t.record(record, i == len(m.Answer)-1); err != nil {
			return err
		}
	}
	return nil
}

func (t *transfer) broken(how string) error {
	return unavailable(fmt.Errorf("the transfer %s", how))
}

// record reads one record; last says that the message ends with it.
func (t *transfer) record(record dns.RR, last bool) error {
	soa, isSOA := record.(*dns.SOA)
	switch t.phase {
	case atStart:
		if !isSOA {
			return t.broken("does not begin with the SOA")
		}
		return t.begin(soa, last)
	case afterFirst:
		if t.known != nil && isSOA && soa.Serial != t.soa.Serial {
			return t.step(soa)
		}
		t.phase = inZone
		fallthrough
	case inZone:
		if isSOA {
			return t.end(soa)
		}
		if t.each != nil {
			return t.each(record)
		}
		t.records = append(t.records, record)
	case inGone:
		if isSOA {
			t.phase, t.diffs[len(t.diffs)-1].to = inCome, soa
			return nil
		}
		d := &t.diffs[len(t.diffs)-1]
		d.gone = append(d.gone, record)
	case inCome:
		d := &t.diffs[len(t.diffs)-1]
		if isSOA && d.to.Serial == t.soa.Serial {
			return t.end(soa)
		}
		if isSOA {
			return t.step(soa)
		}
		d.come = append(d.come, record)
	}
	return nil
}

// begin reads the first SOA. To an IXFR it may be all there is: the zone has not changed.
func (t *transfer) begin(soa *dns.SOA, last bool) error {
	if name, err := dnsname.Parse(soa.Hdr.Name); err != nil || name != t.zone {
		return t.broken(fmt.Sprintf("is of %s", soa.Hdr.Name))
	}
	t.soa, t.phase = soa, afterFirst
	if t.each != nil {
		if err := t.each(soa); err != nil {
			return err
		}
	}
	if t.known == nil || !last {
		return nil
	}
	if soa.Serial == t.known.SOA.Serial {
		t.complete, t.same = true, true
		return nil
	}
	if !rr.SerialLess(t.known.SOA.Serial, soa.Serial) {
		return errNoIncrement // the server went back
	}
	return nil
}

// step begins a difference with the SOA that it starts from.
func (t *transfer) step(soa *dns.SOA) error {
	from := t.known.SOA.Serial
	if t.phase == inCome {
		from = t.diffs[len(t.diffs)-1].to.Serial
	}
	if soa.Serial != from {
		return t.broken(fmt.Sprintf("has a difference from serial %d instead of %d", soa.Serial, from))
	}
	t.phase, t.diffs = inGone, append(t.diffs, difference{})
	return nil
}

// end reads the closing SOA, which is the first one again.
func (t *transfer) end(soa *dns.SOA) error {
	if !dns.IsDuplicate(soa, t.soa) {
		return t.broken("ends with another SOA than it began with")
	}
	t.complete = true
	return nil
}

// observed returns what the transfer says the zone holds.
func (t *transfer) observed() (backend.Observed, error) {
	sets, err := rr.FromRRs([]dns.RR{t.soa})
	if err != nil {
		return backend.Observed{}, unavailable(err)
	}
	found := backend.Observed{}
	if found.SOA, err = soaOf(sets[0]); err != nil {
		return backend.Observed{}, err
	}
	switch {
	case t.same:
		found.Sets, found.Unchanged = t.known.Sets, true
	case t.diffs != nil:
		found.Sets, err = overlay(t.known.Sets, t.diffs)
	default:
		found.Sets, err = t.whole()
	}
	return found, err
}

// increment reports whether the answer says what changed, and not the whole zone.
func (t *transfer) increment() bool { return t.same || t.diffs != nil }

// whole returns the sets of a zone, without those that no client can write.
func (t *transfer) whole() (rr.Sets, error) {
	sets, err := rr.FromRRs(t.records)
	if err != nil {
		return rr.Sets{}, unavailable(err)
	}
	txn := rr.Sets{}.Txn()
	for _, set := range sets {
		if !set.Name.Under(t.zone) {
			return rr.Sets{}, t.broken(fmt.Sprintf("has a record of %s", set.Name))
		}
		if set.Type.Refused() == "" {
			txn.Put(set)
		}
	}
	return txn.Sets(), nil
}
