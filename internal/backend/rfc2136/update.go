package rfc2136

import (
	"context"
	"errors"
	"fmt"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Apply sends the batch as one UPDATE message. When the connection breaks before the answer the message is sent once
// more, which does no harm: if the first one was applied, the prerequisite on the old SOA keeps the second from it, and
// the answer is a conflict. Only a reading tells whose change it was then, since another writer may count to the same
// serial.
func (c *Client) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	result, err := c.apply(ctx, zone, batch)
	if err != nil {
		err = c.denied(ctx, zone, err)
		return backend.Result{}, fmt.Errorf("updating zone %s at %s: %w", zone, c.server, err)
	}
	return result, nil
}

func (c *Client) apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	if batch.Create {
		return backend.Result{}, errors.New("the DNS protocol cannot create a zone")
	}
	if len(batch.Changes) == 0 && batch.SOA == nil {
		return backend.Result{}, nil
	}
	if err := checkSerial(batch); err != nil {
		return backend.Result{}, err
	}
	m, err := message(zone, batch)
	if err != nil {
		return backend.Result{}, &backend.Error{Class: backend.ErrRejected, Err: err}
	}
	if err := c.talk(ctx, writing, func(link *conn) error { return c.update(link, m, zone, batch) }); err != nil {
		return backend.Result{}, err
	}
	if batch.SOA == nil {
		return backend.Result{}, nil
	}
	return backend.Result{SOA: *batch.SOA}, nil
}

// checkSerial refuses a serial that is not above the old one: servers answer NOERROR to it, apply the rest and choose
// another.
func checkSerial(batch backend.Batch) error {
	if batch.SOA == nil || batch.Expect == nil || rr.SerialLess(batch.Expect.Serial, batch.SOA.Serial) {
		return nil
	}
	return fmt.Errorf("serial %d does not come after %d (RFC 1982)", batch.SOA.Serial, batch.Expect.Serial)
}

// update sends a message and makes sense of its answer on the same connection.
func (c *Client) update(link *conn, m *dns.Msg, zone dnsname.Name, batch backend.Batch) error {
	rcode, err := c.send(link, m)
	if err != nil {
		return err
	}
	switch err := updateError(rcode); {
	case errors.Is(err, errPrerequisite):
		return c.conflict(link, zone, batch)
	case errors.Is(err, errPolicy):
		return c.refused(link, zone, batch)
	default:
		return err
	}
}

// send sends a copy of the message, since signing adds to it and it may be sent twice, and returns the answer's code.
func (c *Client) send(link *conn, m *dns.Msg) (int, error) {
	again := *m
	again.Id = dns.Id()
	resp, err := c.exchange(link, &again)
	if err != nil {
		return 0, err
	}
	return resp.Rcode, nil
}

// conflict says which serial the zone has instead of the expected one.
func (c *Client) conflict(link *conn, zone dnsname.Name, batch backend.Batch) error {
	found, err := c.soa(link, zone)
	if err != nil {
		return fmt.Errorf("reading the SOA after a conflict: %w", err)
	}
	err = fmt.Errorf("the zone has serial %d", found.Serial)
	if batch.Expect != nil {
		err = fmt.Errorf("%w where %d was expected", err, batch.Expect.Serial)
	}
	return &backend.Error{Class: backend.ErrConflict, Err: err}
}

// refused finds out whether REFUSED means all our updates or only what was in this one (BIND's update-policy): a
// message that sets the SOA to what it is changes nothing and is allowed or refused all the same.
func (c *Client) refused(link *conn, zone dnsname.Name, batch backend.Batch) error {
	words := rcodeName(dns.RcodeRefused)
	if len(batch.Changes) > 0 {
		probe := newUpdate(zone)
		if batch.Expect != nil && batch.SOA != nil {
			probe.Ns = []dns.RR{soaRecord(zone, *batch.Expect)}
		}
		rcode, err := c.send(link, probe)
		if err != nil {
			return err
		}
		if rcode == dns.RcodeSuccess {
			return &backend.Error{Class: backend.ErrRejected, Words: words, Err: errors.New(
				"the server allows updates of the zone, but not this change")}
		}
	}
	return notAuthorised(words, errors.New("the server does not let the key update the zone"))
}

func newUpdate(zone dnsname.Name) *dns.Msg {
	m := new(dns.Msg)
	m.SetUpdate(zone.String())
	m.Compress = true
	return m
}

// message makes the UPDATE of a batch: the old SOA as prerequisite (RFC 2136 §2.4.2), every removal before every
// addition, so that a CNAME finds its name empty, and the new SOA.
func message(zone dnsname.Name, batch backend.Batch) (*dns.Msg, error) {
	m := newUpdate(zone)
	if batch.Expect != nil {
		old := soaRecord(zone, *batch.Expect)
		old.Hdr.Ttl = 0
		m.Answer = append(m.Answer, old)
	}
	var apex []dns.RR
	for _, change := range batch.Changes {
		if change.Key.Type == rr.TypeNS && change.Key.Name == zone {
			values, err := apexNS(change)
			if err != nil {
				return nil, err
			}
			apex = append(apex, values...)
		} else if !change.Creates() || batch.Expect == nil {
			m.Ns = append(m.Ns, deletion(change.Key))
		}
	}
	m.Ns = append(m.Ns, apex...)
	for _, change := range batch.Changes {
		if change.Deletes() || change.Key.Type == rr.TypeNS && change.Key.Name == zone {
			continue
		}
		records, err := change.Want.RRs()
		if err != nil {
			return nil, err
		}
		m.Ns = append(m.Ns, records...)
	}
	if batch.SOA != nil {
		m.Ns = append(m.Ns, soaRecord(zone, *batch.SOA))
	}
	return m, nil
}

// apexNS changes the NS set of the apex value by value, additions first: the deletion of the whole set, and of its last
// value, is ignored there (RFC 2136 §3.4.2.4).
func apexNS(change plan.Change) ([]dns.RR, error) {
	if change.Deletes() {
		return nil, errors.New("a server keeps the last NS record at the apex of a zone")
	}
	records, err := change.Want.RRs()
	if err != nil {
		return nil, err
	}
	stays := map[string]bool{}
	for _, data := range change.Want.Data {
		stays[data] = true
	}
	old, err := change.Have.RRs()
	if err != nil {
		return nil, err
	}
	for i, data := range change.Have.Data {
		if !stays[data] {
			old[i].Header().Class, old[i].Header().Ttl = dns.ClassNONE, 0
			records = append(records, old[i])
		}
	}
	return records, nil
}

// deletion removes a whole set (RFC 2136 §2.5.2).
func deletion(key rr.Key) dns.RR {
	return &dns.ANY{Hdr: dns.RR_Header{Name: key.Name.String(), Rrtype: uint16(key.Type), Class: dns.ClassANY}}
}

func soaRecord(zone dnsname.Name, soa rr.SOA) *dns.SOA {
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: zone.String(), Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: soa.TTL},
		Ns:  soa.MName.String(), Mbox: soa.RName.String(),
		Serial: soa.Serial, Refresh: soa.Refresh, Retry: soa.Retry, Expire: soa.Expire, Minttl: soa.Minimum,
	}
}
