package dynamodb

import (
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/endpoint"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// An item says who owns a set. Its key is NAME#TYPE#SETIDENTIFIER, the name without its final dot.
type item struct {
	key, owner string
}

// keyOf is the key of the item that external-dns has about a set.
func keyOf(k rr.Key) string {
	return strings.TrimSuffix(k.Name.String(), ".") + "#" + k.Type.String() + "#"
}

// about reads which set an item is about, and its set identifier. It returns false if it is about none.
func (i item) about() (k rr.Key, identifier string, ok bool) {
	part := strings.SplitN(i.key, "#", 3)
	if len(part) != 3 {
		return rr.Key{}, "", false
	}
	k, err := endpoint.Endpoint{DNSName: part[0], RecordType: part[1]}.Key()
	return k, part[2], err == nil
}

// claims is the owner in the note that stands for an item. A set identifier is that of one of several sets that take
// turns, which Backends do not have: nobody takes its owner's place there.
func (i item) claims(identifier string) string {
	if identifier == "" {
		return i.owner
	}
	return strings.Map(func(r rune) rune {
		if r == ',' || r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, i.owner+" (set identifier "+identifier+")")
}

// An index is what a table has, by the sets that its items are about.
type index struct {
	format registry.Format
	notes  rr.Sets           // as they are shown among the sets of zones
	items  map[rr.Key][]item // by their note
	odd    map[rr.Key]item   // about sets that have no note: of other types, or with names that are too long
}

func newIndex(table string, items []item) *index {
	x := &index{format: registry.InTable(table), items: map[rr.Key][]item{}, odd: map[rr.Key]item{}}
	txn := rr.Sets{}.Txn()
	for _, i := range items {
		k, _, ok := i.about()
		if !ok {
			continue // no zone has such a set
		}
		if note, ok := x.note(k); ok {
			x.items[note] = append(x.items[note], i)
			txn.Put(x.shown(note))
		} else {
			x.odd[k] = i
		}
	}
	x.notes = txn.Sets()
	return x
}

// note is the key of the note about a set, if there is one.
func (x *index) note(k rr.Key) (rr.Key, bool) {
	name, ok := x.format.NoteName(k)
	return rr.Key{Name: name, Type: rr.TypeTXT}, ok
}

// shown makes the note that stands for some items.
func (x *index) shown(note rr.Key) rr.Set {
	var data []string
	for _, i := range x.items[note] {
		_, identifier, _ := i.about()
		data = append(data, rr.Text("heritage=external-dns,external-dns/owner="+i.claims(identifier)))
	}
	return rr.NewSet(note, registry.NoteTTL, data...)
}

// change has the index know what has become of a note's items.
func (x *index) change(note rr.Key, become func([]item) []item) {
	txn := x.notes.Txn()
	if x.items[note] = become(slices.Clone(x.items[note])); len(x.items[note]) > 0 {
		txn.Put(x.shown(note))
	} else {
		delete(x.items, note)
		txn.Delete(note)
	}
	x.notes = txn.Sets()
}

// owners are those that a note names.
func (x *index) owners(note rr.Set) []string {
	var owners []string
	r := registry.Registry{Formats: []registry.Format{x.format}}
	for _, claim := range r.Notes(note) {
		owners = append(owners, claim.Owner)
	}
	return owners
}
