package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Policy says which changes a target takes, as the --policy of external-dns does.
type Policy uint8

// The policies. A name that switches to or from an alias is changed, whatever sets it loses with that.
const (
	PolicySync       Policy = iota // all
	PolicyUpsertOnly               // none that delete a set
	PolicyCreateOnly               // none that change or delete one
)

// A Protection keeps a target from losing sets by mistake. The zero Protection holds nothing.
type Protection struct {
	Policy            Policy
	Limited           bool // the two limits count
	MaxDeletedPercent int  // of the sets that there were
	MinDeleted        int  // as many may be deleted of any zone
}

// Room returns how many sets may be deleted within a Window of a target that had base sets.
func (p Protection) Room(base int) int {
	return max(p.MinDeleted, base*p.MaxDeletedPercent/100)
}

// A Brake holds deletions of a target back.
type Brake struct {
	Protection

	Base     int                 // the sets of zonefold there, and those deleted of late that are not there again
	Recent   *Recent             // the deletions of late
	Approved map[rr.Key]struct{} // deletions that were approved and are not all made yet; they count for nothing
	Approves func([]rr.Key) bool // whether somebody has approved just these deletions, in canonical order
	Exempt   func(Change) bool   // deletions that count for nothing and are not held; nil: none
}

// A Braking is what a Brake says of changes.
type Braking struct {
	Free     []Change   // may be made, in the order that they were given in
	Held     [][]Change // may not; what belongs together is one of them
	Counted  []rr.Key   // deletions among Free that use up room
	Approved []rr.Key   // deletions among Free that have just been approved
}

// Hold divides changes, which are as Order returned them, into those that may be made and those that are held. If
// deletions are more than there is room for, all of them are held.
func (b *Brake) Hold(changes []Change) Braking {
	var out Braking
	var deletions []rr.Key
	for unit := range Units(changes) {
		if b.deletes(unit) {
			deletions = append(deletions, unit[0].Key)
		}
	}
	slices.SortFunc(deletions, rr.Key.Compare)
	held := b.Policy != PolicySync
	switch {
	case len(deletions) == 0 || held:
	case !b.Limited:
	case b.Recent.With(deletions) <= b.Room(b.Base):
		out.Counted = deletions
	case b.Approves(deletions):
		out.Approved = deletions
	default:
		held = true
	}
	emptied := map[dnsname.Name]bool{}
	for unit := range Units(changes) {
		switch {
		case held && b.deletes(unit), b.Policy == PolicyCreateOnly && alters(unit):
			out.Held = append(out.Held, unit)
			emptied[unit[0].Key.Name] = true
		default:
			out.Free = append(out.Free, unit...)
		}
	}
	return out.withoutCovers(emptied)
}

// deletes reports whether a unit does nothing but delete a set, and that counts.
func (b *Brake) deletes(unit []Change) bool {
	if len(unit) != 1 || !unit[0].Deletes() || b.Exempt != nil && b.Exempt(unit[0]) {
		return false
	}
	_, approved := b.Approved[unit[0].Key]
	return !approved
}

// alters reports whether a unit does more than add sets, and is no deletion alone.
func alters(unit []Change) bool {
	for _, c := range unit {
		if !c.Deletes() && !c.Creates() || c.Deletes() && len(unit) > 1 {
			return true
		}
	}
	return false
}

// withoutCovers holds the DNAMEs that come above names that stay only because they are held: they would hide these, and
// a server need not take them (RFC 6672 §2.4).
func (b Braking) withoutCovers(stay map[dnsname.Name]bool) Braking {
	if len(stay) == 0 || !slices.ContainsFunc(b.Free, comingDNAME) {
		return b
	}
	free := b.Free[:0:0]
	for unit := range Units(b.Free) {
		covers := slices.ContainsFunc(unit, func(c Change) bool {
			if !comingDNAME(c) {
				return false
			}
			for name := range stay {
				if name.Below(c.Key.Name) {
					return true
				}
			}
			return false
		})
		if covers {
			b.Held = append(b.Held, unit)
		} else {
			free = append(free, unit...)
		}
	}
	b.Free = free
	return b
}

func comingDNAME(c Change) bool { return c.Key.Type == rr.TypeDNAME && !c.Deletes() }

// ID identifies deletions of a zone, given in canonical order: what somebody approves.
func ID(zone dnsname.Name, deletions []rr.Key) string {
	h := sha256.New()
	h.Write([]byte(zone.String()))
	for _, k := range deletions {
		h.Write([]byte("\n" + k.Name.String() + " " + k.Type.String()))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
