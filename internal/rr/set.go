package rr

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A Key names a set: one type at one name. The class is IN throughout.
type Key struct {
	Name dnsname.Name
	Type Type
}

// Compare orders keys by name in canonical order, then by type number.
func (k Key) Compare(o Key) int {
	if c := k.Name.Compare(o.Name); c != 0 {
		return c
	}
	return cmp.Compare(k.Type, o.Type)
}

// String returns the key for messages, such as "www.example.org. A".
func (k Key) String() string { return k.Name.String() + " " + k.Type.String() }

// A Set is all the records of one type at one name (an RRset, RFC 2181 §5).
// Data is canonical, sorted, without duplicates and never empty; nobody may
// change it. TTL is in seconds.
type Set struct {
	Name dnsname.Name
	Type Type
	TTL  uint32
	Data []string
}

// NewSet makes a set of canonical data, as ParseData returns it.
func NewSet(key Key, ttl uint32, data ...string) Set {
	if len(data) > 1 && !sorted(data) {
		data = slices.Clone(data)
		slices.Sort(data)
		data = slices.Compact(data)
	}
	return Set{Name: key.Name, Type: key.Type, TTL: ttl, Data: slices.Clip(data)}
}

// sorted reports whether data is in order and has no duplicates.
func sorted(data []string) bool {
	for i := 1; i < len(data); i++ {
		if data[i-1] >= data[i] {
			return false
		}
	}
	return true
}

// Key returns the set's key.
func (s Set) Key() Key { return Key{s.Name, s.Type} }

// Equal reports whether s and o are the same set with the same TTL and data.
func (s Set) Equal(o Set) bool {
	return s.Name == o.Name && s.Type == o.Type && s.TTL == o.TTL && slices.Equal(s.Data, o.Data)
}

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

// FromRRs groups records of a message or a zone into canonical sets, in
// canonical order. Records of a set with different TTLs get the lowest (RFC
// 2181 §5.2). It fails on a class other than IN.
func FromRRs(rrs []dns.RR) ([]Set, error) {
	type record struct {
		key  Key
		ttl  uint32
		data string
	}
	records := make([]record, len(rrs))
	for i, r := range rrs {
		h := r.Header()
		name, err := dnsname.Parse(h.Name)
		if err != nil {
			return nil, fmt.Errorf("reading the owner of a record: %w", err)
		}
		key := Key{name, Type(h.Rrtype)}
		if h.Class != dns.ClassINET {
			return nil, fmt.Errorf("reading a record of %s: its class is %s, not IN", key, dns.Class(h.Class))
		}
		data, err := dataOf(r)
		if err != nil {
			return nil, fmt.Errorf("reading a record of %s: %w", key, err)
		}
		records[i] = record{key, h.Ttl, data}
	}
	slices.SortFunc(records, func(a, b record) int {
		return cmp.Or(a.key.Compare(b.key), cmp.Compare(a.data, b.data))
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
