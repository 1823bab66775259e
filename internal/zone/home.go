package zone

import (
	"cmp"
	"fmt"

	"github.com/zonefold/zonefold/internal/rr"
)

// home finds the Zone that takes a claim, and with which permission, or says why none does. The longest accepted
// Zone that encloses the name is asked first, then the Zone that delegates to that one,
// and so on up as far as each trusts the next: who creates a Zone above yours gets no
// names of yours by that; and as far as [MaxAskedParts] allows. A reference pins the Zone, and then no other is asked.
// hear, if it is not nil, is told of each that is asked, and of the first one that is not.
func (o *objects) home(c *claimState, hear func(z *zoneState, said Reason)) (*zoneState, cause) {
	if ref := c.Where.Ref; !ref.IsZero() {
		return o.pinned(c, ref, hear)
	}
	nearest := c.node.nearest()
	if nearest == nil {
		return nil, cause{reason: NoZone}
	}
	left := MaxAskedParts - nearest.parts
	for z := nearest; ; z = z.next() {
		if z.lets(c, hear) {
			return z, cause{}
		}
		next := z.next()
		if next == nil {
			break
		}
		if left -= next.parts; left < 0 || !z.trusts(next) {
			if hear != nil {
				hear(next, NotAsked)
			}
			break
		}
	}
	return nil, cause{reason: NotDelegated, zone: nearest}
}

// lets asks a Zone for a claim.
func (z *zoneState) lets(c *claimState, hear func(z *zoneState, said Reason)) bool {
	if c.permission = listed; !c.Kept {
		c.permission = z.allowsRecord(c.ID.Namespace, c.key())
	}
	said := Accepted
	if c.permission == forbidden {
		said = NotDelegated
	}
	if hear != nil {
		hear(z, said)
	}
	return said == Accepted
}

// trusts reports whether the Zone that delegates to z may have the records that z
// refuses: it was there first, or z refers to it, or both are of one namespace.
func (z *zoneState) trusts(parent *zoneState) bool {
	return parent.created <= z.created || z.Where.Ref == parent.ID || z.ID.Namespace == parent.ID.Namespace
}

func (o *objects) pinned(c *claimState, ref ID, hear func(z *zoneState, said Reason)) (*zoneState, cause) {
	z := o.zones[ref]
	switch {
	case z == nil:
		return nil, cause{reason: ReferenceNotFound, by: ref, going: o.going[ref]}
	case !z.accepted():
		return nil, cause{reason: ParentNotAccepted, by: ref}
	case !c.name().Under(z.node.name):
		return nil, cause{reason: OutOfZone, zone: z}
	}
	if !z.lets(c, hear) {
		return nil, cause{reason: NotDelegated, zone: z}
	}
	return z, cause{}
}

func (c *claimState) key() rr.Key { return rr.Key{Name: c.name(), Type: c.Type} }

// A cause says why a claim is refused: with the claim itself it determines the words,
// so that they are made anew only when it changes.
type cause struct {
	reason Reason
	zone   *zoneState // that refuses it
	by     ID         // who stands against it
	has    rr.Type    // with a record of this type; of NameHeld: it has that set, not the name
	going  bool       // who stands against it is being deleted
}

// An objection is a refusal with its cause; the cause is zero where there is none but
// the words.
type objection struct {
	cause cause
	Refusal
}

// refuse refuses a claim for a cause.
func (p *composer) refuse(c *claimState, why cause) {
	if c.refusal != nil && c.refusal.cause == why {
		return
	}
	p.setAccepted(c, false)
	c.differs = nil
	c.refusal = &objection{why, Refusal{why.reason, inWords(c, why)}}
	p.enqueueReport(c)
}

// refuseWith refuses a claim with words that were found elsewhere.
func (p *composer) refuseWith(c *claimState, r Refusal) {
	p.setAccepted(c, false)
	c.differs = nil
	c.refusal = &objection{Refusal: r}
	p.enqueueReport(c)
}

