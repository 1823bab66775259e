package kubizone

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// entriesOf appends a set as entries.
func entriesOf(out []v1alpha1.Entry, s rr.Set) []v1alpha1.Entry {
	for _, data := range s.Data {
		out = append(out, v1alpha1.Entry{
			FQDN: s.Name.String(), Type: s.Type.String(), Class: "IN", TTL: v1alpha1.Number(s.TTL), RData: data,
		})
	}
	return out
}

// soaEntry returns the entry that stands first.
func soaEntry(name dnsname.Name, soa rr.SOA) v1alpha1.Entry {
	return v1alpha1.Entry{FQDN: name.String(), Type: "SOA", Class: "IN", TTL: v1alpha1.Number(soa.TTL), RData: soa.Data()}
}

func sliceEntries(entries []v1alpha1.Entry) []zonefold.Entry {
	out := make([]zonefold.Entry, 0, len(entries))
	for _, e := range entries {
		out = append(out, zonefold.Entry{FQDN: e.FQDN, Type: e.Type, Class: e.Class, TTL: int64(e.TTL), RData: e.RData})
	}
	return out
}

// textOf writes entries as lines. One text costs the API server nothing, a list of
// entries 0.15 ms of CPU for each: validation and field ownership go through them.
func textOf(entries []v1alpha1.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %d %s %s %s\n", e.FQDN, e.TTL, e.Class, e.Type, e.RData)
	}
	return b.String()
}

// Sets in one slice: it grows to twice and shrinks to a quarter of this before the
// zone is divided anew, so that a change rewrites one slice.
const sliceSize = 400

// sliceCount returns how many slices a zone of so many sets is divided into, when it
// is in now.
func sliceCount(sets, now int) int {
	if now > 0 && sets <= now*sliceSize*2 && sets >= now*sliceSize/4 {
		return now
	}
	n := 1
	for n*sliceSize < sets {
		n *= 2
	}
	return n
}

// A division is a zone's content in parts by the hash of the name. It follows the
// zone by changed keys, so that writing one slice does not visit the whole zone.
type division struct{ parts []part }

type part struct {
	keys  []rr.Key // in canonical order
	count int      // records
	dirty bool     // not written yet
}

func divide(sets rr.Sets, n int) *division {
	d := &division{parts: make([]part, n)}
	for i := range d.parts {
		d.parts[i].dirty = true
	}
	for set := range sets.All() {
		p := &d.parts[partOf(set.Name, n)]
		p.keys = append(p.keys, set.Key())
		p.count += len(set.Data)
	}
	return d
}

// update takes over changed sets: the content was old and is now.
func (d *division) update(old, now rr.Sets, changed []rr.Key) {
	for _, key := range changed {
		p := &d.parts[partOf(key.Name, len(d.parts))]
		before, _ := old.Get(key)
		after, wanted := now.Get(key)
		p.count += len(after.Data) - len(before.Data)
		p.dirty = true
		at, there := slices.BinarySearchFunc(p.keys, key, rr.Key.Compare)
		switch {
		case wanted && !there:
			p.keys = slices.Insert(p.keys, at, key)
		case !wanted && there:
			p.keys = slices.Delete(p.keys, at, at+1)
		}
	}
}

// take returns the division as it is now and counts it as written; spoil takes that
// back. The keys are only those of the parts that are to be written.
func (d *division) take() division {
	now := division{slices.Clone(d.parts)}
	for i := range d.parts {
		now.parts[i].keys = nil
		if d.parts[i].dirty {
			now.parts[i].keys = slices.Clone(d.parts[i].keys)
		}
		d.parts[i].dirty = false
	}
	return now
}

func (d *division) spoil() {
	for i := range d.parts {
		d.parts[i].dirty = true
	}
}

// partOf is stored in the cluster: changing it rewrites all slices.
func partOf(name dnsname.Name, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name.String()))
	return int(h.Sum32() % uint32(n))
}
