package zone

import (
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Kinds of objects that kubi.zone puts into a World. Other dialects bring their own, and no rule depends on them.
const (
	KindZone   = "Zone"
	KindRecord = "Record"
)

// An ID names one object of the cluster, or, by a part, one of several claims of an object: then Name is that of the
// object, a slash, which is in no name of an object, and the part.
type ID struct{ Kind, Namespace, Name string }

// Part names one of several claims of the object.
func (id ID) Part(part string) ID { return ID{id.Kind, id.Namespace, id.Name + "/" + part} }

// Object names the object that a claim is of.
func (id ID) Object() ID {
	id.Name, _, _ = strings.Cut(id.Name, "/")
	return id
}

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// String returns the form that messages use, such as "Zone dns/example-org". A part is not in it.
func (id ID) String() string {
	id = id.Object()
	if id.Namespace == "" {
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// Compare orders identities by namespace, name and kind.
func (id ID) Compare(o ID) int {
	if c := strings.Compare(id.Namespace, o.Namespace); c != 0 {
		return c
	}
	if c := strings.Compare(id.Name, o.Name); c != 0 {
		return c
	}
	return strings.Compare(id.Kind, o.Kind)
}

// Where says which name an object asks for: an absolute Name, or a Relative one
// below the Zone that Ref names. A claim may have both Name and Ref; then Ref pins
// its Zone. A Zone has one of the two, and a name of its own below Ref.
type Where struct {
	Name     dnsname.Name
	Relative dnsname.Relative
	Ref      ID     // zero: none
	RefField string // the field that says Ref, for messages: "zoneRef"; empty: it has no name
}

// A Rule is one delegation: it lets objects of its namespaces be adopted.
type Rule struct {
	Namespaces []string // empty: any namespace
	Zones      []dnsname.Pattern
	Records    []RecordRule
}

// A RecordRule allows records whose name matches Pattern and whose type is listed.
type RecordRule struct {
	Pattern dnsname.Pattern
	Types   []rr.Type // empty: any type
}

// A Zone is the wish of one object to own a part of the name space.
type Zone struct {
	ID      ID
	Created time.Time // zero: not created yet, and so younger than every other
	Where   Where
	Rules   []Rule
	TTL     uint32  // default TTL of records, seconds
	SOATTL  *uint32 // TTL of the SOA; nil: the same
	// Timers of the SOA in seconds, RFC 1035 §3.3.13.
	Refresh, Retry, Expire, Minimum uint32
	MName, RName                    dnsname.Name // zero: derived
	Policy                          Policy
	// Own are the sets that the Zone brings itself, such as its name servers. They are at
	// or below its name, and come before all claims.
	Own []rr.Set
	// Reverse has PTR records of others' addresses derived; nil: none are.
	Reverse *Reverse
	// Servers are addresses of the servers that have the Zone: name servers of its apex
	// that are in it, and have none, get them.
	Servers  []Address
	Invalid  *Refusal // set: the object cannot be understood and captures nothing
	Warnings []Note   // what the conversion found questionable
}

// placedAs reports whether two Zones of one object are the same to those around them, whatever they hold.
func (z *Zone) placedAs(o *Zone) bool {
	sameFault := (z.Invalid == nil) == (o.Invalid == nil)
	return z.Where == o.Where && z.Policy == o.Policy && z.Created.Equal(o.Created) && sameFault
}

// An Address is the data of an A or AAAA record, canonical.
type Address struct {
	Type rr.Type
	Data string
}

// A Claim is the wish of one object for records of one type at one name.
type Claim struct {
	ID       ID
	Created  time.Time // zero: not created yet, and so younger than every other
	Where    Where
	Type     rr.Type
	TTL      *uint32  // nil: the TTL of its Zone
	Data     []string // canonical, from rr.ParseData, each once
	Terms    string   // in a heap, claims of one namespace and equal Terms share a set; "": with nobody
	Kept     bool     // it stands for what was published, see World.Kept
	Invalid  *Refusal
	Warnings []Note // what the conversion found questionable
}

// equal reports whether two claims ask for the same.
func (c Claim) equal(o Claim) bool {
	sameTTL := c.TTL == o.TTL || c.TTL != nil && o.TTL != nil && *c.TTL == *o.TTL
	sameFault := c.Invalid == o.Invalid || c.Invalid != nil && o.Invalid != nil && *c.Invalid == *o.Invalid
	return c.ID == o.ID && c.Created.Equal(o.Created) && c.Where == o.Where &&
		c.Type == o.Type && c.Terms == o.Terms && c.Kept == o.Kept && slices.Equal(c.Data, o.Data) && sameTTL && sameFault &&
		slices.Equal(c.Warnings, o.Warnings)
}

// A Grant lets namespaces have Zones of the names that match its patterns, which
// are absolute or relative to the root. It comes from a Backend.
type Grant struct {
	Namespaces []string // an empty list allows nobody
	Zones      []dnsname.Pattern
}

// Allows reports whether g gives name to namespace; spelt: by a pattern without a "*".
func (g Grant) Allows(namespace string, name dnsname.Name, spelt bool) bool {
	if !slices.Contains(g.Namespaces, namespace) {
		return false
	}
	return slices.ContainsFunc(g.Zones, func(p dnsname.Pattern) bool {
		return !(spelt && p.HasStar()) && p.Match(name, dnsname.Root)
	})
}

// allowsZone reports whether r lets a Zone of namespace exist at a name below the rule's Zone.
func (r *Rule) allowsZone(namespace string, name *dnsname.Candidate) bool {
	if !r.covers(namespace) {
		return false
	}
	for i := range r.Zones {
		if r.Zones[i].Matches(name) {
			return true
		}
	}
	return false
}

// AllowsRecord reports whether r lets namespace have records of type t at name.
func (r Rule) AllowsRecord(namespace string, key rr.Key, origin dnsname.Name) bool {
	var name dnsname.Candidate
	name.Of(key.Name, origin)
	return r.allowsRecord(namespace, key.Type, &name) != forbidden
}

// A permission is how far rules let a claim in.
type permission uint8

const (
	forbidden permission = iota
	anyType              // by rules without types only: it holds the name
	listed               // by a rule that lists its type: it holds the records of that type
)

// allowsRecord returns the narrowest permission that r gives.
func (r *Rule) allowsRecord(namespace string, t rr.Type, name *dnsname.Candidate) permission {
	best := forbidden
	if !r.covers(namespace) {
		return best
	}
	for i := range r.Records {
		rec := &r.Records[i]
		switch {
		case len(rec.Types) == 0:
			if best == forbidden && rec.Pattern.Matches(name) {
				best = anyType
			}
		case slices.Contains(rec.Types, t) && rec.Pattern.Matches(name):
			return listed
		}
	}
	return best
}

func (r *Rule) covers(namespace string) bool {
	return len(r.Namespaces) == 0 || slices.Contains(r.Namespaces, namespace)
}