// inWords says in a sentence why a claim is refused.
func inWords(c *claimState, why cause) string {
	name, id := c.name(), c.ID
	switch why.reason {
	case NoZone:
		if why.zone != nil {
			return fmt.Sprintf(
				"%s asks for a DS at %s; it belongs in the zone above, and no Zone delegates %s (RFC 4035 §2.4).", id, name, name)
		}
		return fmt.Sprintf("No accepted Zone encloses %s, which %s asks for; create one, or see the conditions of yours.",
			name, id)
	case NotDelegated:
		if !why.zone.Policy.delegates() {
			return fmt.Sprintf("%s does not let namespace %s have %s; %s.", why.zone.ID, id.Namespace, name,
				cmp.Or(why.zone.Policy.Words.Remedy, "have its owner allow it, or choose another name"))
		}
		return fmt.Sprintf("%s has no delegation that gives %s %s to namespace %s; add one with %s to it.",
			why.zone.ID, name, c.Type, id.Namespace, why.zone.recordRuleFor(name))
	case ReferenceNotFound:
		return referenceNotFound(id, c.Where, why.going)
	case ParentNotAccepted:
		return fmt.Sprintf("%s refers to %s, which is not accepted; correct that one first.", id, why.by)
	case OutOfZone:
		return fmt.Sprintf("%s asks for %s, which is not inside %s (%s); correct %s.", id, name, why.zone.ID,
			why.zone.node.name, cmp.Or(why.zone.Policy.Words.Place, "its name, or the zone that it names"))
	case InvalidName:
		return fmt.Sprintf("%s asks for an NS at %s; a wildcard cannot be delegated, and servers do not load such a zone "+
			"(RFC 4592 §4.2); delegate each name.",
			id, name)
	case NameHeld:
		if why.has != 0 {
			return fmt.Sprintf("Namespace %s holds the %s records of %s by %s; %s of namespace %s has to choose another name.",
				why.by.Namespace, why.has, name, why.by, id, id.Namespace)
		}
		return fmt.Sprintf("Namespace %s holds %s by %s; %s of namespace %s has to choose another name.",
			why.by.Namespace, name, why.by, id, id.Namespace)
	case HidesNames:
		return fmt.Sprintf("%s asks for %s at %s, which would hide names below it that other namespaces hold in %s; choose "+
			"a name that hides none.",
			id, c.Type.One(), name, why.zone.ID)
	case SetFull:
		return fmt.Sprintf(
			"The set %s %s, or the name, has reached its limit of records or types; %s, which is younger, is left out.",
			name, c.Type, id)
	case Conflict:
		return conflict(c, why)
	}
	return ""
}

func conflict(c *claimState, why cause) string {
	switch {
	case why.has == c.Type && !why.zone.Policy.merges():
		return fmt.Sprintf("%s asks for the %s records at %s in %s, which belong to the older %s; remove one of the two, "+
			"or choose another name.",
			c.ID, c.Type, c.name(), why.zone.ID, why.by)
	case why.by.IsZero():
		return fmt.Sprintf(
			"%s asks for a CNAME at %s, the apex of %s, where SOA and NS records are (RFC 1034 §3.6.2); use A and AAAA records.",
			c.ID, c.name(), why.zone.ID)
	case why.has == 0:
		return fmt.Sprintf("%s asks for a CNAME at %s, which is a name server of %s and cannot be an alias (RFC 2181 "+
			"§10.3); use A and AAAA records.",
			c.ID, c.name(), why.zone.ID)
	case why.by.Kind == KindKept:
		return fmt.Sprintf("%s asks for %s at %s, where %s stays published because some objects that may ask for it cannot "+
			"be read; the two cannot coexist. Wait until they can be read, or turn off their sources.",
			c.ID, c.Type.One(), c.name(), why.has.One())
	case why.has == c.Type:
		return fmt.Sprintf("%s asks for a second %s at %s; %s, which comes first, has the only one (RFC 2181 §10.1).",
			c.ID, c.Type, c.name(), why.by)
	}
	return fmt.Sprintf("%s asks for %s at %s, where %s, which comes first, has %s; the two cannot coexist.",
		c.ID, c.Type.One(), c.name(), why.by, why.has.One())
}
