package rfc2136

import (
	"slices"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

// overlay lays the steps of an IXFR over what was known. A step that removes what is not there, or adds what is, shows
// that something else was known than the server had: then there is no increment.
func overlay(known rr.Sets, steps []difference) (rr.Sets, error) {
	for _, d := range steps {
		step, err := d.step()
		if err != nil {
			return rr.Sets{}, err
		}
		var fits bool
		if known, fits = step.Over(known); !fits {
			return rr.Sets{}, errNoIncrement
		}
	}
	return known, nil
}

// fromStep returns the records of one half of a step as sets, without those that no client can write.
func fromStep(records []dns.RR) ([]rr.Set, error) {
	sets, err := rr.FromRRs(records)
	if err != nil {
		return nil, unavailable(err)
	}
	return slices.DeleteFunc(sets, func(s rr.Set) bool { return s.Type.Refused() != "" }), nil
}

// remove takes values out of a set; it reports whether all were there.
func remove(txn *rr.SetsTxn, gone rr.Set) bool {
	have, ok := txn.Get(gone.Key())
	if !ok {
		return false
	}
	rest := make([]string, 0, len(have.Data))
	for _, data := range have.Data {
		if _, goes := slices.BinarySearch(gone.Data, data); !goes {
			rest = append(rest, data)
		}
	}
	if len(rest)+len(gone.Data) != len(have.Data) {
		return false
	}
	if len(rest) == 0 {
		return txn.Delete(gone.Key())
	}
	txn.Put(rr.NewSet(gone.Key(), have.TTL, rest...))
	return true
}

// add puts values into a set, which gets their TTL; it reports whether all were new.
func add(txn *rr.SetsTxn, come rr.Set) bool {
	have, ok := txn.Get(come.Key())
	if !ok {
		txn.Put(come)
		return true
	}
	all := rr.NewSet(come.Key(), come.TTL, slices.Concat(have.Data, come.Data)...)
	if len(all.Data) != len(have.Data)+len(come.Data) {
		return false
	}
	txn.Put(all)
	return true
}
