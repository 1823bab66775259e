package embedded

import (
	"bytes"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

// maxHops is how many aliases one answer follows; nobody who wants to be found has so many.
const maxHops = 16

// An answer is what a zone says to a question. It points into zones, which do not change, and into the question.
type answer struct {
	rcode         int
	authoritative bool
	answer        []section
	authority     []section
	glue          []section // addresses of the name servers in authority

	admits func(*Zone) bool // whether who asks may see a zone that is not public; nil: nobody may

	buf [maxName + 2]byte // for a wildcard's name
}

// A section is a part of a section of a message: one set.
type section struct {
	owner []byte // in wire format
	set   *set
	ttl   uint32 // seconds; of an SOA in a negative answer not the set's
	must  bool   // of glue: without it the referral leads nowhere (RFC 9471 §2.1)
}

func (a *answer) reset() {
	a.rcode, a.authoritative = dns.RcodeSuccess, false
	a.answer, a.authority, a.glue = a.answer[:0], a.authority[:0], a.glue[:0]
}

// ask makes a the answer to a question (RFC 1034 §4.3.2). Nothing that is not served here is answered: no cache, no
// recursion, and no hint where else to go.
func (a *answer) ask(c *Catalogue, name *path, t rr.Type) {
	a.reset()
	z := c.find(name, t)
	if z == nil || z.private && (a.admits == nil || !a.admits(z)) {
		a.rcode = dns.RcodeRefused
		return
	}
	a.authoritative = true
	l := lookup{answer: a, zone: z, typ: t}
	next := *name
	for l.hops = 0; l.hops < maxHops; l.hops++ {
		target := l.step(&next)
		if target == nil {
			return
		}
		next.set(target)
		if c.find(&next, t) != z {
			return // an alias out of the zone is the whole answer; what is below it may be another zone without a cut between
		}
	}
}

// encloses reports whether a name is in the name space below the zone's name.
func (z *Zone) encloses(name *path) bool {
	i := name.labels - z.path.labels
	return i >= 0 && bytes.Equal(name.from(i), z.path.wire)
}

// A lookup is a walk through one zone.
type lookup struct {
	*answer
	zone *Zone
	typ  rr.Type
	hops int
}

// step looks one name up: down from the apex until it is found, or a cut, a redirection, or nothing is. It returns the
// name to go on with, if this one is an alias.
func (l *lookup) step(name *path) (target []byte) {
	n := l.zone.apex
	i := name.labels - l.zone.path.labels
	for {
		if n != l.zone.apex && (i > 0 || l.typ != rr.TypeDS) {
			if ns := n.find(rr.TypeNS); ns != nil {
				l.refer(name.from(i), ns)
				return nil
			}
		}
		if i == 0 {
			return l.exact(name, n)
		}
		if d := n.find(rr.TypeDNAME); d != nil {
			return l.redirect(name, i, d)
		}
		next := l.zone.names.Get(name.from(i - 1))
		if next == nil {
			return l.missing(name, i, n)
		}
		n, i = next, i-1
	}
}

// exact answers from the node that stands for the name: its own, or the wildcard that covers it (RFC 4592 §3.3).
func (l *lookup) exact(name *path, n *node) (target []byte) {
	if l.typ == rr.Type(dns.TypeANY) && len(n.sets) > 0 {
		l.add(name.wire, smallest(n.sets))
		return nil
	}
	if s := n.find(l.typ); s != nil {
		l.add(name.wire, s)
		return nil
	}
	if alias := n.find(rr.TypeCNAME); alias != nil && !besideAlias(l.typ) {
		if !l.add(name.wire, alias) {
			return nil // it goes around in a circle
		}
		return alias.only()
	}
	l.deny(dns.RcodeSuccess)
	return nil
}

// besideAlias reports whether a type is one that may stand beside a CNAME (RFC 4035 §2.5): asking for it asks for what
// the alias's own name has.
func besideAlias(t rr.Type) bool {
	return t == rr.Type(dns.TypeRRSIG) || t == rr.Type(dns.TypeNSEC)
}

// smallest picks what RFC 8482 §4.1 calls a subset of the available sets.
func smallest(sets []set) *set {
	least := &sets[0]
	for i := range sets {
		if len(sets[i].data) < len(least.data) {
			least = &sets[i]
		}
	}
	return least
}

// missing answers for a name that does not exist. The closest encloser, of i labels less, may have a wildcard; if it
// does not, no other wildcard counts (RFC 4592 §3.3.1).
func (l *lookup) missing(name *path, i int, encloser *node) (target []byte) {
	if encloser.below > 0 {
		wild := append(append(l.buf[:0], 1, '*'), name.from(i)...)
		if n := l.zone.names.Get(wild); n != nil {
			return l.exact(name, n)
		}
	}
	l.deny(dns.RcodeNameError)
	return nil
}

// add puts a set into the answer, unless it is there. What a DNAME or a wildcard makes may be there from another set.
func (l *lookup) add(owner []byte, s *set) bool {
	for _, there := range l.answer.answer {
		if there.set.typ == s.typ && bytes.Equal(there.owner, owner) {
			return false
		}
	}
	l.answer.answer = append(l.answer.answer, section{owner: owner, set: s, ttl: s.ttl})
	return true
}

// deny says that there is no such set or name, and for how long that may be believed (RFC 2308 §3, §5).
func (l *lookup) deny(rcode int) {
	l.rcode = rcode
	z := l.zone
	if soa := z.apex.find(rr.TypeSOA); soa != nil {
		l.authority = append(l.authority, section{owner: z.path.wire, set: soa, ttl: min(soa.ttl, z.soa.Minimum)})
	}
}
