package zone

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A Reason is a stable word for why something is as it is; it is what conditions,
// metrics and `zonefold render` show.
type Reason string

// Reasons of a verdict.
const (
	Accepted Reason = "Accepted" // taken; what a message says is served

	// The object itself is wrong.
	InvalidName   Reason = "InvalidName"   // the name cannot be read, is too long, or is none for such an object
	InvalidSpec   Reason = "InvalidSpec"   // fields contradict each other, or a number is out of range
	InvalidData   Reason = "InvalidData"   // rdata cannot be read as its type
	InvalidType   Reason = "InvalidType"   // a type nobody may write
	ClassMismatch Reason = "ClassMismatch" // a class other than the zone's

	// Its place in the tree is not there.
	ReferenceNotFound Reason = "ReferenceNotFound" // no such Zone is there
	ReferenceCycle    Reason = "ReferenceCycle"    // references lead back to the Zone itself
	ParentUnresolved  Reason = "ParentUnresolved"  // the referenced Zone has no name itself
	ParentNotAccepted Reason = "ParentNotAccepted" // the Zone above is refused
	NoZone            Reason = "NoZone"            // no accepted Zone encloses the name
	OutOfZone         Reason = "OutOfZone"         // the name is not inside the referenced Zone

	// Somebody does not allow it, or has it already.
	NotDelegated  Reason = "NotDelegated"  // no rule of the Zone above allows it
	NotGranted    Reason = "NotGranted"    // no Backend grants the name to the namespace
	DuplicateZone Reason = "DuplicateZone" // an older Zone has the name
	NameHeld      Reason = "NameHeld"      // another namespace holds the name, or the records of the type there
	HidesNames    Reason = "HidesNames"    // it would hide names that others hold
	Conflict      Reason = "Conflict"      // an older claim at the name excludes it
	SetFull       Reason = "SetFull"       // the set has as many records as it may have, or the name as many types
)

// Reasons of a Note: the object is accepted, and yet.
const (
	Occluded      Reason = "Occluded"      // a zone cut or DNAME above hides it
	TTLDiffers    Reason = "TTLDiffers"    // the set has the TTL of its oldest claim
	NoNameServers Reason = "NoNameServers" // the Zone has no NS records at its apex
	NotCopied     Reason = "NotCopied"     // the parent does not take over the NS records
	Undelegated   Reason = "Undelegated"   // the Zone of its own namespace that encloses it has no rule for it
	InSubZone     Reason = "InSubZone"     // a Zone below has the name, and does not have the record
	Bypassed      Reason = "Bypassed"      // a cut in the parent leads past the Zone
	InvalidRule   Reason = "InvalidRule"   // a delegation rule grants nothing because it cannot be read
	InvalidTimers Reason = "InvalidTimers" // the SOA timers contradict each other
	NotReverse    Reason = "NotReverse"    // the Zone is to have PTR records, and no address has a name in it
	LeftOut       Reason = "LeftOut"       // a name of an address has no PTR in the Zone
	UnquotedText  Reason = "UnquotedText"  // each word of a TXT without quotes is a string of its own
)

// Reasons of an Explanation.
const (
	NotAsked Reason = "NotAsked" // of a Step: the Zone has no say
	NoRecord Reason = "NoRecord" // nobody asks for the name, and the namespace that asks may have it
)

// A Refusal says why an object is not accepted, in a word and in a sentence that
// names the object, the cause and the way out.
type Refusal struct {
	Reason  Reason
	Message string
}

// A Note is something to tell about an accepted object.
type Note struct {
	Reason  Reason
	Message string
	Object  ID // who causes it, where that is an object
}

// A Verdict is what was decided about one object.
type Verdict struct {
	Accepted bool
	Reason   Reason
	Message  string
	Name     dnsname.Name // the absolute name, also of refused objects when it is known
	Zone     ID           // of a claim: the Zone that adopted it; of a Zone: its parent; zero: none
	Above    ID           // of a DS at an apex: the Zone above, which serves it in place of Zone; zero: Zone does
	Notes    []Note       // sorted by reason
}

// Note returns the note with the reason, if there is one.
func (v Verdict) Note(reason Reason) (Note, bool) {
	i := slices.IndexFunc(v.Notes, func(n Note) bool { return n.Reason == reason })
	if i < 0 {
		return Note{}, false
	}
	return v.Notes[i], true
}

// Serving returns the Zone whose servers are to have the set of a claim: the zone above alone serves a DS (RFC 4035
// §3.1.4.1).
func (v Verdict) Serving() ID {
	if !v.Above.IsZero() {
		return v.Above
	}
	return v.Zone
}

// Hosted returns the verdict about a Zone that only servers with name servers of their own for it have, such as those
// of a service: it needs none among its Records.
func (v Verdict) Hosted() Verdict {
	v.Notes = slices.DeleteFunc(slices.Clone(v.Notes), func(n Note) bool { return n.Reason == NoNameServers })
	return v
}

// Equal reports whether two verdicts say the same.
func (v Verdict) Equal(o Verdict) bool {
	return v.Accepted == o.Accepted && v.Reason == o.Reason && v.Message == o.Message &&
		v.Name == o.Name && v.Zone == o.Zone && v.Above == o.Above && slices.Equal(v.Notes, o.Notes)
}

// sorted orders notes by reason and message, each once.
func sorted(notes []Note) []Note {
	slices.SortStableFunc(notes, compareNotes)
	return slices.CompactFunc(notes, func(a, b Note) bool { return compareNotes(a, b) == 0 })
}

func compareNotes(a, b Note) int {
	return cmp.Or(strings.Compare(string(a.Reason), string(b.Reason)), strings.Compare(a.Message, b.Message))
}

func refused(name dnsname.Name, r Refusal) Verdict {
	return Verdict{Reason: r.Reason, Message: r.Message, Name: name}
}
