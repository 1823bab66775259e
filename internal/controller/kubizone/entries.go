package kubizone

import (
	"hash/fnv"
	"slices"

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

// setsOf reads entries back. What cannot be read was not written by us, and is left out.
func setsOf(txn *rr.SetsTxn, entries []v1alpha1.Entry) {
	for _, e := range entries {
		name, err := dnsname.Parse(e.FQDN)
		if err != nil {
			continue
		}
		t, err := rr.ParseType(e.Type)
		if err != nil || t == rr.TypeSOA {
			continue
		}
		key := rr.Key{Name: name, Type: t}
		var data []string
		if old, ok := txn.Get(key); ok {
			data = append(data, old.Data...)
		}
		if e.RData == "" {
			data = append(data, "") // the journal did not know it; the key is what counts
		} else {
			if canonical, err := rr.ParseData(t, e.RData); err == nil {
				data = append(data, canonical)
			}
		}
		txn.Put(rr.NewSet(key, uint32(e.TTL), data...))
	}
}

func sliceEntries(entries []v1alpha1.Entry) []zonefold.Entry {
	out := make([]zonefold.Entry, 0, len(entries))
	for _, e := range entries {
		out = append(out, zonefold.Entry{FQDN: e.FQDN, Type: e.Type, Class: e.Class, TTL: int64(e.TTL), RData: e.RData})
	}
	return out
}

func zoneEntries(entries []zonefold.Entry) []v1alpha1.Entry {
	out := make([]v1alpha1.Entry, 0, len(entries))
	for _, e := range entries {
		out = append(out, v1alpha1.Entry{FQDN: e.FQDN, Type: e.Type, Class: e.Class, TTL: v1alpha1.Number(e.TTL), RData: e.RData})
	}
	return out
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
	sets  rr.Sets
	count int  // records
	dirty bool // not written yet
}

func divide(sets rr.Sets, n int) *division {
	d := &division{parts: make([]part, n)}
	txns := make([]*rr.SetsTxn, n)
	for i := range txns {
		txns[i] = rr.Sets{}.Txn()
	}
	for set := range sets.All() {
		i := partOf(set.Name, n)
		txns[i].Put(set)
		d.parts[i].count += len(set.Data)
	}
	for i := range txns {
		d.parts[i].sets, d.parts[i].dirty = txns[i].Sets(), true
	}
	return d
}

// update takes over changed sets.
func (d *division) update(sets rr.Sets, changed []rr.Key) {
	for _, key := range changed {
		p := &d.parts[partOf(key.Name, len(d.parts))]
		txn := p.sets.Txn()
		if old, ok := txn.Get(key); ok {
			p.count -= len(old.Data)
		}
		if set, ok := sets.Get(key); ok {
			txn.Put(set)
			p.count += len(set.Data)
		} else {
			txn.Delete(key)
		}
		p.sets, p.dirty = txn.Sets(), true
	}
}

// take returns the division as it is now and counts it as written; spoil takes that back.
func (d *division) take() division {
	now := division{slices.Clone(d.parts)}
	for i := range d.parts {
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
