package soak_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// nothing is the content of a name that is not there.
const nothing = "nothing"

// A question is a name and a type.
type question struct {
	name   string
	rrtype uint16
}

func (q question) String() string { return q.name + " " + dns.TypeToString[q.rrtype] }

// A version is what was wanted of a name for a while.
type version struct {
	data string
	from time.Time
}

func (v version) String() string { return v.from.Format(clock) + " " + v.data }

// A model is what is wanted of every name, from the beginning: no data is wanted twice, so that an answer tells when it
// was wanted.
type model struct {
	mu      sync.Mutex
	history map[question][]version // the last one is wanted now
}

func newModel() *model { return &model{history: map[question][]version{}} }

// want makes data what is wanted from now on. It is called before the API server is.
func (m *model) want(q question, data string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.history[q] = append(m.history[q], version{data, time.Now()})
}

// now is what is wanted.
func (m *model) now(q question) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latest(q)
}

// latest is now. mu is held.
func (m *model) latest(q question) string {
	if h := m.history[q]; len(h) > 0 {
		return h[len(h)-1].data
	}
	return nothing
}

// place finds when data was wanted, from a point of a history on.
func (m *model) place(q question, data string, from int) (at int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.history[q]
	if len(h) == 0 && data == nothing {
		return 0, nil
	}
	is := func(v version) bool { return v.data == data }
	if i := slices.IndexFunc(h[from:], is); i >= 0 {
		return from + i, nil
	}
	what := "was never wanted"
	if slices.ContainsFunc(h, is) {
		what = "is not wanted any more since there was " + h[from].String()
	}
	return 0, fmt.Errorf("%s is %q, which %s; wanted was %v", q, data, what, h[max(0, min(from, len(h)-6)):])
}

// whole is what a zone is to hold: a line for each name and type.
func (m *model) whole(zone string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []string
	for q := range m.history {
		if data := m.latest(q); data != nothing && dns.IsSubDomain(zone, q.name) {
			lines = append(lines, q.String()+" "+data)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A content is a zone as a server gives it away.
type content struct {
	serial uint32
	sets   map[question]string
}

// contentOf reads a transfer. The SOA is a set as any other, but for its serial.
func contentOf(records []dns.RR) (content, error) {
	if len(records) < 2 {
		return content{}, fmt.Errorf("it has %d records", len(records))
	}
	first, ok := records[0].(*dns.SOA)
	if !ok {
		return content{}, fmt.Errorf("it begins with %s", records[0])
	}
	data := map[question][]dns.RR{}
	for _, r := range records[:len(records)-1] {
		q := question{r.Header().Name, r.Header().Rrtype}
		data[q] = append(data[q], r)
	}
	out := content{serial: first.Serial, sets: map[question]string{}}
	for q, set := range data {
		out.sets[q] = dataOf(set)
	}
	return out, nil
}

func (c content) String() string {
	var lines []string
	for q, data := range c.sets {
		lines = append(lines, q.String()+" "+data)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// dataOf is the TTL and the data of a set in order, without the serial of a SOA.
func dataOf(set []dns.RR) string {
	var data []string
	for _, r := range set {
		if soa, ok := r.(*dns.SOA); ok {
			soa = dns.Copy(soa).(*dns.SOA)
			soa.Serial = 0
			r = soa
		}
		data = append(data, strings.TrimPrefix(r.String(), r.Header().String()))
	}
	slices.Sort(data)
	return fmt.Sprintf("%d %s", set[0].Header().Ttl, strings.Join(data, ", "))
}

// differences are the lines that only one of two texts has.
func differences(is, wanted string) string {
	var out []string
	have, want := strings.Split(is, "\n"), strings.Split(wanted, "\n")
	for _, line := range have {
		if !slices.Contains(want, line) {
			out = append(out, "is there: "+line)
		}
	}
	for _, line := range want {
		if !slices.Contains(have, line) {
			out = append(out, "is not there: "+line)
		}
	}
	return strings.Join(out[:min(len(out), 20)], "\n")
}
