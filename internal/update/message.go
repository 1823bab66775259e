// Package update says what a dynamic update of DNS (RFC 2136) asks for, and what becomes of the sets of a zone by it.
// It decides by the text of the RFC alone; whose records those are is decided elsewhere.
package update

import (
	"fmt"
	"math"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Message is an UPDATE with a zone section that is well-formed.
type Message struct {
	Zone    dnsname.Name
	prereqs []record
	updates []record
}

// A record is one of a message, of which class ANY or NONE stands for a wish.
type record struct {
	rr.Key
	class uint16
	any   bool     // its type is ANY
	ttl   uint32   // seconds
	data  string   // canonical; "" if it came without and needs none
	wrong *Refusal // what is wrong with its form, which is said when its turn comes; nil: nothing
}

// A Refusal is an answer that says no.
type Refusal struct {
	Rcode int
	Text  string // a sentence for people
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// Name returns the mnemonic of the rcode.
func (r *Refusal) Name() string { return dns.RcodeToString[r.Rcode] }

// The rcodes of answers that do not follow from the message alone.
const (
	Success       = dns.RcodeSuccess
	ServerFailure = dns.RcodeServerFailure
	Refused       = dns.RcodeRefused
	NotAuth       = dns.RcodeNotAuth
)

func refuse(rcode int, format string, args ...any) *Refusal {
	return &Refusal{rcode, fmt.Sprintf(format, args...)}
}

// Most is how many records a message may have in its sections of prerequisites and updates together.
const Most = 2000

// Parse reads a message in wire format and says what is wrong with its zone section (RFC 2136 §3.1.1). What is wrong
// with a record Check and Changes say, as what comes before it may be wrong, too.
func Parse(wire []byte) (*Message, *Refusal) {
	m := new(dns.Msg)
	if err := m.Unpack(wire); err != nil {
		return nil, refuse(dns.RcodeFormatError, "The message cannot be read: %v.", err)
	}
	if m.Opcode != dns.OpcodeUpdate || len(m.Question) != 1 || m.Question[0].Qtype != dns.TypeSOA {
		return nil, refuse(dns.RcodeFormatError, "The zone section does not have one SOA.")
	}
	if n := len(m.Answer) + len(m.Ns); n > Most {
		return nil, refuse(dns.RcodeRefused, "The message has %d records, more than %d; send several messages.", n, Most)
	}
	zone, err := rr.MessageName(m.Question[0].Name)
	switch {
	case err != nil:
		return nil, refuse(dns.RcodeFormatError, "The name of the zone cannot be read: %v.", err)
	case m.Question[0].Qclass != dns.ClassINET:
		return nil, refuse(dns.RcodeNotAuth, "Zones have the class IN only.")
	}
	out := &Message{Zone: zone}
	for _, r := range m.Answer {
		p, refusal := readPrerequisite(zone, r)
		p.wrong = refusal
		out.prereqs = append(out.prereqs, p)
	}
	for _, r := range m.Ns {
		u, refusal := readUpdate(zone, r)
		u.wrong = refusal
		out.updates = append(out.updates, u)
	}
	return out, nil
}

// readPrerequisite reads a record of the prerequisite section (RFC 2136 §3.2.5).
func readPrerequisite(zone dnsname.Name, r dns.RR) (record, *Refusal) {
	h := r.Header()
	if h.Ttl != 0 {
		return record{}, refuse(dns.RcodeFormatError, "A prerequisite has a TTL.")
	}
	p, refusal := read(zone, r)
	switch {
	case refusal != nil:
		return p, refusal
	case h.Class != dns.ClassINET && p.data != "":
		return p, refuse(dns.RcodeFormatError, "A prerequisite of class %s has data.", dns.Class(h.Class))
	case h.Class == dns.ClassINET && p.any:
		return p, refuse(dns.RcodeFormatError, "A prerequisite that compares a set has no data to compare.")
	case h.Class == dns.ClassINET && p.data == "":
		return p.empty()
	}
	return p, nil
}

// readUpdate reads a record of the update section (RFC 2136 §3.4.1.3).
func readUpdate(zone dnsname.Name, r dns.RR) (record, *Refusal) {
	h := r.Header()
	u, refusal := read(zone, r)
	switch {
	case refusal != nil:
		return u, refusal
	case h.Class != dns.ClassINET && h.Ttl != 0:
		return u, refuse(dns.RcodeFormatError, "A deletion has a TTL.")
	case h.Class == dns.ClassANY && u.data != "":
		return u, refuse(dns.RcodeFormatError, "The deletion of a set has data.")
	case h.Class != dns.ClassANY && u.any:
		return u, refuse(dns.RcodeFormatError, "A record cannot have the type ANY.")
	case h.Class != dns.ClassANY && u.data == "":
		if u, refusal = u.empty(); refusal != nil {
			return u, refusal
		}
	}
	if h.Class == dns.ClassINET {
		if u.ttl > math.MaxInt32 {
			u.ttl = 0 // RFC 2181 §8
		}
		if why := u.Type.Refused(); why != "" && u.Type != rr.TypeSOA {
			return u, refuse(dns.RcodeRefused, "%s cannot be written: %s.", u.Key, why)
		}
		data, err := rr.ParseData(u.Type, u.data)
		if err != nil {
			return u, refuse(dns.RcodeFormatError, "%s cannot be added: %v.", u.Key, err)
		}
		u.data = data
	}
	return u, nil
}

// read reads what all records have.
func read(zone dnsname.Name, r dns.RR) (record, *Refusal) {
	h := *r.Header()
	name, err := rr.MessageName(h.Name)
	if err != nil {
		return record{}, refuse(dns.RcodeFormatError, "The owner of a record cannot be read: %v.", err)
	}
	out := record{Key: rr.Key{Name: name, Type: rr.Type(h.Rrtype)}, class: h.Class, ttl: h.Ttl,
		any: h.Rrtype == dns.TypeANY}
	switch {
	case !name.Under(zone):
		return out, refuse(dns.RcodeNotZone, "%s is not in zone %s.", name, zone)
	case h.Class != dns.ClassINET && h.Class != dns.ClassANY && h.Class != dns.ClassNONE:
		return out, refuse(dns.RcodeFormatError, "%s has class %s, which has no meaning here.", out.Key, dns.Class(h.Class))
	case !out.any && meta(h.Rrtype):
		return out, refuse(dns.RcodeFormatError, "Type %s occurs only in messages.", out.Type)
	case h.Rdlength == 0:
		return out, nil
	}
	r.Header().Class = dns.ClassINET
	sets, err := rr.FromRRs([]dns.RR{r})
	if err != nil {
		return out, refuse(dns.RcodeFormatError, "%s cannot be read: %v.", out.Key, err)
	}
	out.data = sets[0].Data[0]
	return out, nil
}

// empty returns a record that came without data as one with empty data, if its type may have them, as APL may
// (RFC 3123 §4).
func (u record) empty() (record, *Refusal) {
	data, err := rr.ParseData(u.Type, `\# 0`)
	if err != nil {
		return u, refuse(dns.RcodeFormatError, "%s has no data.", u.Key)
	}
	u.data = data
	return u, nil
}

// meta reports whether no record can have a type (RFC 6895 §3.1).
func meta(t uint16) bool { return t == 0 || t == dns.TypeOPT || t >= 128 && t <= 255 }
