package rr

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// RRs returns the records of the set for a message.
func (s Set) RRs() ([]dns.RR, error) {
	rrs := make([]dns.RR, len(s.Data))
	for i, data := range s.Data {
		r, err := newRR(s.Key(), s.TTL, data)
		if err != nil {
			return nil, fmt.Errorf("making a record of %s: %w", s.Key(), err)
		}
		rrs[i] = r
	}
	return rrs, nil
}

// newRR makes one record of canonical data.
func newRR(k Key, ttl uint32, data string) (dns.RR, error) {
	h := dns.RR_Header{Name: k.Name.String(), Rrtype: uint16(k.Type), Class: dns.ClassINET, Ttl: ttl}
	c := newCodec(k.Type)
	if err := c.parse(data); err != nil {
		return nil, c.explain(data, err)
	}
	h.Rdlength = uint16(len(c.wire))
	if k.Type.has(raw) && (bytes.IndexByte(c.wire, '\\') >= 0 || len(c.wire) > 1024) {
		return &dns.RFC3597{Hdr: h, Rdata: hex.EncodeToString(c.wire)}, nil
	}
	r, _, err := dns.UnpackRRWithHeader(h, c.wire, 0)
	return r, err
}

// FromRRs groups records of a message or a transfer into canonical sets, in
// canonical order. Records of a set with different TTLs get the lowest (RFC
// 2181 §5.2). Data that ParseData would not take, which a server may hold all
// the same, does not stop the reading of a zone: it is kept in the form of RFC
// 3597, or if miekg/dns cannot write what it read, as that prints it. FromRRs
// fails on a class other than IN.
func FromRRs(rrs []dns.RR) ([]Set, error) {
	type record struct {
		key  Key
		ttl  uint32
		data string
	}
	records := make([]record, len(rrs))
	var b buffer
	for i, r := range rrs {
		h := r.Header()
		name, err := MessageName(h.Name)
		if err != nil {
			return nil, fmt.Errorf("reading the owner of a record: %w", err)
		}
		key := Key{name, Type(h.Rrtype)}
		if h.Class != dns.ClassINET {
			return nil, fmt.Errorf("reading a record of %s: its class is %s, not IN", key, dns.Class(h.Class))
		}
		records[i] = record{key, h.Ttl, b.data(r)}
	}
	slices.SortFunc(records, func(a, b record) int {
		if c := a.key.Compare(b.key); c != 0 {
			return c
		}
		return strings.Compare(a.data, b.data)
	})
	var sets []Set
	for i, r := range records {
		if i == 0 || records[i-1].key != r.key {
			sets = append(sets, Set{Name: r.key.Name, Type: r.key.Type, TTL: r.ttl})
		}
		s := &sets[len(sets)-1]
		s.TTL = min(s.TTL, r.ttl)
		if n := len(s.Data); n == 0 || s.Data[n-1] != r.data {
			s.Data = append(s.Data, r.data)
		}
	}
	return sets, nil
}

// MessageName reads a name as miekg/dns gives names that came in a message,
// such as the owner of a record or the name of a question: it leaves characters
// without an escape that people must escape.
func MessageName(s string) (dnsname.Name, error) {
	n, err := dnsname.Parse(s)
	if err == nil {
		return n, nil
	}
	var wire [255]byte
	if _, packErr := dns.PackDomainName(s, wire[:], 0, nil, false); packErr != nil {
		return dnsname.Name{}, err
	}
	n, _, err = dnsname.FromWire(wire[:])
	return n, err
}

// A buffer packs records, one after the other.
type buffer []byte

// data returns the canonical rdata of a record that came in wire format.
func (b *buffer) data(r dns.RR) string {
	switch r := r.(type) {
	case *dns.A:
		if ip, ok := netip.AddrFromSlice(r.A); ok && ip.Unmap().Is4() {
			return ip.Unmap().String()
		}
	case *dns.AAAA:
		if ip, ok := netip.AddrFromSlice(r.AAAA); ok && ip.Is6() {
			return ip.String()
		}
	}
	wire, err := b.pack(r)
	if err != nil {
		return strings.TrimPrefix(r.String(), r.Header().String())
	}
	return FromWire(Type(r.Header().Rrtype), wire)
}

// pack returns the rdata of a record in wire format, good until the next.
func (b *buffer) pack(r dns.RR) ([]byte, error) {
	switch r := r.(type) {
	case *dns.CAA:
		*b = append((*b)[:0], r.Flag, byte(len(r.Tag)))
		*b = append(append(*b, r.Tag...), r.Value...)
		return *b, nil
	case *dns.URI:
		*b = append((*b)[:0], byte(r.Priority>>8), byte(r.Priority), byte(r.Weight>>8), byte(r.Weight))
		*b = append(*b, r.Target...)
		return *b, nil
	}
	if *b == nil {
		*b = make([]byte, 4096)
	}
	*b = (*b)[:cap(*b)]
	end, err := dns.PackRR(r, *b, 0, nil, false)
	for err != nil && len(*b) < 4*maxData {
		*b = make([]byte, 4*len(*b))
		end, err = dns.PackRR(r, *b, 0, nil, false)
	}
	if err != nil {
		return nil, err
	}
	at := 0
	for at < end && (*b)[at] != 0 {
		at += 1 + int((*b)[at])
	}
	if at += 11; at > end { // the root label, type, class, TTL, length
		return nil, errors.New("the record is cut off")
	}
	return (*b)[at:end], nil
}

// checkForeign refuses data of a type that only others know when it has not the
// form they know: they could not read a message or a zone that holds it.
func checkForeign(c *codec) error {
	if dns.TypeToRR[uint16(c.row.typ)] == nil || c.row.refused == meta {
		return nil
	}
	h := dns.RR_Header{Name: ".", Rrtype: uint16(c.row.typ), Class: dns.ClassINET, Rdlength: uint16(len(c.data))}
	r, _, err := dns.UnpackRRWithHeader(h, c.data, 0)
	if err == nil {
		var b buffer
		var again []byte
		if again, err = b.pack(r); err == nil && bytes.Equal(again, c.data) {
			return nil
		}
	}
	return fmt.Errorf("it does not have the form of type %s", dns.Type(c.row.typ))
}

// Wire returns canonical rdata in wire format, names in it uncompressed.
func Wire(t Type, data string) ([]byte, error) {
	c := newCodec(t)
	if err := c.parse(data); err != nil {
		return nil, c.explain(data, err)
	}
	return append([]byte(nil), c.wire...), nil
}

// FromWire returns the canonical form of rdata in wire format without
// compressed names. Data that ParseData would not take are given in the form
// of RFC 3597.
func FromWire(t Type, wire []byte) string {
	c := newCodec(t)
	c.wire = wire
	if c.print() == nil {
		return string(c.text)
	}
	return string(appendGeneric(nil, wire))
}
