package compare_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A comparedZone is one that every server loads from the same text.
type comparedZone struct {
	name  dnsname.Name
	sets  []rr.Set
	fixed bool // not made at random
}

// text prints the zone as a master file, the SOA first.
func (z comparedZone) text() string {
	var b strings.Builder
	for _, soa := range []bool{true, false} {
		for _, s := range z.sets {
			if (s.Type == rr.TypeSOA) != soa {
				continue
			}
			for _, data := range s.Data {
				fmt.Fprintf(&b, "%s %d IN %s %s\n", s.Name, s.TTL, s.Type, data)
			}
		}
	}
	return b.String()
}

// fixedZones are those of the folder testdata.
func fixedZones(t *testing.T) []comparedZone {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.zone"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no zones to compare: %v", err)
	}
	var zones []comparedZone
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, readCompared(t, file, string(text)))
	}
	return zones
}

func readCompared(t *testing.T, file, text string) comparedZone {
	t.Helper()
	var records []dns.RR
	parser := dns.NewZoneParser(strings.NewReader(text), "", file)
	for record, ok := parser.Next(); ok; record, ok = parser.Next() {
		records = append(records, record)
	}
	if err := parser.Err(); err != nil {
		t.Fatal(err)
	}
	sets, err := rr.FromRRs(records)
	if err != nil {
		t.Fatal(err)
	}
	return comparedZone{mustName(t, records[0].Header().Name), sets, true}
}

// read makes what embedded serves of the zone's text.
func (z comparedZone) read(t *testing.T) *embedded.Zone {
	t.Helper()
	var soa rr.SOA
	var changes []plan.Change
	for _, s := range readCompared(t, "", z.text()).sets {
		if s.Type != rr.TypeSOA {
			changes = append(changes, plan.Change{Key: s.Key(), Want: s})
			continue
		}
		var err error
		if soa, err = rr.ParseSOA(s.Data[0]); err != nil {
			t.Fatal(err)
		}
		soa.TTL = s.TTL
	}
	made, err := embedded.NewZone(z.name, soa)
	if err != nil {
		t.Fatal(err)
	}
	made, rejected, err := made.With(nil, changes)
	if err != nil || len(rejected) > 0 {
		t.Fatal(rejected, err)
	}
	return made
}

func mustName(t *testing.T, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// alphabet makes names of random zones meet often.
var alphabet = []string{"a", "b", "c", "ns", "_s", "*"}

// A zoneMaker makes a zone of random names. What a loader would refuse it does not make: data beside a CNAME, names
// below a DNAME or in another zone, wildcards that are cuts (RFC 4592 §4.2 leaves their meaning open).
type zoneMaker struct {
	random *rand.Rand
	apex   dnsname.Name
	names  map[dnsname.Name][]rr.Set
}

// randomZones makes a zone and one below it, with a cut between them.
func randomZones(t *testing.T, random *rand.Rand, apex string) []comparedZone {
	t.Helper()
	parent, child := randomZone(t, random, apex), randomZone(t, random, "a."+apex)
	parent.sets = slices.DeleteFunc(parent.sets, func(s rr.Set) bool { return s.Name.Under(child.name) })
	for _, s := range child.sets {
		if s.Name == child.name && s.Type == rr.TypeNS {
			parent.sets = append(parent.sets, s)
		}
	}
	return []comparedZone{parent, child}
}

func randomZone(t *testing.T, random *rand.Rand, apex string) comparedZone {
	t.Helper()
	m := zoneMaker{random, mustName(t, apex), map[dnsname.Name][]rr.Set{}}
	for range 80 {
		n := m.name()
		if n != m.apex {
			m.names[n] = m.content(n)
		}
	}
	for n := range m.names {
		if m.hidden(n) {
			delete(m.names, n)
		}
	}
	z := comparedZone{name: m.apex, sets: []rr.Set{
		m.set(m.apex, rr.TypeSOA, fmt.Sprintf("ns.%s root.%s 1 7200 3600 604800 %d", m.apex, m.apex, random.IntN(7200))),
		m.set(m.apex, rr.TypeNS, "ns."+apex),
	}}
	m.names[mustName(t, "ns."+apex)] = []rr.Set{m.set(mustName(t, "ns."+apex), rr.TypeA, "192.0.2.1")}
	for _, sets := range m.names {
		z.sets = append(z.sets, sets...)
	}
	return z
}

func (m zoneMaker) name() dnsname.Name {
	var labels []string
	for range m.random.IntN(5) {
		labels = append(labels, alphabet[m.random.IntN(len(alphabet))])
	}
	n, err := dnsname.FromLabels(append(labels, m.apex.Labels()...))
	if err != nil {
		panic(err) // of these labels no name is too long
	}
	return n
}

func (m zoneMaker) set(n dnsname.Name, t rr.Type, data ...string) rr.Set {
	return rr.NewSet(rr.Key{Name: n, Type: t}, uint32(60+60*m.random.IntN(4)), data...)
}

// target is a name of the zone, or rarely another.
func (m zoneMaker) target() string {
	if m.random.IntN(6) == 0 {
		return "www.plain.example."
	}
	return m.name().String()
}

// content makes what a name has.
func (m zoneMaker) content(n dnsname.Name) []rr.Set {
	wild := n.Labels()[0] == "*"
	switch kind := m.random.IntN(12); {
	case kind < 3:
		return []rr.Set{m.set(n, rr.TypeCNAME, m.target())}
	case kind == 3 && !wild:
		sets := []rr.Set{m.set(n, rr.TypeDNAME, m.target())}
		if m.random.IntN(2) == 0 {
			sets = append(sets, m.set(n, rr.TypeTXT, `"at a DNAME"`))
		}
		return sets
	case kind < 6 && !wild:
		sets := []rr.Set{m.set(n, rr.TypeNS, "ns."+n.String(), m.target())}
		if m.random.IntN(2) == 0 {
			sets = append(sets, m.set(n, rr.TypeDS, "1 13 2 "+strings.Repeat("ab", 32)))
		}
		return sets
	}
	sets := []rr.Set{m.set(n, rr.TypeA, "192.0.2.1", fmt.Sprintf("192.0.2.%d", m.random.IntN(256)))}
	if m.random.IntN(3) == 0 {
		sets = append(sets, m.set(n, rr.TypeMX, "10 "+m.target()))
	}
	if m.random.IntN(3) == 0 {
		sets = append(sets, m.set(n, rr.TypeTXT, `"text"`, `"`+strings.Repeat("long", 50)+`"`))
	}
	return sets
}

// hidden reports whether a name is below a DNAME, or below a cut and neither an address nor, one time in eight, left
// all the same.
func (m zoneMaker) hidden(n dnsname.Name) bool {
	for up, ok := n.Parent(); ok && up != m.apex; up, ok = up.Parent() {
		for _, s := range m.names[up] {
			if s.Type == rr.TypeDNAME || s.Type == rr.TypeNS && m.names[n][0].Type != rr.TypeA && m.random.IntN(8) > 0 {
				return true
			}
		}
	}
	return false
}
