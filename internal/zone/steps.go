package zone

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A Step is what one Zone says to who asks for a name in it.
type Step struct {
	Zone    ID     // zero: the grants of Backends were asked
	Rule    string // that lets it in; "": none does
	Allows  bool
	Reason  Reason // Accepted, NotDelegated, Undelegated, NotGranted; or NotAsked, of a Zone that has no say
	Message string
}

// steps asks for a claim once more, without a trace.
func (o *objects) steps(c *claimState) []Step {
	var out []Step
	again := &claimState{Claim: c.Claim, created: c.created, node: c.node}
	o.home(again, func(z *zoneState, said Reason) { out = append(out, o.stepOfClaim(z, again, said, out)) })
	return out
}

// grantStep says who let a Zone in that has no Zone above.
func (o *objects) grantStep(z *zoneState) Step {
	s := Step{Allows: true, Reason: Accepted}
	spelt := o.isSuffix(z.node.name)
	for _, backend := range slices.Sorted(maps.Keys(o.grants)) {
		for _, g := range o.grants[backend] {
			if g.Allows(z.ID.Namespace, z.node.name, spelt) {
				s.Rule = "the grants of Backend " + backend
				s.Message = fmt.Sprintf("Backend %s grants %s to namespace %s.", backend, z.node.name, z.ID.Namespace)
				return s
			}
		}
	}
	s.Message = fmt.Sprintf("No Zone encloses %s, and no Backend limits who may have such a name.", z.node.name)
	return s
}

// stepOfZone is what a Zone says to one below it.
func (z *zoneState) stepOfZone(child *zoneState, said Reason) Step {
	s := Step{Zone: z.ID, Allows: said == Accepted, Reason: said}
	name, namespace := child.node.name, child.ID.Namespace
	var below dnsname.Candidate
	below.Of(name, z.node.name)
	switch said {
	case Accepted:
		s.Rule = z.zoneRule(namespace, &below)
		s.Message = fmt.Sprintf("%s delegates %s to namespace %s.", z.ID, name, namespace)
	case NotAsked:
		s.Message = fmt.Sprintf("%s has no say: it is younger than %s and does not delegate %s to namespace %s.", z.ID,
			child.ID, name, namespace)
	case Undelegated:
		s.Message = fmt.Sprintf("%s has no rule for %s, and is in the same namespace: %s is independent.",
			z.ID, name, child.ID)
	default:
		s.Message = fmt.Sprintf("%s has no delegation that gives %s to namespace %s.", z.ID, name, namespace)
	}
	return s
}

// stepOfClaim is what a Zone says to a claim, after what others have said.
func (o *objects) stepOfClaim(z *zoneState, c *claimState, said Reason, before []Step) Step {
	s := Step{Zone: z.ID, Allows: said == Accepted, Reason: said}
	name, namespace := c.name(), c.ID.Namespace
	switch said {
	case Accepted:
		s.Rule = z.recordRule(c)
		s.Message = fmt.Sprintf("%s lets namespace %s have %s %s.", z.ID, namespace, name, c.Type)
	case NotAsked:
		below := o.zones[before[len(before)-1].Zone]
		s.Message = fmt.Sprintf("%s has no say: it is younger than %s, and in another namespace.", z.ID, below.ID)
		if below.trusts(z) {
			s.Message = fmt.Sprintf("%s is not asked: the Zones below it already have too many rules.", z.ID)
		}
	default:
		if !z.Policy.delegates() {
			s.Message = fmt.Sprintf("%s does not let namespace %s have %s.", z.ID, namespace, name)
			break
		}
		s.Message = fmt.Sprintf("%s has no delegation that gives %s %s to namespace %s.", z.ID, name, c.Type, namespace)
	}
	return s
}

// zoneRule says which rule of z lets in a Zone below.
func (z *zoneState) zoneRule(namespace string, name *dnsname.Candidate) string {
	for i := range z.Rules {
		r := &z.Rules[i]
		if !r.covers(namespace) {
			continue
		}
		for j := range r.Zones {
			if r.Zones[j].Matches(name) {
				return r.inWords(cmp.Or(z.Policy.Words.ZoneRule, "the zone %q"), r.Zones[j])
			}
		}
	}
	return ""
}

// recordRule says which rule of z lets in a claim.
func (z *zoneState) recordRule(c *claimState) string {
	var name dnsname.Candidate
	name.Of(c.name(), z.node.name)
	for i := range z.Rules {
		r := &z.Rules[i]
		if r.allowsRecord(c.ID.Namespace, c.Type, &name) != c.permission {
			continue
		}
		for _, rec := range r.Records {
			if rec.Pattern.Matches(&name) && (len(rec.Types) == 0) == (c.permission == anyType) {
				words := cmp.Or(z.Policy.Words.RecordRule, "the name %q")
				for i, t := range rec.Types {
					words += []string{" of type ", ", "}[min(i, 1)] + t.String()
				}
				return r.inWords(words, rec.Pattern)
			}
		}
	}
	return ""
}

// inWords says a rule by one of its patterns; words is a format of that.
func (r *Rule) inWords(words string, p dnsname.Pattern) string {
	namespaces := "every namespace"
	if len(r.Namespaces) > 0 {
		namespaces = "namespace " + strings.Join(r.Namespaces, ", ")
	}
	return fmt.Sprintf(words, p) + " for " + namespaces
}
