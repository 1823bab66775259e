package embedded

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestQuestionsForTransfers(t *testing.T) {
	s, _, _ := filled(t, Options{}, 1)
	setPolicy(t, s, Policy{Transfer: []Rule{loopback()}})
	pack := func(m *dns.Msg, edit func(*dns.Msg)) []byte {
		if edit != nil {
			edit(m)
		}
		wire, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		return wire
	}
	soa := ixfr("bench.example.", 1).Ns[0]
	for _, c := range []struct {
		name   string
		msg    []byte
		stream bool
		want   string // rcode, or "transfer"
	}{
		{"AXFR", pack(axfr("bench.example."), nil), true, "transfer"},
		{"AXFR with odd case", pack(axfr("BENCH.example."), nil), true, "transfer"},
		{"AXFR over UDP (RFC 5936 §4.2)", pack(axfr("bench.example."), nil), false, "REFUSED"},
		{"AXFR of a name in the zone (RFC 5936 §2.2.1)", pack(axfr("host-0.bench.example."), nil), true, "NOTAUTH"},
		{"AXFR of what is not served", pack(axfr("example.com."), nil), true, "NOTAUTH"},
		{"AXFR of class CH", pack(axfr("bench.example."), func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }), true,
			"REFUSED"},
		{"AXFR with an SOA", pack(axfr("bench.example."), func(m *dns.Msg) { m.Ns = []dns.RR{soa} }), true, "FORMERR"},
		{"IXFR", pack(ixfr("bench.example.", 0), nil), true, "transfer"},
		{"IXFR with names compressed", pack(ixfr("bench.example.", 0), func(m *dns.Msg) { m.Compress = true }), true,
			"transfer"},
		{"IXFR from the present serial", pack(ixfr("bench.example.", 1), nil), true, "NOERROR"},
		{"IXFR from a later serial (RFC 1995 §2)", pack(ixfr("bench.example.", 2), nil), true, "NOERROR"},
		{"IXFR over UDP", pack(ixfr("bench.example.", 0), nil), false, "NOERROR"},
		{"IXFR without an SOA", pack(ixfr("bench.example.", 0), func(m *dns.Msg) { m.Ns = nil }), true, "FORMERR"},
		{"IXFR with two", pack(ixfr("bench.example.", 0), func(m *dns.Msg) { m.Ns = append(m.Ns, soa) }), true, "FORMERR"},
		{"IXFR with something else", pack(ixfr("bench.example.", 0), func(m *dns.Msg) {
			m.Ns = []dns.RR{mustRR(t, "bench.example. 1 A 192.0.2.1")}
		}), true, "FORMERR"},
		{"IXFR with an SOA that is cut off", cutSOA(pack(ixfr("bench.example.", 0), nil)), true, "FORMERR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ofServer(s)
			wire := r.respond(s.Catalogue(), c.msg, nil, c.stream)
			if got := "transfer"; r.outgoing != nil {
				if got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
				return
			}
			m := unpack(t, wire)
			if got := dns.RcodeToString[m.Rcode]; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if m.Rcode == dns.RcodeSuccess && (len(m.Answer) != 1 || m.Answer[0].(*dns.SOA).Serial != 1 || !m.Authoritative) {
				t.Errorf("the answer is not the SOA alone: %v", m)
			}
		})
	}
}

// cutSOA takes an octet from the rdata at the end of a message.
func cutSOA(msg []byte) []byte {
	at := len(msg) - soaNumbers - len("\x02ns\x07example\x03net\x00\x04root\x07example\x03net\x00") - 1
	msg[at]--
	return msg[:len(msg)-1]
}

