// Package diff tells how contents of a zone differ, and leads back to earlier ones.
package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// An Edit is what one change of a content did to one set, or to the SOA, whose serial does not count.
type Edit struct {
	rr.Key

	Old, New rr.Set // without data: there was, or is, none
}

// Between returns what made one content another, in canonical order. Keys are those that may differ; nil: all.
func Between(old, now zone.Snapshot, keys []rr.Key) []Edit {
	if keys == nil {
		for _, sets := range []rr.Sets{old.Sets, now.Sets} {
			for set := range sets.All() {
				keys = append(keys, set.Key())
			}
		}
	}
	keys = slices.Clone(keys)
	slices.SortFunc(keys, rr.Key.Compare)
	var edits []Edit
	if was, is := soaSet(old), soaSet(now); !was.Equal(is) {
		edits = append(edits, Edit{cmp.Or(is.Key(), was.Key()), was, is})
	}
	for _, key := range slices.Compact(keys) {
		was, _ := old.Sets.Get(key)
		is, _ := now.Sets.Get(key)
		if !was.Equal(is) {
			edits = append(edits, Edit{key, was, is})
		}
	}
	return edits
}

// soaSet is the SOA as a set, without the serial; of no content it is the empty one.
func soaSet(s zone.Snapshot) rr.Set {
	if s.Name.IsZero() || s.SOA.MName.IsZero() {
		return rr.Set{}
	}
	soa := s.SOA
	soa.Serial = 0
	return rr.Set{Name: s.Name, Type: rr.TypeSOA, TTL: soa.TTL, Data: []string{soa.Data()}}
}

// Text writes edits as lines.
func Text(edits []Edit) string {
	var b strings.Builder
	for _, e := range edits {
		for _, side := range []struct {
			sign byte
			set  rr.Set
		}{{'-', e.Old}, {'+', e.New}} {
			for _, data := range side.set.Data {
				fmt.Fprintf(&b, "%c %s %d IN %s %s\n", side.sign, e.Name, side.set.TTL, e.Type, data)
			}
		}
	}
	return b.String()
}

// Parse reads the lines of Text.
func Parse(text string) ([]Edit, error) {
	var edits []Edit
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		f := strings.SplitN(line, " ", 6)
		if len(f) < 6 || f[0] != "-" && f[0] != "+" || f[3] != "IN" {
			return nil, fmt.Errorf("%.100q is no line of a delta", line)
		}
		set, err := parseLine(f[1], f[2], f[4], f[5])
		if err != nil {
			return nil, fmt.Errorf("reading the line %.100q of a delta: %w", line, err)
		}
		if n := len(edits); n == 0 || edits[n-1].Key != set.Key() {
			edits = append(edits, Edit{Key: set.Key()})
		}
		side := &edits[len(edits)-1].Old
		if f[0] == "+" {
			side = &edits[len(edits)-1].New
		}
		set.Data = append(set.Data, side.Data...)
		*side = set
	}
	for i := range edits {
		for _, set := range []*rr.Set{&edits[i].Old, &edits[i].New} {
			if len(set.Data) > 1 {
				*set = rr.NewSet(set.Key(), set.TTL, set.Data...)
			}
		}
	}
	return edits, nil
}

func parseLine(owner, ttl, kind, data string) (rr.Set, error) {
	name, err := dnsname.Parse(owner)
	if err != nil {
		return rr.Set{}, err
	}
	seconds, err := strconv.ParseUint(ttl, 10, 32)
	if err != nil {
		return rr.Set{}, err
	}
	t, err := rr.ParseType(kind)
	if err != nil {
		return rr.Set{}, err
	}
	if t == rr.TypeSOA {
		soa, err := rr.ParseSOA(data)
		return rr.Set{Name: name, Type: t, TTL: uint32(seconds), Data: []string{soa.Data()}}, err
	}
	canonical, err := rr.ParseData(t, data)
	if err != nil {
		return rr.Set{}, err
	}
	return rr.NewSet(rr.Key{Name: name, Type: t}, uint32(seconds), canonical), nil
}

// Undo returns the content before edits.
func Undo(s zone.Snapshot, edits []Edit) (zone.Snapshot, error) {
	return edited(s, edits, func(e Edit) rr.Set { return e.Old })
}

// Redo returns the content after edits.
func Redo(s zone.Snapshot, edits []Edit) (zone.Snapshot, error) {
	return edited(s, edits, func(e Edit) rr.Set { return e.New })
}

// edited returns the content with one side of edits. Its hash is to be found by who needs it.
func edited(s zone.Snapshot, edits []Edit, side func(Edit) rr.Set) (zone.Snapshot, error) {
	txn := s.Sets.Txn()
	for _, e := range edits {
		set := side(e)
		switch {
		case !e.Name.Under(s.Name):
			return zone.Snapshot{}, fmt.Errorf("%s is not in %s", e.Key, s.Name)
		case e.Type != rr.TypeSOA && len(set.Data) == 0:
			txn.Delete(e.Key)
		case e.Type != rr.TypeSOA:
			txn.Put(set)
		case len(set.Data) == 1:
			soa, err := rr.ParseSOA(set.Data[0])
			if err != nil {
				return zone.Snapshot{}, err
			}
			s.SOA = soa
			s.SOA.TTL = set.TTL
		}
	}
	s.Sets, s.Hash = txn.Sets(), ""
	return s, nil
}

