package zone

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// judgeZones decides which Zones are accepted, from the top of the tree down, because
// a verdict depends on the accepted Zones above and on nothing below.
func (w *World) judgeZones() {
	byDepth := map[int][]*node{}
	var depths []int
	queued := map[*node]bool{}
	push := func(n *node) {
		if queued[n] {
			return
		}
		queued[n] = true
		if byDepth[n.depth] == nil {
			i, _ := slices.BinarySearch(depths, n.depth)
			depths = slices.Insert(depths, i, n.depth)
		}
		byDepth[n.depth] = append(byDepth[n.depth], n)
	}
	for n := range w.judge {
		push(n)
	}
	for len(depths) > 0 {
		depth := depths[0]
		depths = depths[1:]
		for _, n := range byDepth[depth] {
			_, forced := w.redo[n]
			shadow := n.shadow
			changed := w.judgeNode(n) || forced
			if changed {
				w.disturb(n)
			}
			if changed || shadow != n.shadow {
				n.walkZones(func(below *node) bool { push(below); return true })
			}
		}
	}
	judged := slices.Collect(maps.Keys(queued))
	clear(w.judge)
	clear(w.redo)
	for _, n := range judged {
		w.prune(n)
	}
}

// disturb marks what depends on the accepted Zone at n: the claims and cells below,
// and those that refer to Zones which ask for the name.
func (w *World) disturb(n *node) {
	n.walk(func(at *node) bool {
		for _, c := range at.claims {
			w.homes[c] = struct{}{}
		}
		for _, c := range at.cells {
			w.cells.push(c)
		}
		for p := range at.needed {
			w.touch(at, p, true)
		}
		return true
	})
	for up := n.parent; up != nil; up = up.parent { // see World.copies
		if up.accepted != nil {
			w.touch(up, up.accepted.parent, up.accepted.notCopied != nil)
		}
	}
	for _, z := range n.zones {
		if r := w.refs[z.ID]; r != nil {
			for c := range r.claims {
				w.homes[c] = struct{}{}
			}
		}
	}
}

// judgeNode decides about the Zones at one name and reports whether the accepted one,
// or its parent, changed.
func (w *World) judgeNode(n *node) bool {
	before := n.accepted
	var beforeParent *zoneState
	if before != nil {
		beforeParent = before.parent
	}
	n.accepted, n.shadow = nil, ID{}
	for _, z := range n.zones { // oldest first
		w.closed[z] = struct{}{}
		parent, refusal := w.judgeZone(z)
		if refusal == nil && n.accepted != nil {
			refusal = &Refusal{DuplicateZone, fmt.Sprintf(
				"%s is older than %s and has %s already; delete one of them or choose another name.", n.accepted.ID, z.ID, z.name)}
		}
		z.accepted, z.parent = refusal == nil, parent
		if refusal != nil {
			z.parent = nil
			z.judged = refused(z.name, *refusal)
			continue
		}
		n.accepted = z
		z.judged = Verdict{Accepted: true, Reason: Accepted, Name: z.name, Message: acceptance(z)}
		if parent != nil {
			z.judged.Zone = parent.ID
		}
	}
	if n.accepted == nil && len(n.zones) > 0 {
		n.shadow = n.zones[0].ID
	}
	if before != nil && before != n.accepted {
		before.accepted, before.parent = false, nil
	}
	if n.accepted != before {
		return true
	}
	return before != nil && before.parent != beforeParent
}

func acceptance(z *zoneState) string {
	if z.parent == nil {
		return fmt.Sprintf("%s has %s.", z.ID, z.name)
	}
	return fmt.Sprintf("%s delegates %s to %s.", z.parent.ID, z.name, z.ID)
}

// judgeZone returns the Zone that delegates to z, nil for a root, or the refusal.
// Only the nearest accepted Zone above judges; one that is younger than z does not
// take away what z has.
func (w *World) judgeZone(z *zoneState) (*zoneState, *Refusal) {
	if up := w.zones[z.Where.Ref]; up != nil && !up.accepted {
		return nil, &Refusal{ParentNotAccepted, fmt.Sprintf(
			"%s refers to %s, which is not accepted; mend that one first.", z.ID, up.ID)}
	}
	for n := z.node.parent; n != nil; n = n.parent {
		up := n.accepted
		if up == nil {
			continue
		}
		if up.allowsZone(z) {
			return up, nil
		}
		if !z.Where.Ref.IsZero() || up.age.older(z.age) {
			return nil, w.notDelegated(z, up)
		}
	}
	return nil, w.granted(z)
}

