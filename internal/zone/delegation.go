package zone

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A ruling is what the Zones around it decided about one Zone.
type ruling struct {
	reason Reason     // Accepted, or why not
	spelt  bool       // not granted: only a grant that spells the name would do
	parent *zoneState // accepted: the Zone that delegates to it; nil: it is a root
	within *zoneState // accepted without a delegation: the Zone of its own namespace that encloses it
	by     *zoneState // refused: the Zone that stands against it, if one does
	shadow ID         // refused by that for being below this one, which is refused too
}

// judgeZones decides which Zones are accepted, from the top of the tree down, because
// a ruling depends on the accepted Zones above and on nothing below.
func (w *World) judgeZones() {
	if len(w.judge) == 0 {
		return
	}
	var levels [maxDepth + 1][]*node
	queued := make(map[*node]bool, len(w.judge)) // true: by what is above, too
	push := func(n *node, above bool) {
		was, known := queued[n]
		queued[n] = was || above
		if !known {
			levels[n.depth] = append(levels[n.depth], n)
		}
	}
	for n, above := range w.judge {
		push(n, above)
	}
	upset := map[*zoneState]bool{}
	for depth := range levels {
		for _, n := range levels[depth] {
			before := n.owner
			changed, shaded := w.judgeNode(n, queued[n])
			_, forced := w.redo[n]
			if changed || forced || shaded {
				n.walkZones(func(below *node) { push(below, true) })
			}
			z := n.owner
			if changed || forced || z != nil && upset[z.next()] {
				w.disturb(n, before)
				if z != nil {
					upset[z] = true
				}
			}
		}
	}
	w.judge, w.redo = map[*node]bool{}, map[*node]struct{}{}
	for _, n := range slices.Collect(maps.Keys(queued)) {
		w.prune(n)
	}
}

// judgeNode decides about the Zones at one name, by what is above only if that may
// have changed. It reports whether the accepted one, or its parent, changed, and
// whether what the Zones below are told about refused ones did.
func (w *World) judgeNode(n *node, above bool) (changed, shaded bool) {
	before, beforeParent, beforeNext, shadow := n.owner, (*zoneState)(nil), (*zoneState)(nil), ID{}
	if before != nil {
		beforeParent, beforeNext = before.parent(), before.next()
	}
	n.owner = nil
	for _, z := range n.zones() {
		w.visits++
		if above || z.above.reason == "" {
			z.above, z.skipped = w.judgeZone(z, nil)
		}
		rule, skipped := z.above, z.skipped
		if rule.reason == Accepted {
			if n.owner == nil {
				n.owner = z
			} else {
				rule, skipped = ruling{reason: DuplicateZone, by: n.owner}, nil
			}
		}
		w.overtake(z, skipped, rule.parent)
		if rule != z.ruling {
			if rule.reason != Accepted {
				z.txn, z.sets, z.hash = nil, rr.Sets{}, hasher{}
			}
			z.ruling = rule
			z.judged = z.inWords()
			w.closed[z] = struct{}{}
		}
	}
	if before != nil && before.dead {
		w.overtake(before, nil, nil)
		before.ruling = ruling{}
	}
	if n.sites != nil {
		shadow, n.sites.shadow = n.sites.shadow, ID{}
		if len(n.sites.zones) == 0 {
			n.sites = nil
		} else if n.owner == nil {
			n.sites.shadow = n.sites.zones[0].ID
		}
	}
	changed = n.owner != before || before != nil && (before.parent() != beforeParent || before.next() != beforeNext)
	return changed, shadow != n.shadow()
}

func (n *node) shadow() ID {
	if n.sites == nil {
		return ID{}
	}
	return n.sites.shadow
}

// judgeZone rules about z. Only the nearest accepted Zone above judges; one that is
// younger than z does not take away what z has, and is skipped, unless z itself refers
// to it. In the same second nobody is younger. hear, if it is not nil, is told of each accepted Zone above up to that.
func (o *objects) judgeZone(z *zoneState, hear func(up *zoneState, said Reason)) (rule ruling, skipped []*zoneState) {
	say := func(up *zoneState, said Reason) {
		if hear != nil {
			hear(up, said)
		}
	}
	ref := o.zones[z.Where.Ref]
	if ref != nil && !ref.accepted() {
		return ruling{reason: ParentNotAccepted, by: ref}, nil
	}
	for n := z.node.parent; n != nil; n = n.parent {
		up := n.owner
		switch {
		case up == nil:
		case up.allowsZone(z):
			say(up, Accepted)
			return ruling{reason: Accepted, parent: up}, skipped
		case up.created > z.created && up != ref:
			say(up, NotAsked)
			skipped = append(skipped, up)
		case up.ID.Namespace == z.ID.Namespace:
			say(up, Undelegated)
			return ruling{reason: Accepted, within: up}, skipped
		default:
			say(up, NotDelegated)
			return notDelegated(z, up), nil
		}
	}
	if z.Policy.needsGrant() && !o.granted(z) {
		return ruling{reason: NotGranted, spelt: o.isSuffix(z.node.name)}, nil
	}
	return ruling{reason: Accepted}, skipped
}

// notDelegated refuses z by the Zone above it, or by one between that is refused too.
func notDelegated(z, up *zoneState) ruling {
	for n := z.node.parent; n != up.node; n = n.parent {
		if shadow := n.shadow(); !shadow.IsZero() {
			return ruling{reason: ParentNotAccepted, by: up, shadow: shadow}
		}
	}
	return ruling{reason: NotDelegated, by: up}
}

