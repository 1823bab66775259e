package update

import (
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Content is a zone as it is before an update.
type Content struct {
	SOA  rr.SOA
	Sets rr.Sets // without the SOA
}

// Names returns the names that the outcome of a message depends on, and those that it changes, each once and in order.
func (m *Message) Names() []dnsname.Name {
	var out []dnsname.Name
	for _, r := range slices.Concat(m.prereqs, m.updates) {
		if r.wrong == nil {
			out = append(out, r.Name)
		}
	}
	slices.SortFunc(out, dnsname.Name.Compare)
	return slices.Compact(out)
}

// Keys returns the sets that the message names to change them.
func (m *Message) Keys() []rr.Key {
	var out []rr.Key
	for _, u := range m.updates {
		if !u.any && u.Type != rr.TypeSOA && u.wrong == nil {
			out = append(out, u.Key)
		}
	}
	return out
}

// Deletions returns the names that the message deletes something of, each once and in order.
func (m *Message) Deletions() []dnsname.Name {
	var out []dnsname.Name
	for _, u := range m.updates {
		if u.wrong == nil && u.class != dns.ClassINET {
			out = append(out, u.Name)
		}
	}
	slices.SortFunc(out, dnsname.Name.Compare)
	return slices.Compact(out)
}

// Deletes reports whether the message deletes a record, if there is one: the name servers of the apex go one by one
// (RFC 2136 §3.4.2.3).
func (m *Message) Deletes(key rr.Key, data string) bool {
	return slices.ContainsFunc(m.updates, func(u record) bool {
		switch {
		case u.wrong != nil || u.class == dns.ClassINET || u.Name != key.Name || !u.any && u.Type != key.Type:
			return false
		case u.class == dns.ClassNONE:
			return u.data == data
		}
		return key.Name != m.Zone || key.Type != rr.TypeNS
	})
}

// Check says which prerequisite does not hold, or cannot (RFC 2136 §3.2.5); nil: all do.
func (m *Message) Check(c Content) *Refusal {
	want := rr.Sets{}.Txn()
	var compared []rr.Key
	for _, p := range m.prereqs {
		switch {
		case p.wrong != nil:
			return p.wrong
		case p.class == dns.ClassINET:
			set, _ := want.Get(p.Key)
			want.Put(rr.NewSet(p.Key, 0, append(slices.Clone(set.Data), p.data)...))
			compared = append(compared, p.Key)
		case p.any && p.class == dns.ClassANY && !c.uses(m.Zone, p.Name):
			return refuse(dns.RcodeNameError, "%s has no records.", p.Name)
		case p.any && p.class == dns.ClassNONE && c.uses(m.Zone, p.Name):
			return refuse(dns.RcodeYXDomain, "%s has records.", p.Name)
		case p.any:
		case p.class == dns.ClassANY && !c.has(m.Zone, p.Key):
			return refuse(dns.RcodeNXRrset, "There is no set %s.", p.Key)
		case p.class == dns.ClassNONE && c.has(m.Zone, p.Key):
			return refuse(dns.RcodeYXRrset, "There is a set %s.", p.Key)
		}
	}
	for _, key := range compared {
		set, _ := want.Get(key)
		if !slices.Equal(set.Data, c.data(m.Zone, key)) {
			return refuse(dns.RcodeNXRrset, "The set %s differs.", key)
		}
	}
	return nil
}

func (c Content) data(zone dnsname.Name, key rr.Key) []string {
	if key.Type == rr.TypeSOA && key.Name == zone {
		return []string{c.SOA.Data()}
	}
	set, _ := c.Sets.Get(key)
	return set.Data
}

func (c Content) has(zone dnsname.Name, key rr.Key) bool { return len(c.data(zone, key)) > 0 }

func (c Content) uses(zone, name dnsname.Name) bool {
	if name == zone {
		return true
	}
	for range c.Sets.At(name) {
		return true
	}
	return false
}

// A Change is a set that becomes another one.
type Change struct {
	rr.Key
	Before, After rr.Set // without data: there is none
}

// Grows reports whether the change only adds records: those that there were are as before.
func (c Change) Grows() bool {
	if len(c.Before.Data) > 0 && c.Before.TTL != c.After.TTL {
		return false
	}
	return !slices.ContainsFunc(c.Before.Data, func(d string) bool { return !slices.Contains(c.After.Data, d) })
}

// Changes returns what becomes of a zone by the update section (RFC 2136 §3.4), in the order of the zone. The SOA is
// the operator's own: a message that asks for a later one is refused.
func (m *Message) Changes(c Content) ([]Change, *Refusal) {
	for _, u := range m.updates {
		if u.wrong != nil {
			return nil, u.wrong
		}
	}
	txn := c.Sets.Txn()
	touched := rr.Sets{}.Txn()
	for _, u := range m.updates {
		if u.Type == rr.TypeSOA {
			if refusal := u.soa(m.Zone, c); refusal != nil {
				return nil, refusal
			}
			continue
		}
		for _, set := range u.over(m.Zone, txn) {
			txn.Put(set)
			touched.Put(rr.NewSet(set.Key(), 0, "")) // a mark
		}
	}
	var out []Change
	after := txn.Sets()
	for mark := range touched.Sets().All() {
		change := Change{Key: mark.Key()}
		change.Before, _ = c.Sets.Get(change.Key)
		change.After, _ = after.Get(change.Key)
		if !change.Before.Equal(change.After) {
			out = append(out, change)
		}
	}
	return out, nil
}

// soa says what is wrong with an update of the SOA. One that is not later, or where there is none, has no effect, nor
// has a deletion (RFC 2136 §3.4.2.2, §3.4.2.3).
func (u record) soa(zone dnsname.Name, c Content) *Refusal {
	if u.class != dns.ClassINET || u.Name != zone {
		return nil
	}
	soa, err := rr.ParseSOA(u.data)
	if err != nil {
		return refuse(dns.RcodeFormatError, "The SOA cannot be read: %v.", err)
	}
	if rr.SerialLess(c.SOA.Serial, soa.Serial) {
		return refuse(dns.RcodeRefused, "The SOA follows from the Zone and cannot be updated.")
	}
	return nil
}

// over returns the sets that a record changes, as they are then; those without data are to go.
func (u record) over(zone dnsname.Name, txn *rr.SetsTxn) (out []rr.Set) {
	have, _ := txn.Get(u.Key)
	switch {
	case u.class == dns.ClassINET:
		return u.add(have, txn)
	case u.class == dns.ClassANY && u.any:
		for set := range txn.Sets().At(u.Name) {
			if set.Name != zone || set.Type != rr.TypeNS {
				out = append(out, rr.Set{Name: set.Name, Type: set.Type})
			}
		}
		return out
	case u.class == dns.ClassANY:
		if u.Name == zone && u.Type == rr.TypeNS {
			return nil
		}
		return []rr.Set{{Name: u.Name, Type: u.Type}}
	}
	rest := slices.DeleteFunc(slices.Clone(have.Data), func(d string) bool { return d == u.data })
	if len(rest) == 0 && u.Name == zone && u.Type == rr.TypeNS {
		return nil // the last name server stays
	}
	return []rr.Set{rr.NewSet(u.Key, have.TTL, rest...)}
}

// add adds a record: not beside a CNAME, nor a CNAME beside others (RFC 2136 §3.4.2.2). A set has one TTL, the last one
// that was said (RFC 2181 §5.2).
func (u record) add(have rr.Set, txn *rr.SetsTxn) []rr.Set {
	for set := range txn.Sets().At(u.Name) {
		if set.Type != u.Type && (set.Type.Exclusive() || u.Type.Exclusive()) {
			return nil
		}
	}
	data := []string{u.data}
	for _, there := range have.Data {
		if !u.replaces(there) {
			data = append(data, there)
		}
	}
	return []rr.Set{rr.NewSet(u.Key, u.ttl, data...)}
}

// replaces reports whether a record takes the place of one of its set: of a type of which a name has one, or of the
// services at the same address by the same protocol (WKS).
func (u record) replaces(data string) bool {
	return u.Type.Singleton() || u.Type == typeWKS && host(u.data) == host(data)
}

// typeWKS is the type of well-known services (RFC 1035 §3.4.2).
const typeWKS rr.Type = 11

// host returns the address and the protocol of a WKS record, of five octets in hexadecimal digits.
func host(data string) string {
	_, digits, _ := strings.Cut(strings.TrimPrefix(data, `\# `), " ") // RFC 3597 §5
	return digits[:min(len(digits), 10)]
}
