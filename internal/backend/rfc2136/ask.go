package rfc2136

import (
	"errors"
	"fmt"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// An answer is what a server said about one set.
type answer struct {
	set     rr.Set // zero when there is none
	obscure bool   // the server referred to another zone, a DNAME is in the way, or it failed at this one question
	torn    bool   // it was asked for twice, and has changed meanwhile
	own     bool   // it is at its name, whatever a wildcard has
}

// soa asks for the SOA only.
func (c *Client) soa(link *conn, zone dnsname.Name) (rr.SOA, error) {
	key := rr.Key{Name: zone, Type: rr.TypeSOA}
	answers, err := c.ask(link, []rr.Key{key})
	if err != nil {
		return rr.SOA{}, err
	}
	if len(answers[key].set.Data) == 0 {
		return rr.SOA{}, &backend.Error{Class: backend.ErrNoZone, Err: errors.New("the server returns no SOA for the zone")}
	}
	return soaOf(answers[key].set)
}

// A question is one query that waits for its answer.
type question struct {
	key      rr.Key
	verifier verifier
}

// window is how many queries are under way on one connection; servers stop reading at some number.
const window = 64

// ask sends one query for each of keys, without waiting for the answers to earlier ones (RFC 7766 §6.2.1.1); they may
// come in any order.
func (c *Client) ask(link *conn, keys []rr.Key) (map[rr.Key]answer, error) {
	answers := make(map[rr.Key]answer, len(keys))
	for len(keys) > 0 {
		n := min(window, len(keys))
		open, err := c.sendQueries(link, keys[:n])
		if err != nil {
			return nil, err
		}
		for len(open) > 0 {
			if err := receiveAnswer(link, open, answers); err != nil {
				return nil, err
			}
		}
		keys = keys[n:]
	}
	return answers, nil
}

func (c *Client) sendQueries(link *conn, keys []rr.Key) (map[uint16]question, error) {
	wires := make([][]byte, len(keys))
	open := make(map[uint16]question, len(keys))
	first := dns.Id()
	for i, key := range keys {
		m := new(dns.Msg)
		m.SetQuestion(key.Name.String(), uint16(key.Type))
		m.RecursionDesired = false
		m.Id = first + uint16(i)
		wire, mac, err := link.key.pack(m, c.now())
		if err != nil {
			return nil, err
		}
		wires[i] = wire
		open[m.Id] = question{key, verifier{signer: link.key, mac: mac, now: c.now}}
	}
	return open, link.send(wires...)
}

// receiveAnswer reads the next answer, to any of the open questions.
func receiveAnswer(link *conn, open map[uint16]question, answers map[rr.Key]answer) error {
	wire, m, err := link.receive()
	if err != nil {
		return err
	}
	q, ok := open[m.Id]
	if !ok {
		return errOtherAnswer
	}
	delete(open, m.Id)
	if err := q.verifier.check(wire, m); err != nil {
		return &unfinishedError{err}
	}
	got, err := q.read(m)
	if err != nil {
		return &unfinishedError{err}
	}
	first, again := answers[q.key]
	got.torn = again && !first.set.Equal(got.set)
	answers[q.key] = got
	return nil
}

// read returns what an answer holds of the set that was asked for; other records are those that an alias leads to.
// SERVFAIL may be about the question: BIND follows a CNAME that leads to itself for a while, and then says so.
func (q *question) read(m *dns.Msg) (answer, error) {
	if m.Rcode == dns.RcodeServerFailure && q.key.Type != rr.TypeSOA {
		return answer{obscure: true}, nil
	}
	if m.Rcode != dns.RcodeNameError {
		if err := readError(m.Rcode); err != nil {
			return answer{}, err
		}
	}
	if m.Truncated {
		return answer{}, unavailable(fmt.Errorf("the server's answer for %s is cut off", q.key))
	}
	got := answer{obscure: !m.Authoritative}
	var records []dns.RR
	for _, record := range m.Answer {
		h := record.Header()
		name, err := dnsname.Parse(h.Name)
		mine := err == nil && name == q.key.Name
		if mine && h.Rrtype == uint16(q.key.Type) {
			records = append(records, record)
		}
		if !mine && h.Rrtype == dns.TypeDNAME {
			got.obscure = true
		}
	}
	sets, err := rr.FromRRs(records)
	if err != nil {
		return answer{}, unavailable(err)
	}
	if len(sets) > 0 {
		got.set = sets[0]
	}
	return got, nil
}
