package embedded

import (
	"encoding/binary"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

// refer answers with a cut: the name servers below it, and their addresses as far as this zone has them. What is below
// a cut is not this zone's word, unless an alias on the way was.
func (l *lookup) refer(cut []byte, ns *set) {
	if len(l.answer.answer) == 0 {
		l.authoritative = false
	}
	l.authority = append(l.authority, section{owner: cut, set: ns, ttl: ns.ttl})
	var below, host path
	below.set(cut)
	ns.records(0, func(target []byte) {
		host.set(target)
		if !l.zone.encloses(&host) {
			return
		}
		n := l.zone.names.Get(target)
		if n == nil {
			return
		}
		i := host.labels - below.labels
		must := i >= 0 && string(host.from(i)) == string(cut)
		for _, t := range [...]rr.Type{rr.TypeA, rr.TypeAAAA} {
			if s := n.find(t); s != nil {
				l.glue = append(l.glue, section{owner: target, set: s, ttl: s.ttl, must: must})
			}
		}
	})
}

// redirect answers for a name below a DNAME (RFC 6672 §3): with it, and with the CNAME that it means for this name. The
// owner of the DNAME is the name without its first i labels.
func (l *lookup) redirect(name *path, i int, d *set) (target []byte) {
	l.add(name.from(i), d)
	labels := name.wire[:name.starts[i]]
	if len(labels)+len(d.only()) > maxName {
		l.rcode = dns.RcodeYXDomain
		return nil
	}
	target = make([]byte, 0, len(labels)+len(d.only()))
	target = append(append(target, labels...), d.only()...)
	data := binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(target)), uint16(len(target)))
	// The TTL is the DNAME's (RFC 6672 §3.1).
	if !l.add(name.wire, &set{typ: rr.TypeCNAME, count: 1, ttl: d.ttl, data: append(data, target...)}) {
		return nil // it goes around in a circle
	}
	if l.typ == rr.TypeCNAME || l.typ == rr.Type(dns.TypeANY) {
		return nil
	}
	return target
}