func TestIncrements(t *testing.T) {
	seen := &outcomes{}
	s, g, addr := filled(t, Options{Observer: seen, History: 60}, 30)
	setPolicy(t, s, Policy{Transfer: []Rule{loopback()}})
	zone := mustName(t, "bench.example.")
	before, _, err := fetch(t, addr, axfr("bench.example."), nil)
	if err != nil {
		t.Fatal(err)
	}
	gone := func(name string, typ rr.Type) plan.Change {
		return plan.Change{Key: rr.Key{Name: mustName(t, name), Type: typ}}
	}
	applyTo(t, g, zone, put(t, "host-0.bench.example.", rr.TypeA, 300, "192.0.2.1", "192.0.2.5"), gone(
		"host-1.bench.example.", rr.TypeA))
	applyTo(t, g, zone, put(t, "host-2.bench.example.", rr.TypeA, 60, "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"))
	applyTo(t, g, zone, put(t, "new.bench.example.", rr.TypeTXT, 300, `"new"`),
		put(t, "host-3.bench.example.", rr.TypeA, 300, "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"))
	applyTo(t, g, zone, gone("new.bench.example.", rr.TypeTXT))
	after, _, err := fetch(t, addr, axfr("bench.example."), nil)
	if err != nil {
		t.Fatal(err)
	}
	for serial := uint32(1); serial <= 5; serial++ {
		records, _, err := fetch(t, addr, ixfr("bench.example.", serial), nil)
		if err != nil {
			t.Fatal(err)
		}
		if serial == 5 {
			if len(records) != 1 {
				t.Errorf("who has everything gets %v", records)
			}
			continue
		}
		if soas := len(records) - len(sorted(records)); soas != int(2+2*(5-serial)) {
			t.Errorf("from serial %d there are %d SOAs", serial, soas)
		}
		if serial == 1 && !slices.Equal(sorted(replay(t, before, records)), sorted(after)) {
			t.Errorf("the increment does not lead to the zone:\n%v", records)
		}
	}
	seen.await(t, "ixfr increment", 4)
	// The first step is forgotten now: the way would have more records than are kept.
	for i := range 3 {
		applyTo(t, g, zone, put(t, "host-4.bench.example.", rr.TypeA, uint32(i), "192.0.2.1", "192.0.2.2", "192.0.2.3",
			"192.0.2.4", "192.0.2.5", "192.0.2.6", "192.0.2.7"))
	}
	for serial, whole := range map[uint32]bool{1: true, 7: false, 1<<31 + 20: true} {
		records, _, err := fetch(t, addr, ixfr("bench.example.", serial), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := records[1].Header().Rrtype != dns.TypeSOA; got != whole {
			t.Errorf("from serial %d the whole zone is sent: %v, want %v", serial, got, whole)
		}
	}
}

// replay makes the steps of an IXFR.
func replay(t *testing.T, zone, steps []dns.RR) []dns.RR {
	left := map[string]dns.RR{}
	for _, r := range zone {
		left[r.String()] = r
	}
	soas := 0
	for _, r := range steps[1 : len(steps)-1] {
		text := r.String()
		switch {
		case r.Header().Rrtype == dns.TypeSOA:
			soas++
		case soas%2 == 0:
			left[text] = r
		case left[text] == nil:
			t.Errorf("%s goes and was not there", text)
		default:
			delete(left, text)
		}
	}
	var out []dns.RR
	for _, r := range left {
		out = append(out, r)
	}
	return out
}

func TestIncrementsOverUDP(t *testing.T) {
	s, g, _ := filled(t, Options{}, 100)
	setPolicy(t, s, Policy{Transfer: []Rule{loopback()}})
	zone := mustName(t, "bench.example.")
	ask := func(serial uint32) *dns.Msg {
		msg, err := ixfr("bench.example.", serial).Pack()
		if err != nil {
			t.Fatal(err)
		}
		return unpack(t, ofServer(s).respond(s.Catalogue(), msg, nil, false))
	}
	applyTo(t, g, zone, put(t, "host-0.bench.example.", rr.TypeA, 300, "192.0.2.9"))
	if m := ask(1); len(m.Answer) != 9 || m.Truncated {
		t.Errorf("a change that fits: %v", m)
	}
	for i := range 20 {
		applyTo(t, g, zone, put(t, "large.bench.example.", rr.TypeTXT, 300,
			fmt.Sprintf("%q", strings.Repeat("x", 200)+fmt.Sprint(i))))
	}
	if m := ask(1); len(m.Answer) != 1 || m.Truncated || m.Answer[0].(*dns.SOA).Serial != 22 ||
		m.Answer[0].Header().Name != "bench.example." {
		t.Errorf("changes that do not fit: %v", m)
	}
}
