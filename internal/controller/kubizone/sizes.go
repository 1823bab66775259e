package kubizone

import (
	"cmp"
	"slices"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
)

// maxStatus is how large entries may be, in octets of JSON: an object has to fit into etcd's 1.5 MiB.
const maxStatus = 900 << 10

// sizeOf returns how many octets of JSON an entry takes.
func sizeOf(e v1alpha1.Entry) int {
	const fields = 80 // names of fields, type, class, TTL
	return fields + encoded(e.FQDN) + encoded(e.RData)
}

// encoded returns how long a printable text is as JSON, in which HTML's characters are escaped.
func encoded(s string) int {
	n := len(s)
	for i := range len(s) {
		switch s[i] {
		case '"', '\\':
			n++
		case '<', '>', '&':
			n += len(`\u003c`) - 1
		}
	}
	return n
}

// within returns entries that fit into one object. Where they do not, the largest sets lose their data, name servers
// last, and are there by name and type alone: who has the right to one name must not keep a zone from being written
// down.
func within(entries []v1alpha1.Entry, limit int) []v1alpha1.Entry {
	type span struct{ from, to, size int } // one set
	var sets []span
	total := 0
	for i, e := range entries {
		size := sizeOf(e)
		total += size
		if i > 0 && e.FQDN == entries[i-1].FQDN && e.Type == entries[i-1].Type {
			s := &sets[len(sets)-1]
			s.to, s.size = i+1, s.size+size
		} else {
			sets = append(sets, span{i, i + 1, size})
		}
	}
	if total <= limit {
		return entries
	}
	largest := slices.Clone(sets)
	slices.SortStableFunc(largest, func(a, b span) int {
		isNS := func(s span) int {
			if entries[s.from].Type == "NS" {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(isNS(a), isNS(b)), cmp.Compare(b.size, a.size))
	})
	bare := map[int]bool{} // by the index of their first entry
	for _, s := range largest {
		if total <= limit {
			break
		}
		key := entries[s.from]
		key.RData = ""
		total -= s.size - sizeOf(key)
		bare[s.from] = true
	}
	var out []v1alpha1.Entry
	for _, s := range sets {
		if !bare[s.from] {
			out = append(out, entries[s.from:s.to]...)
			continue
		}
		key := entries[s.from]
		key.RData = ""
		out = append(out, key)
	}
	return out
}