// notDelegated refuses z by the Zone above it, or by one between that is refused too.
func (w *World) notDelegated(z, up *zoneState) *Refusal {
	for n := z.node.parent; n != up.node; n = n.parent {
		if !n.shadow.IsZero() {
			return &Refusal{ParentNotAccepted, fmt.Sprintf(
				"%s lies below %s, which is not accepted, and %s does not delegate %s to namespace %s; mend that one first.",
				z.ID, n.shadow, up.ID, z.name, z.ID.Namespace)}
		}
	}
	return &Refusal{NotDelegated, fmt.Sprintf(
		"%s has no delegation that gives %s to namespace %s; add one with zones: [%q] to it.",
		up.ID, z.name, z.ID.Namespace, z.name.In(up.name))}
}

// granted refuses a root that no Backend's grants give to its namespace. Without any
// grants the cluster is open.
func (w *World) granted(z *zoneState) *Refusal {
	if len(w.grants) == 0 {
		return nil
	}
	for _, grants := range w.grants {
		if slices.ContainsFunc(grants, func(g Grant) bool { return g.Allows(z.ID.Namespace, z.name) }) {
			return nil
		}
	}
	return &Refusal{NotGranted, fmt.Sprintf(
		"No Backend grants %s to namespace %s, which %s needs; ask for a grant.", z.name, z.ID.Namespace, z.ID)}
}

func (z *zoneState) allowsZone(child *zoneState) bool {
	return slices.ContainsFunc(z.Rules, func(r Rule) bool { return r.allowsZone(child.ID.Namespace, child.name, z.name) })
}

func (z *zoneState) allowsRecord(namespace string, key rr.Key) bool {
	return slices.ContainsFunc(z.Rules, func(r Rule) bool { return r.allowsRecord(namespace, key, z.name) })
}

// descends reports whether z is below up by a chain of delegations.
func (z *zoneState) descends(up *zoneState) bool {
	for ; z != nil; z = z.parent {
		if z == up {
			return true
		}
	}
	return false
}

// home finds the Zone that takes a claim, or says why none does. Among the accepted
// Zones that enclose the name and allow it the longest has it; a zoneRef pins the
// Zone, and then there is no other.
func (w *World) home(c *claimState) (*zoneState, *Refusal) {
	if ref := c.Where.Ref; !ref.IsZero() {
		return w.pinned(c, ref)
	}
	var nearest *zoneState
	for n := c.node; n != nil; n = n.parent {
		z := n.accepted
		if z == nil {
			continue
		}
		if z.allowsRecord(c.ID.Namespace, c.key()) {
			return z, nil
		}
		nearest = cmp.Or(nearest, z)
	}
	if nearest == nil {
		return nil, &Refusal{NoZone, fmt.Sprintf(
			"No accepted Zone encloses %s, which %s asks for; create one, or see the conditions of yours.", c.name, c.ID)}
	}
	return nil, notAllowed(c, nearest)
}

func (w *World) pinned(c *claimState, ref ID) (*zoneState, *Refusal) {
	z := w.zones[ref]
	switch {
	case z == nil:
		return nil, &Refusal{ReferenceNotFound, fmt.Sprintf(
			"%s refers to %s, which does not exist; create it or correct zoneRef.", c.ID, ref)}
	case !z.accepted:
		return nil, &Refusal{ParentNotAccepted, fmt.Sprintf(
			"%s refers to %s, which is not accepted; mend that one first.", c.ID, ref)}
	case !c.name.Under(z.name):
		return nil, &Refusal{OutOfZone, fmt.Sprintf(
			"%s asks for %s, which is not inside %s (%s); correct domainName or zoneRef.", c.ID, c.name, ref, z.name)}
	case !z.allowsRecord(c.ID.Namespace, c.key()):
		return nil, notAllowed(c, z)
	}
	return z, nil
}

func notAllowed(c *claimState, z *zoneState) *Refusal {
	return &Refusal{NotDelegated, fmt.Sprintf(
		"%s has no delegation that gives %s %s to namespace %s; add one with records: [{pattern: %q}] to it.",
		z.ID, c.name, c.Type, c.ID.Namespace, c.name.In(z.name))}
}

// Granted reports whether any of the grants gives name to namespace.
func Granted(grants []Grant, namespace string, name dnsname.Name) bool {
	return slices.ContainsFunc(grants, func(g Grant) bool { return g.Allows(namespace, name) })
}
