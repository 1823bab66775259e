// Package content holds what a source says that a zone holds, such as a master file or a transfer, and decides which
// of it a Zone can hold. What it cannot is told with the reason, never dropped in silence.
//
// A million records are one slice, which is sorted once: what comes of them does not depend on their order.
package content

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// MaxRecords is how many records one source may have unless somebody says otherwise.
const MaxRecords = 5_000_000

// A Record is one record as its source has it.
type Record struct {
	Name dnsname.Name
	Data string // as rr.ParseData takes it
	TTL  uint32
	Type rr.Type
}

// A Loss is something that a source says and a Zone does not hold as it is.
type Loss struct {
	Kind Kind
	What string // what it is about
	Why  string // a clause
}

// A Kind says how much of something is lost.
type Kind string

// The kinds of losses.
const (
	LeftOut Kind = "left out" // it is not there
	Changed Kind = "changed"  // it is there, and something about it is not as it was
	Noted   Kind = "note"     // nothing of the zone is lost, and somebody should know
)

// String returns the line for people.
func (l Loss) String() string { return fmt.Sprintf("%s: %s: %s", l.Kind, l.What, l.Why) }

// A Zone is what a source says.
type Zone struct {
	Origin dnsname.Name
	SOA    rr.SOA // its MName is zero if there is none
	Max    int    // records; 0: MaxRecords
	Report func(Loss)
	Aside  func(Record) bool // whether a record is not one of the zone's; nil: all are

	records []Record
	made    map[rr.Type]int // records of types that a server that signs makes
	read    int
}

// New returns a Zone without records.
func New(origin dnsname.Name, report func(Loss)) *Zone {
	return &Zone{Origin: origin, Report: report, made: map[rr.Type]int{}}
}

// Add takes a record. The error says that there are too many.
func (z *Zone) Add(r Record) error {
	limit := z.Max
	if limit == 0 {
		limit = MaxRecords
	}
	if z.read++; z.read > limit {
		return fmt.Errorf("it has more than %d records; split it, or raise --max-records", limit)
	}
	if z.Aside != nil && z.Aside(r) {
		return nil
	}
	data, why := z.judge(&r)
	switch {
	case why == "" && r.Type == rr.TypeSOA:
		z.takeSOA(r)
	case why == "":
		r.Data = data
		z.records = append(z.records, r)
	case why != signed:
		z.lose(r, why)
	}
	return nil
}

// LeaveOut tells of a record that is not even one that Add could take.
func (z *Zone) LeaveOut(what, why string) {
	z.read++
	z.Report(Loss{LeftOut, what, why})
}

// signed stands for the reason of records that are told of together.
const signed = "the server that signs the zone makes it"

// judge returns the canonical data of a record that can be one of the zone, else why it cannot.
func (z *Zone) judge(r *Record) (data, why string) {
	if !r.Name.Under(z.Origin) {
		return "", "its name is not in " + z.Origin.String()
	}
	if refused := r.Type.Refused(); refused != "" && r.Type != rr.TypeSOA {
		if refused == signed {
			z.made[r.Type]++
			return "", signed
		}
		return "", refused
	}
	if err := dnsname.CheckOwner(r.Name); err != nil {
		return "", err.Error()
	}
	if r.Name.IsWildcard() && r.Type == rr.TypeNS {
		return "", "a wildcard has no NS records (RFC 4592 §4.2)"
	}
	data, err := rr.ParseData(r.Type, r.Data)
	if err != nil {
		return "", err.Error()
	}
	return data, ""
}

// takeSOA takes the SOA of the zone; there is one.
func (z *Zone) takeSOA(r Record) {
	soa, err := rr.ParseSOA(r.Data)
	soa.TTL = r.TTL
	switch {
	case err != nil:
		z.lose(r, err.Error())
	case r.Name != z.Origin:
		z.lose(r, "a zone has one SOA, at its own name")
	case !z.HasSOA():
		z.SOA = soa
	case z.SOA != soa:
		z.lose(r, "a zone has one SOA, and this is a second")
	}
}

// HasSOA reports whether the source had one.
func (z *Zone) HasSOA() bool { return !z.SOA.MName.IsZero() }

// Len is how many records the zone has.
func (z *Zone) Len() int { return len(z.records) }

// Read is how many records the source has had so far.
func (z *Zone) Read() int { return z.read }

func (z *Zone) lose(r Record, why string) {
	z.Report(Loss{LeftOut, shown(r.Name, r.Type, r.Data), why})
}

// shown is a record for people, on one line that is not too long.
func shown(name dnsname.Name, t rr.Type, data string) string {
	const most = 80
	if len(data) > most {
		data = data[:most] + "…"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", name, t, data))
}

// Sort puts the records in order and tells what is left out together.
func (z *Zone) Sort() {
	slices.SortFunc(z.records, func(a, b Record) int {
		if a.Name != b.Name {
			return a.Name.Compare(b.Name)
		}
		if a.Type != b.Type {
			return int(a.Type) - int(b.Type)
		}
		return strings.Compare(a.Data, b.Data)
	})
	for _, t := range slices.Sorted(keysOf(z.made)) {
		z.Report(Loss{LeftOut, fmt.Sprintf("%d %s", z.made[t], t), signed})
	}
}

func keysOf(m map[rr.Type]int) iter.Seq[rr.Type] {
	return func(yield func(rr.Type) bool) {
		for t := range m {
			if !yield(t) {
				return
			}
		}
	}
}

// Keep leaves out, after Sort, the sets that are not wanted.
func (z *Zone) Keep(wanted func(rr.Key) bool) {
	var last rr.Key
	kept := true
	z.records = slices.DeleteFunc(z.records, func(r Record) bool {
		if key := (rr.Key{Name: r.Name, Type: r.Type}); key != last {
			last, kept = key, wanted(key)
		}
		return !kept
	})
}

// Names yields the sets of each name, in canonical order, after Sort. What cannot stand together is told, and left out.
func (z *Zone) Names() iter.Seq[[]rr.Set] {
	return func(yield func([]rr.Set) bool) {
		for at := 0; at < len(z.records); {
			end := at + 1
			for end < len(z.records) && z.records[end].Name == z.records[at].Name {
				end++
			}
			if sets := z.together(z.sets(z.records[at:end])); len(sets) > 0 && !yield(sets) {
				return
			}
			at = end
		}
	}
}

// sets makes the sets of the records of one name. A set has one TTL, the lowest of its records (RFC 2181 §5.2).
func (z *Zone) sets(records []Record) []rr.Set {
	var sets []rr.Set
	for at := 0; at < len(records); {
		s := rr.Set{Name: records[at].Name, Type: records[at].Type, TTL: records[at].TTL}
		highest := s.TTL
		for ; at < len(records) && records[at].Type == s.Type; at++ {
			r := records[at]
			s.TTL, highest = min(s.TTL, r.TTL), max(highest, r.TTL)
			if n := len(s.Data); n == 0 || s.Data[n-1] != r.Data {
				s.Data = append(s.Data, r.Data)
			}
		}
		if s.TTL != highest {
			z.Report(Loss{Changed, s.Key().String(), fmt.Sprintf(
				"its records have TTLs from %d to %d, and a set has one; it gets the lowest (RFC 2181 §5.2)", s.TTL, highest)})
		}
		sets = append(sets, s)
	}
	return sets
}
