package content

import (
	"fmt"
	"math"
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// together leaves out the sets of one name that cannot stand beside the others: which is kept does not depend on the
// order of a file.
func (z *Zone) together(sets []rr.Set) []rr.Set {
	for i := range sets {
		z.single(&sets[i])
	}
	has := func(t rr.Type) bool {
		return slices.ContainsFunc(sets, func(s rr.Set) bool { return s.Type == t })
	}
	drop := func(t rr.Type, why string) {
		sets = slices.DeleteFunc(sets, func(s rr.Set) bool {
			if s.Type == t {
				z.loseSet(s, why)
			}
			return s.Type == t
		})
	}
	apex := len(sets) > 0 && sets[0].Name == z.Origin
	switch {
	case has(rr.TypeCNAME) && apex:
		drop(rr.TypeCNAME, "the name of a zone cannot be an alias (RFC 1034 §3.6.2)")
	case has(rr.TypeCNAME) && len(sets) > 1:
		drop(rr.TypeCNAME, "a CNAME must be alone at its name, which has other records (RFC 1034 §3.6.2)")
	}
	if has(rr.TypeDNAME) && has(rr.TypeNS) && !apex {
		drop(rr.TypeDNAME, "below the apex a DNAME cannot coexist with NS (RFC 6672 §2.3)")
	}
	if apex && has(rr.TypeDS) && z.Origin.IsRoot() {
		drop(rr.TypeDS, "no zone is above the root")
	}
	return sets
}

// single tells of a set that is too large, or has a TTL that is too high, and leaves one record of a type that has one.
func (z *Zone) single(s *rr.Set) {
	if s.Type.Singleton() && len(s.Data) > 1 {
		for _, data := range s.Data[1:] {
			z.lose(Record{Name: s.Name, Type: s.Type, Data: data}, fmt.Sprintf("a name has one %s record", s.Type))
		}
		s.Data = s.Data[:1]
	}
	if len(s.Data) > zone.DefaultMaxSet {
		z.Report(Loss{Changed, s.Key().String(), fmt.Sprintf(
			"it has %d records, but an operator accepts %d in a set, unless --max-set-size allows more", len(s.Data),
			zone.DefaultMaxSet)})
	}
	if s.TTL > math.MaxInt32 {
		z.Report(Loss{Changed, s.Key().String(), fmt.Sprintf(
			"its TTL is %d; it is reduced to the maximum of %d (RFC 2181 §8)", s.TTL, math.MaxInt32)})
		s.TTL = math.MaxInt32
	}
}

func (z *Zone) loseSet(s rr.Set, why string) {
	for _, data := range s.Data {
		z.lose(Record{Name: s.Name, Type: s.Type, Data: data}, why)
	}
}
