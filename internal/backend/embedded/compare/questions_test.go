package compare_test

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A question is asked with its letters as they stand here.
type question struct {
	name  string
	typ   uint16
	fixed bool // about zones that are not random
}

func (q question) String() string { return q.name + " " + dns.Type(q.typ).String() }

// askedTypes are asked at every name; others now and then.
var (
	askedTypes = []uint16{dns.TypeA, dns.TypeTXT, dns.TypeCNAME, dns.TypeNS, dns.TypeDS, dns.TypeANY, dns.TypeRRSIG,
		dns.TypeNSEC}
	otherTypes = []uint16{
		dns.TypeAAAA, dns.TypeMX, dns.TypeSOA, dns.TypeDNAME, dns.TypeSRV, dns.TypePTR, dns.TypeCAA, dns.TypeSVCB,
		dns.TypeTLSA,
		dns.TypeNULL, dns.TypeDNSKEY, dns.TypeHINFO, 65280, 65535,
		dns.TypeNone, dns.TypeOPT, dns.TypeNXNAME, dns.TypeTKEY, dns.TypeTSIG, dns.TypeMAILB, dns.TypeMAILA,
	}
)

// strangers are names that nobody serves here, or that are above what is served.
var strangers = []string{".", "example.", "com.", "*.", "www.example.", "example.net.", "_.", "xplain.example.",
	"plain.example.com."}

// questions makes n questions about zones: every name that exists with every one of askedTypes, and one below it, then
// random ones.
func questions(random *rand.Rand, zones []comparedZone, n int) []question {
	var all []question
	for _, name := range strangers {
		for _, typ := range append(askedTypes, otherTypes...) {
			all = append(all, question{name, typ, true})
		}
	}
	for _, z := range zones {
		if !z.fixed {
			continue
		}
		for _, s := range z.sets {
			if s.Type == rr.TypeDNAME {
				all = append(all, atTheLimit(s)...)
			}
		}
		for _, name := range z.known() {
			for _, typ := range askedTypes {
				all = append(all, question{name.String(), typ, true})
			}
			if below := prefixed("below", name); below != name {
				all = append(all, question{below.String(), dns.TypeA, true}, question{below.String(), dns.TypeDS, true},
					question{below.String(), dns.TypeCNAME, true})
			}
		}
	}
	known := make([][]dnsname.Name, len(zones))
	for i, z := range zones {
		known[i] = z.known()
	}
	for len(all) < n {
		i := random.IntN(len(zones))
		name := derive(random, known[i][random.IntN(len(known[i]))])
		types := askedTypes
		if random.IntN(3) == 0 {
			types = otherTypes
		}
		all = append(all, question{oddCase(random, name.String()), types[random.IntN(len(types))], zones[i].fixed})
	}
	return all
}

// known are the zone's names, those between them and the apex, and those that its records name.
func (z comparedZone) known() []dnsname.Name {
	seen := map[dnsname.Name]bool{}
	for _, s := range z.sets {
		for n, ok := s.Name, true; ok && n.Under(z.name); n, ok = n.Parent() {
			seen[n] = true
		}
		for _, data := range s.Data {
			for _, n := range rr.Names(s.Type, data) {
				seen[n] = true
			}
		}
	}
	var names []dnsname.Name
	for n := range seen {
		names = append(names, n)
	}
	slices.SortFunc(names, dnsname.Name.Compare)
	return names
}

// derive returns a name at, below, beside or above one, or below it as long as names get.
func derive(random *rand.Rand, n dnsname.Name) dnsname.Name {
	label := func() string {
		return append(alphabet, "www", "host", "x", "mid*dle", "below", "in*", "\x00", "tOp.")[random.IntN(len(alphabet)+8)]
	}
	switch op := random.IntN(100); {
	case op < 30:
		return n
	case op < 65:
		for range 1 + random.IntN(3) {
			n = prefixed(label(), n)
		}
		return n
	case op < 85:
		if up, ok := n.Parent(); ok {
			return prefixed(label(), up)
		}
		return n
	case op < 92:
		return instead(n, "*", label())
	case op < 96:
		return long(random, n)
	}
	if up, ok := n.Parent(); ok {
		return up
	}
	return n
}

// prefixed puts a label before a name, unless that gets too long.
func prefixed(label string, n dnsname.Name) dnsname.Name {
	if longer, err := dnsname.FromLabels(append([]string{label}, n.Labels()...)); err == nil {
		return longer
	}
	return n
}

// instead replaces every label that is one by another.
func instead(n dnsname.Name, old, label string) dnsname.Name {
	labels := slices.Clone(n.Labels())
	for i := range labels {
		if labels[i] == old {
			labels[i] = label
		}
	}
	other, err := dnsname.FromLabels(labels)
	if err != nil {
		return n
	}
	return other
}

// atTheLimit asks for names below a DNAME that it makes as long as names may be, one octet shorter, and one longer.
func atTheLimit(s rr.Set) (asked []question) {
	target := rr.Names(s.Type, s.Data[0])[0]
	for size := maxName - 1; size <= maxName+1; size++ {
		if n := padded(s.Name, size-octetsOf(target)); n != s.Name {
			asked = append(asked, question{n.String(), dns.TypeA, true})
		}
	}
	return asked
}

// long makes a name of 200 to 255 octets.
func long(random *rand.Rand, n dnsname.Name) dnsname.Name {
	return padded(n, maxName-octetsOf(n)-random.IntN(56))
}

// How long labels and names may be (RFC 1035 §2.3.4).
const (
	maxLabel = 63
	maxName  = 255
)

func octetsOf(n dnsname.Name) int { return len(n.AppendWire(nil)) }

// padded puts labels that take so many octets before a name, unless it gets too long.
func padded(n dnsname.Name, octets int) dnsname.Name {
	labels := n.Labels()
	for octets > 1 {
		size := min(octets-1, maxLabel)
		if octets-1-size == 1 {
			size-- // one octet is no label
		}
		labels = append([]string{strings.Repeat("m", size)}, labels...)
		octets -= 1 + size
	}
	longer, err := dnsname.FromLabels(labels)
	if err != nil {
		return n
	}
	return longer
}

// oddCase turns some letters into capitals.
func oddCase(random *rand.Rand, name string) string {
	if random.IntN(2) == 0 {
		return name
	}
	b := []byte(name)
	for i, c := range b {
		if 'a' <= c && c <= 'z' && random.IntN(2) == 0 {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
