package embedded

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/backend/embedded/tree"
	"github.com/zonefold/zonefold/internal/rr"
)

// A node is one name that exists: it has sets, or a name below it has (an empty non-terminal, RFC 8499).
type node struct {
	name  string     // in wire format
	sets  []set      // by type number
	below int        // how many names one label longer exist
	owner *tree.Edit // may change it in place
}

// Key is what a zone finds the node by.
func (n *node) Key() string { return n.name }

// A set is an rr.Set as messages hold it.
type set struct {
	typ   rr.Type
	count uint16 // records
	ttl   uint32 // seconds
	data  []byte // of each record its length in two octets and its rdata, names in it uncompressed
}

// find returns the set of a type, nil if there is none.
func (n *node) find(t rr.Type) *set {
	for i := range n.sets {
		if n.sets[i].typ == t {
			return &n.sets[i]
		}
	}
	return nil
}

// with returns the sets with one in place of that of its type; one without records removes it.
func (n *node) with(s set) []set {
	at, found := slices.BinarySearchFunc(n.sets, s.typ, func(s set, t rr.Type) int { return int(s.typ) - int(t) })
	sets := make([]set, 0, len(n.sets)+1)
	sets = append(sets, n.sets[:at]...)
	if s.count > 0 {
		sets = append(sets, s)
	}
	if found {
		at++
	}
	return slices.Clip(append(sets, n.sets[at:]...))
}

// maxSet is how many octets a set may take in a message: what the 65535 of a message over TCP leave beside header,
// question, a name and EDNS.
const maxSet = 65535 - 12 - 2*(maxName+4) - 512

// recordSize is what a record takes in a message besides rdata, its name being a pointer.
const recordSize = 12

// packSet puts a set into wire format.
func packSet(s rr.Set) (set, error) {
	out := set{typ: s.Type, count: uint16(len(s.Data)), ttl: s.TTL}
	for _, text := range s.Data {
		data, err := rr.Wire(s.Type, text)
		if err != nil {
			return set{}, err
		}
		out.data = binary.BigEndian.AppendUint16(out.data, uint16(len(data)))
		out.data = append(out.data, data...)
	}
	if size := len(out.data) + len(s.Data)*(recordSize-2); size > maxSet {
		return set{}, fmt.Errorf("the set has %d octets: at most %d fit into a DNS message", size, maxSet)
	}
	out.data = slices.Clip(out.data)
	return out, nil
}

// records calls f with the rdata of every record, beginning with the one at an index and going around.
func (s *set) records(first int, f func(data []byte)) {
	at := 0
	for range first {
		at += 2 + int(binary.BigEndian.Uint16(s.data[at:]))
	}
	for range int(s.count) {
		if at == len(s.data) {
			at = 0
		}
		end := at + 2 + int(binary.BigEndian.Uint16(s.data[at:]))
		f(s.data[at+2 : end])
		at = end
	}
}

// only returns the rdata of the first record.
func (s *set) only() []byte { return s.data[2 : 2+binary.BigEndian.Uint16(s.data)] }
