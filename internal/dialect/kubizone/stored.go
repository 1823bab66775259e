package kubizone

import (
	"slices"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// PutEntries reads stored entries back into sets. What cannot be read was not written by us, and is left out, as is
// the SOA.
func PutEntries(txn *rr.SetsTxn, entries []v1alpha1.Entry) {
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

// EntriesIn reads the lines of a journal's text; a line that an operator would not write is left out.
func EntriesIn(text string) []v1alpha1.Entry {
	var out []v1alpha1.Entry
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 5)
		if len(f) < 5 {
			continue
		}
		if ttl, err := strconv.ParseUint(f[1], 10, 31); err == nil {
			out = append(out, v1alpha1.Entry{FQDN: f[0], TTL: v1alpha1.Number(ttl), Class: f[2], Type: f[3], RData: f[4]})
		}
	}
	return out
}

// SliceEntries returns the entries of a ZoneSlice as those of a status.
func SliceEntries(entries []zonefold.Entry) []v1alpha1.Entry {
	out := make([]v1alpha1.Entry, 0, len(entries))
	for _, e := range entries {
		out = append(out, v1alpha1.Entry{FQDN: e.FQDN, Type: e.Type, Class: e.Class, TTL: v1alpha1.Number(e.TTL),
			RData: e.RData})
	}
	return out
}

// AddressesIn returns the addresses, or aliases, that sets have at a name, without what Records ask for there.
func AddressesIn(sets rr.Sets, name dnsname.Name, records map[rr.Key][]string) (out []rr.Set) {
	for _, t := range []rr.Type{rr.TypeA, rr.TypeAAAA, rr.TypeCNAME} {
		set, has := sets.Get(rr.Key{Name: name, Type: t})
		data := slices.DeleteFunc(slices.Clone(set.Data), func(d string) bool { return d == "" }) // not known
		if has && len(data) > 0 {
			out = append(out, rr.NewSet(set.Key(), set.TTL, data...).But(records[set.Key()]))
		}
	}
	return out
}
