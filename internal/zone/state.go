package zone

import (
	"cmp"
	"math"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A zoneState is what the World knows about one Zone.
type zoneState struct {
	Zone
	created int64 // see ageOf
	parts   int   // of its rules
	tree    *tree // where its name is
	node    *node // nil: it has no name
	standing
	answers
	referral
	block   block // whose addresses know the Zone
	leaving int   // cells that leave out a PTR
	dead    bool  // replaced or deleted; its cells are about to go
}

// standing is what the Zones around it, and its own faults, make of a Zone.
type standing struct {
	problem *Refusal     // why it has no name
	above   ruling       // what the Zones above say
	skipped []*zoneState // the younger ones above that were not asked for it
	ruling  ruling       // what follows, with those of the same name
	judged  Verdict      // the ruling in words, without notes
	verdict Verdict      // as of the last Settle
	taken   string       // the message of claims that it accepts

	overtook   []*zoneState            // younger Zones above that do not delegate to it
	overtakers map[*zoneState]struct{} // older Zones below that it does not delegate to
	lineage    []*zoneState            // the Zones above that delegate to it, as its holding was told to them
}

// answers is what a Zone's servers answer.
type answers struct {
	txn     *rr.SetsTxn // nil: as sets
	sets    rr.Sets
	hash    hasher
	soa     rr.SOA
	servers []dnsname.Name // name servers of the apex that are in it, if it has addresses for them
}

// referral is what a Zone's parent says of it.
type referral struct {
	feeds     *zoneState     // the parent that takes over its NS and DS sets
	needs     []dnsname.Name // what its apex NS records name inside that parent
	notCopied *Note          // why the parent does not take them over
}

func (z *zoneState) accepted() bool { return z.ruling.reason == Accepted }

// live reports whether z has content: it is accepted, and not about to go.
func (z *zoneState) live() bool { return z.accepted() && !z.dead }

// parent returns the Zone that delegates to z; nil for a root and for a refused one.
func (z *zoneState) parent() *zoneState { return z.ruling.parent }

// next returns the Zone that is asked for claims that z refuses; nil: none is.
func (z *zoneState) next() *zoneState {
	if z.ruling.within != nil {
		return z.ruling.within
	}
	return z.parent()
}

// root reports whether no Zone above has a say about z, so that a grant has it.
func (z *zoneState) root() bool { return z.accepted() && z.next() == nil }

// older orders Zones for everything where the oldest wins.
func (z *zoneState) older(o *zoneState) bool { return z.compare(o) < 0 }

func (z *zoneState) compare(o *zoneState) int {
	return cmp.Or(cmp.Compare(z.created, o.created), z.ID.Compare(o.ID))
}

// descends reports whether z is up, or below it by a chain of delegations.
func (z *zoneState) descends(up *zoneState) bool {
	for ; z != nil; z = z.parent() {
		if z == up {
			return true
		}
	}
	return false
}

// change returns the transaction for the Zone's content.
func (z *zoneState) change() *rr.SetsTxn {
	if z.txn == nil {
		z.txn = z.sets.Txn()
	}
	return z.txn
}

// A claimState is what the World knows about one claim.
type claimState struct {
	Claim
	created int64 // see ageOf
	node    *node // nil: it has no name
	cell    *cell // of the Zone that is asked to take it; nil: none is

	accepted bool       // or
	refusal  *objection // not; neither: not decided
	differs  *difference
	reported reported

	homing, reporting bool       // it waits in work.homes, in work.reports
	dead              bool       // replaced or deleted
	permission        permission // of the Zone that is asked to take it
}

func (c *claimState) name() dnsname.Name {
	if c.node == nil {
		return dnsname.Name{}
	}
	return c.node.name
}

func (c *claimState) compare(o *claimState) int {
	return cmp.Or(cmp.Compare(c.created, o.created), c.ID.Compare(o.ID))
}

// whatIf is the age of an object that nobody has written.
const whatIf = math.MaxInt64

// ageOf returns nanoseconds since 1970, by which objects are ordered; an object that is not created yet is younger than
// all others. Only who asks what if is younger still.
func ageOf(created time.Time) int64 {
	if created.IsZero() {
		return whatIf - 1
	}
	return created.UnixNano()
}