// A Revision is one step of the history of a Zone.
type Revision struct {
	Serial, PreviousSerial uint32
	Hash, PreviousHash     string
	Delta                  string // lines of Text
	LeftOut                bool   // Delta is not known
}

// Earlier returns the content that a serial stood for, by undoing revisions of the content that there is now. The error
// is a sentence.
func Earlier(now zone.Snapshot, revisions []Revision, serial uint32) (zone.Snapshot, error) {
	steps, hash, err := back(now, revisions, serial)
	if err != nil {
		return zone.Snapshot{}, err
	}
	at := now
	for _, step := range steps {
		if at, err = Undo(at, step.edits); err != nil {
			return zone.Snapshot{}, fmt.Errorf("the change to serial %d of %s: %w", step.serial, now.Name, err)
		}
	}
	return verified(at, hash)
}

// Back returns what would change if the content that a serial stood for took the place of the one that there is
// now, of which only the name and the hash need be known. The error is a sentence.
func Back(now zone.Snapshot, revisions []Revision, serial uint32) ([]Edit, error) {
	steps, _, err := back(now, revisions, serial)
	if err != nil {
		return nil, err
	}
	all := map[rr.Key]Edit{}
	for _, step := range steps {
		for _, e := range step.edits {
			one, known := all[e.Key]
			if !known {
				one = Edit{Key: e.Key, Old: e.New}
			}
			one.New = e.Old
			all[e.Key] = one
		}
	}
	edits := slices.Collect(maps.Values(all))
	edits = slices.DeleteFunc(edits, func(e Edit) bool { return e.Old.Equal(e.New) })
	slices.SortFunc(edits, func(a, b Edit) int {
		if soa := a.Type == rr.TypeSOA; soa != (b.Type == rr.TypeSOA) {
			return map[bool]int{true: -1, false: 1}[soa] // as Between has it
		}
		return a.Compare(b.Key)
	})
	return edits, nil
}

// A stepBack is a revision that is undone.
type stepBack struct {
	serial uint32
	edits  []Edit
}

// back returns the revisions to undo, the newest first, for the content that a serial stood for, and the hash of that.
func back(now zone.Snapshot, revisions []Revision, serial uint32) (steps []stepBack, hash string, err error) {
	if !slices.ContainsFunc(revisions, func(r Revision) bool {
		return serial != 0 && (r.Serial == serial || r.PreviousSerial == serial)
	}) {
		return nil, "", fmt.Errorf("the history of %s has no content with serial %d", now.Name, serial)
	}
	gap := fmt.Errorf("the history of %s has a gap after serial %d, so the content of that time is not known", now.Name,
		serial)
	hash, bound := now.Hash, newest(revisions)
	for range revisions {
		r, ok := before(revisions, bound)
		if !ok || r.Hash != hash {
			return nil, "", gap
		}
		if r.Serial == serial {
			return steps, hash, nil
		}
		if r.LeftOut {
			return nil, "", fmt.Errorf("the change to serial %d of %s is not kept: it was too large, or the history begins "+
				"there; a rollback cannot go further back", r.Serial, now.Name)
		}
		edits, err := Parse(r.Delta)
		if err != nil {
			return nil, "", fmt.Errorf("the change to serial %d of %s: %w", r.Serial, now.Name, err)
		}
		steps = append(steps, stepBack{r.Serial, edits})
		if hash, bound = r.PreviousHash, r.PreviousSerial; bound == serial {
			return steps, hash, nil
		}
	}
	return nil, "", gap
}

func newest(revisions []Revision) uint32 {
	var serial uint32
	for _, r := range revisions {
		serial = rr.LaterSerial(serial, r.Serial)
	}
	return serial
}

// before returns the newest of revisions up to a serial: a content may have got a higher one since, and what an
// operator wrote down before it crashed may have another continuation.
func before(revisions []Revision, serial uint32) (Revision, bool) {
	var found Revision
	for _, r := range revisions {
		if r.Serial != 0 && !rr.SerialLess(serial, r.Serial) && (found.Serial == 0 || rr.SerialLess(found.Serial, r.Serial)) {
			found = r
		}
	}
	return found, found.Serial != 0
}

// verified returns the content if it has a hash.
func verified(s zone.Snapshot, hash string) (zone.Snapshot, error) {
	if s.Hash = zone.HashOf(s.Sets); s.Hash != hash {
		return zone.Snapshot{}, fmt.Errorf(
			"the history of %s does not match the published content: one of them was changed", s.Name)
	}
	return s, nil
}