// granted reports whether the grants of some Backend give a root to its namespace.
// Without any grants the cluster is open, unless they are required, but for public suffixes.
func (o *objects) granted(z *zoneState) bool {
	for _, grants := range o.grants {
		if o.Granted(grants, z.ID.Namespace, z.node.name) {
			return true
		}
	}
	return len(o.grants) == 0 && !o.opts.RequireGrants && !o.isSuffix(z.node.name)
}

// Granted reports whether any of the grants gives name to namespace. It does not look at the objects of the World.
func (o *objects) Granted(grants []Grant, namespace string, name dnsname.Name) bool {
	spelt := o.isSuffix(name)
	return slices.ContainsFunc(grants, func(g Grant) bool { return g.Allows(namespace, name, spelt) })
}

// GrantedThrough reports whether grants give an accepted Zone its name, or that of a Zone above it which delegates to
// it: who delegates passes on what was granted.
func (o *objects) GrantedThrough(grants []Grant, id ID) bool {
	for range 128 { // labels in a name
		v, ok := o.Verdict(id)
		if !ok || !v.Accepted {
			return false
		}
		if o.Granted(grants, id.Namespace, v.Name) {
			return true
		}
		if v.Zone.IsZero() {
			return false
		}
		id = v.Zone
	}
	return false
}

func (o *objects) isSuffix(name dnsname.Name) bool {
	return o.opts.PublicSuffix != nil && o.opts.PublicSuffix(name)
}

// overtake remembers which younger Zones above z do not delegate to it, so that none
// of them hides z from the parent of both.
func (w *work) overtake(z *zoneState, skipped []*zoneState, parent *zoneState) {
	if len(z.overtook)+len(skipped) == 0 || slices.Equal(z.overtook, skipped) && z.ruling.parent == parent {
		return
	}
	for _, up := range z.overtook {
		delete(up.overtakers, z)
		w.enqueueCell(up.node, up, false)
	}
	for _, up := range skipped {
		if up.overtakers == nil {
			up.overtakers = map[*zoneState]struct{}{}
		}
		up.overtakers[z] = struct{}{}
		w.enqueueCell(up.node, up, false)
	}
	z.overtook = skipped
}

func (z *zoneState) allowsZone(child *zoneState) bool {
	var name dnsname.Candidate
	name.Of(child.node.name, z.node.name)
	for i := range z.Rules {
		if z.Rules[i].allowsZone(child.ID.Namespace, &name) {
			return true
		}
	}
	return false
}

func (z *zoneState) allowsRecord(namespace string, key rr.Key) permission {
	best := forbidden
	var name dnsname.Candidate
	name.Of(key.Name, z.node.name)
	for i := range z.Rules {
		if best = max(best, z.Rules[i].allowsRecord(namespace, key.Type, &name)); best == listed {
			break
		}
	}
	return best
}

// inWords says what was ruled about z.
func (z *zoneState) inWords() Verdict {
	r, name := z.ruling, z.node.name
	v := Verdict{Accepted: r.reason == Accepted, Reason: r.reason, Name: name}
	switch {
	case r.within != nil:
		v.Message = fmt.Sprintf("%s belongs to %s.", name, z.ID)
		v.Notes = []Note{{Undelegated, fmt.Sprintf(
			"%s has no delegation that gives %s to namespace %s, so it has no records of %s; to change that, add one with %s "+
				"to it.",
			r.within.ID, name, z.ID.Namespace, z.ID, r.within.zoneRuleFor(name)), r.within.ID}}
	case v.Accepted && r.parent == nil:
		v.Message = fmt.Sprintf("%s belongs to %s.", name, z.ID)
	case v.Accepted:
		v.Zone = r.parent.ID
		v.Message = fmt.Sprintf("%s delegates %s to %s.", r.parent.ID, name, z.ID)
	case r.reason == DuplicateZone:
		v.Message = fmt.Sprintf(
			"%s already has %s, and precedes %s by age or name; delete one of them, or choose another name.",
			r.by.ID, name, z.ID)
	case r.reason == NotDelegated:
		v.Message = fmt.Sprintf("%s has no delegation that gives %s to namespace %s; add one with %s to it.",
			r.by.ID, name, z.ID.Namespace, r.by.zoneRuleFor(name))
	case r.reason == ParentNotAccepted && r.shadow.IsZero():
		v.Message = fmt.Sprintf("%s refers to %s, which is not accepted; correct that one first.", z.ID, r.by.ID)
	case r.reason == ParentNotAccepted:
		v.Message = fmt.Sprintf(
			"%s lies below %s, which is not accepted, and %s does not delegate %s to namespace %s; correct %s first.",
			z.ID, r.shadow, r.by.ID, name, z.ID.Namespace, r.shadow)
	case r.reason == NotGranted:
		v.Message = z.ungranted()
	}
	return v
}

// ungranted says which grant z lacks.
func (z *zoneState) ungranted() string {
	name, namespace := z.node.name, z.ID.Namespace
	ask := fmt.Sprintf("ask for a grant with "+cmp.Or(z.Policy.Words.Grant, "namespace %s and name %q"), namespace, name)
	switch {
	case !z.ruling.spelt:
		return fmt.Sprintf("No Backend grants %s to namespace %s, which %s needs; %s.", name, namespace, z.ID, ask)
	case name == dnsname.Root:
		ask = "it is the root of all names; " + ask
	default:
		ask = name.String() + " is a public suffix; " + ask
	}
	return fmt.Sprintf("No Backend grants %s by its own name to namespace %s, which %s needs: %s.", name, namespace, z.ID,
		ask)
}
