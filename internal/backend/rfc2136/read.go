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

// maxQueries is up to how many sets are asked for one by one; more are read with the zone.
const maxQueries = 200

// Read reads sets by queries where queries show them as they are, else by IXFR since ask.Known, else by AXFR.
func (c *Client) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	found, err := c.read(ctx, zone, ask)
	if err != nil {
		return backend.Observed{}, fmt.Errorf("reading zone %s from %s: %w", zone, c.server, err)
	}
	return found, nil
}

func (c *Client) read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	if ask.Keys == nil {
		return c.transfer(ctx, zone, ask.Known)
	}
	if len(ask.Keys) <= maxQueries && plain(zone, ask) {
		return c.query(ctx, zone, ask.Keys)
	}
	whole, err := c.transfer(ctx, zone, ask.Known)
	if err != nil {
		return backend.Observed{}, err
	}
	some := rr.Sets{}.Txn()
	for _, key := range ask.Keys {
		if set, ok := whole.Sets.Get(key); ok {
			some.Put(set)
		}
	}
	return backend.Observed{SOA: whole.SOA, Sets: some.Sets()}, nil
}

// plain reports whether queries show all the sets as they are. They do not at and below a cut, where a server refers to
// the child zone or, if it has that too, answers from it; nor below a DNAME; nor where a wildcard may stand in for a set.
// What is not known may hold any of these.
func plain(zone dnsname.Name, ask backend.Ask) bool {
	if len(ask.Keys) == 0 {
		return true
	}
	if ask.Known == nil {
		return false
	}
	asked := map[rr.Key]bool{}
	wildcards := map[dnsname.Name]bool{} // owners asked for
	for _, key := range ask.Keys {
		asked[key] = true
		if key.Name.IsWildcard() {
			wildcards[key.Name] = true
		}
	}
	held := func(key rr.Key) bool {
		_, ok := ask.Known.Sets.Get(key)
		return ok || asked[key]
	}
	for _, key := range ask.Keys {
		if key.Name == zone {
			continue
		}
		if held(rr.Key{Name: key.Name, Type: rr.TypeNS}) {
			return false
		}
		for above, ok := key.Name.Parent(); ok; above, ok = above.Parent() {
			if above != zone && held(rr.Key{Name: above, Type: rr.TypeNS}) || held(rr.Key{Name: above, Type: rr.TypeDNAME}) {
				return false
			}
			if star, err := wildcardOf(above); err != nil || star != key.Name && (wildcards[star] || anyAt(ask.Known.Sets, star)) {
				return false
			}
			if above == zone {
				break
			}
		}
	}
	return true
}

// wildcardOf returns "*." below a name.
func wildcardOf(n dnsname.Name) (dnsname.Name, error) {
	if n.IsRoot() {
		return dnsname.Parse("*.")
	}
	return dnsname.Parse("*." + n.String())
}

// anyAt reports whether there is any set at a name.
func anyAt(sets rr.Sets, n dnsname.Name) bool {
	for range sets.At(n) {
		return true
	}
	return false
}

// query asks for the SOA and then for each set, all at once on one connection (RFC 7766 §6.2.1.1); answers may come in
// any order.
func (c *Client) query(ctx context.Context, zone dnsname.Name, keys []rr.Key) (backend.Observed, error) {
	keys = append([]rr.Key{{Name: zone, Type: rr.TypeSOA}}, keys...)
	var found backend.Observed
	err := c.talk(ctx, func(link *conn) error {
		sets, err := c.ask(link, keys)
		if err != nil {
			return err
		}
		some := rr.Sets{}.Txn()
		for _, set := range sets {
			if set.Type == rr.TypeSOA {
				if found.SOA, err = soaOf(set); err != nil {
					return err
				}
				continue
			}
			some.Put(set)
		}
		found.Sets = some.Sets()
		if found.SOA == (rr.SOA{}) {
			return &backend.Error{Class: backend.ErrNoZone, Err: errors.New("the server shows no SOA for the zone")}
		}
		return nil
	})
	return found, err
}

// soa asks for the SOA only.
func (c *Client) soa(link *conn, zone dnsname.Name) (rr.SOA, error) {
	sets, err := c.ask(link, []rr.Key{{Name: zone, Type: rr.TypeSOA}})
	if err != nil {
		return rr.SOA{}, err
	}
	if len(sets) == 0 {
		return rr.SOA{}, &backend.Error{Class: backend.ErrNoZone, Err: errors.New("the server shows no SOA for the zone")}
	}
	return soaOf(sets[0])
}

// ask sends one query for each key and returns the sets that exist.
func (c *Client) ask(link *conn, keys []rr.Key) ([]rr.Set, error) {
	wires := make([][]byte, len(keys))
	open := make(map[uint16]question, len(keys))
	first := dns.Id()
	for i, key := range keys {
		m := new(dns.Msg)
		m.SetQuestion(key.Name.String(), uint16(key.Type))
		m.RecursionDesired = false
		m.Id = first + uint16(i)
		wire, mac, err := c.key.pack(m, c.now())
		if err != nil {
			return nil, err
		}
		wires[i] = wire
		open[m.Id] = question{key, verifier{signer: &c.key, mac: mac, now: c.now}}
	}
	if err := link.send(wires...); err != nil {
		return nil, err
	}
	var records []dns.RR
	for len(open) > 0 {
		wire, m, err := link.receive()
		if err != nil {
			return nil, err
		}
		q, ok := open[m.Id]
		if !ok {
			return nil, errOtherAnswer
		}
		delete(open, m.Id)
		if err := q.verifier.check(wire, m); err != nil {
			return nil, &unfinishedError{err}
		}
		some, err := q.records(m)
		if err != nil {
			return nil, &unfinishedError{err}
		}
		records = append(records, some...)
	}
	return rr.FromRRs(records)
}

// A question is one query that waits for its answer.
type question struct {
	key      rr.Key
	verifier verifier
}

// records returns what an answer holds of the set that was asked for; other records are those that an alias leads to.
func (q *question) records(m *dns.Msg) ([]dns.RR, error) {
	if m.Rcode != dns.RcodeNameError {
		if err := readError(m.Rcode); err != nil {
			return nil, err
		}
	}
	if !m.Authoritative || m.Truncated {
		return nil, unavailable(fmt.Errorf("the server's answer for %s is not authoritative", q.key))
	}
	var records []dns.RR
	for _, record := range m.Answer {
		h := record.Header()
		if h.Rrtype != uint16(q.key.Type) {
			continue
		}
		if name, err := dnsname.Parse(h.Name); err != nil || name != q.key.Name {
			continue
		}
		records = append(records, record)
	}
	return records, nil
}

// soaOf reads a set of type SOA.
func soaOf(set rr.Set) (rr.SOA, error) {
	if len(set.Data) != 1 {
		return rr.SOA{}, unavailable(fmt.Errorf("the server shows %d SOA records", len(set.Data)))
	}
	soa, err := rr.ParseSOA(set.Data[0])
	if err != nil {
		return rr.SOA{}, unavailable(fmt.Errorf("reading the zone's SOA: %w", err))
	}
	soa.TTL = set.TTL
	return soa, nil
}
