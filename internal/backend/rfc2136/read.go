package rfc2136

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// maxQueries is up to how many sets are asked for one by one; more are read with the zone.
const maxQueries = 100

// Read reads sets by IXFR since ask.Known, one message however many they are; where the server has no increments by
// queries, if those show them as they are; else by AXFR. Where transfers are denied, or too large, it is by queries.
func (c *Client) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	found, err := c.read(ctx, zone, ask)
	if err != nil {
		err = c.denied(ctx, zone, err)
		return backend.Observed{}, fmt.Errorf("reading zone %s from %s: %w", zone, c.server, err)
	}
	return found, nil
}

func (c *Client) read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	if ask.Keys == nil {
		return c.transfer(ctx, zone, ask.Known)
	}
	_, dear := c.dear.Load(zone)
	if len(ask.Keys) <= maxQueries && (ask.Known == nil || dear) {
		found, err := c.query(ctx, zone, ask.Keys, false)
		if !errors.Is(err, errObscure) {
			return found, err
		}
	}
	whole, err := c.transfer(ctx, zone, ask.Known)
	switch backend.Class(err) {
	case backend.ErrNotAuthorised, backend.ErrNoZone, backend.ErrTooLarge:
		if found, unknown := c.query(ctx, zone, ask.Keys, true); unknown == nil {
			return found, nil
		}
	}
	if err != nil {
		return backend.Observed{}, err
	}
	return backend.Observed{SOA: whole.SOA, Sets: whole.Sets.Only(ask.Keys)}, nil
}

// errObscure says that queries do not show what the zone holds, and that it is to be transferred.
var errObscure = errors.New("a query does not show the content of the zone")

// query asks for the SOA, for each set, and for what may stand before a set: a cut at its name or above, where the
// server refers to the child zone or answers from it; and wildcards, which may stand in for a set that is not there. It
// ends with the SOA once more: if that has changed, so may the sets have, and they are read again. If it is to probe,
// it finds out whose a set is that a wildcard has, too.
func (c *Client) query(ctx context.Context, zone dnsname.Name, keys []rr.Key, probe bool) (backend.Observed, error) {
	asked := []rr.Key{{Name: zone, Type: rr.TypeSOA}}
	seen := map[rr.Key]bool{asked[0]: true}
	want := func(key rr.Key) {
		if !seen[key] {
			seen[key] = true
			asked = append(asked, key)
		}
	}
	for _, key := range keys {
		want(key)
		for _, name := range below(zone, key.Name) {
			want(rr.Key{Name: name, Type: rr.TypeNS})
		}
		for _, star := range wildcards(zone, key.Name) {
			want(rr.Key{Name: star, Type: key.Type})
		}
	}
	asked = append(asked, asked[0])
	var answers map[rr.Key]answer
	if err := c.talk(ctx, reading, func(link *conn) (err error) {
		answers, err = c.ask(link, asked)
		for n := 0; err == nil && answers[asked[0]].torn && n < rereads; n++ {
			answers, err = c.ask(link, asked)
		}
		if err == nil && probe {
			err = c.probe(link, zone, keys, answers)
		}
		return err
	}); err != nil {
		return backend.Observed{}, err
	}
	return judge(zone, keys, answers)
}

// rereads is how often sets are read again because the zone has changed meanwhile, before it is transferred.
const rereads = 2

// judge makes sense of the answers to query.
func judge(zone dnsname.Name, keys []rr.Key, answers map[rr.Key]answer) (backend.Observed, error) {
	apex := answers[rr.Key{Name: zone, Type: rr.TypeSOA}]
	if apex.torn {
		return backend.Observed{}, errObscure
	}
	if len(apex.set.Data) == 0 {
		return backend.Observed{}, &backend.Error{Class: backend.ErrNoZone, Err: errors.New(
			"the server returns no SOA for the zone")}
	}
	soa, err := soaOf(apex.set)
	if err != nil {
		return backend.Observed{}, err
	}
	some := rr.Sets{}.Txn()
	for _, key := range keys {
		got := answers[key]
		for _, name := range below(zone, key.Name) {
			if cut := answers[rr.Key{Name: name, Type: rr.TypeNS}]; cut.obscure || len(cut.set.Data) > 0 {
				return backend.Observed{}, errObscure
			}
		}
		if got.obscure {
			return backend.Observed{}, errObscure
		}
		if len(got.set.Data) == 0 {
			continue
		}
		if !got.own && doubled(zone, key, answers) {
			return backend.Observed{}, errObscure
		}
		some.Put(got.set)
	}
	return backend.Observed{SOA: soa, Sets: some.Sets()}, nil
}

// doubled reports whether an answer may be that of a wildcard.
func doubled(zone dnsname.Name, key rr.Key, answers map[rr.Key]answer) bool {
	return slices.ContainsFunc(wildcards(zone, key.Name), func(star dnsname.Name) bool {
		double := answers[rr.Key{Name: star, Type: key.Type}]
		return double.obscure || slices.Equal(double.set.Data, answers[key].set.Data)
	})
}

// probe finds out whether sets that a wildcard has are at their own names, too: prerequisites know no wildcards (RFC
// 2136 §3.2), and an UPDATE of nothing else changes nothing. Whoever may not update learns nothing.
func (c *Client) probe(link *conn, zone dnsname.Name, keys []rr.Key, answers map[rr.Key]answer) error {
	for _, key := range keys {
		got := answers[key]
		if len(got.set.Data) == 0 || !doubled(zone, key, answers) {
			continue
		}
		m := newUpdate(zone)
		m.Answer = []dns.RR{deletion(key)} // which looks like "the set exists" (§2.4.1)
		rcode, err := c.send(link, m)
		switch {
		case err != nil:
			return err
		case rcode == dns.RcodeSuccess:
			got.own = true
		case rcode == dns.RcodeNXRrset:
			got.set = rr.Set{}
		}
		answers[key] = got
	}
	return nil
}

// below returns a name and those above it, up to but without the zone's.
func below(zone, name dnsname.Name) []dnsname.Name {
	var names []dnsname.Name
	for name.Below(zone) {
		names = append(names, name)
		name, _ = name.Parent()
	}
	return names
}

// wildcards returns the names of the wildcards that may stand in for sets at a name (RFC 4592 §3.3.1).
func wildcards(zone, name dnsname.Name) []dnsname.Name {
	var stars []dnsname.Name
	for above, ok := name.Parent(); ok && above.Under(zone); above, ok = above.Parent() {
		star, err := dnsname.Parse("*." + strings.TrimPrefix(above.String(), "."))
		if err == nil && star != name { // too long a name has no wildcard
			stars = append(stars, star)
		}
	}
	return stars
}

// soaOf reads a set of type SOA.
func soaOf(set rr.Set) (rr.SOA, error) {
	if len(set.Data) != 1 {
		return rr.SOA{}, unavailable(fmt.Errorf("the server returns %d SOA records", len(set.Data)))
	}
	soa, err := rr.ParseSOA(set.Data[0])
	if err != nil {
		return rr.SOA{}, unavailable(fmt.Errorf("reading the zone's SOA: %w", err))
	}
	soa.TTL = set.TTL
	return soa, nil
}
