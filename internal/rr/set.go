package rr

import (
	"cmp"
	"slices"

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
	// Hint says how a service that has several ways to hold the set is to hold
	// it, in words of that service, and that it may be held in another way by
	// now. Nobody else looks at it: it is no part of what the set is.
	Hint string
}

// HintPlain has a service hold a set as DNS does.
const HintPlain = "plain"

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

// But returns the set without some data, and the set as it is if nothing were left.
func (s Set) But(data []string) Set {
	left := slices.DeleteFunc(slices.Clone(s.Data), func(d string) bool { return slices.Contains(data, d) })
	if len(left) == 0 {
		return s
	}
	return NewSet(s.Key(), s.TTL, left...)
}

// Equal reports whether s and o are the same set with the same TTL and data.
func (s Set) Equal(o Set) bool {
	return s.Name == o.Name && s.Type == o.Type && s.TTL == o.TTL && slices.Equal(s.Data, o.Data)
}
