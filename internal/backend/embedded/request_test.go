package embedded

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// asked packs a question for www.example.org. A with ID 7, after an edit.
func asked(t testing.TB, edit func(*dns.Msg)) []byte {
	t.Helper()
	m := new(dns.Msg).SetQuestion("www.example.org.", dns.TypeA)
	m.Id, m.RecursionDesired = 7, false
	if edit != nil {
		edit(m)
	}
	wire, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// question and its length, as asked packs it.
const questionEnd = headerSize + 17 + 4

func edns(size uint16, options ...dns.EDNS0) func(*dns.Msg) {
	return func(m *dns.Msg) {
		m.SetEdns0(size, true)
		m.IsEdns0().Option = options
	}
}

func TestMessages(t *testing.T) {
	opcode := func(code int) func(*dns.Msg) { return func(m *dns.Msg) { m.Opcode = code } }
	changed := func(wire []byte, at int, b ...byte) []byte { copy(wire[at:], b); return wire }
	const set = " www.example.org. 60 A 192.0.2.2; www.example.org. 60 A 192.0.2.1"
	c := NewCatalogue().With(readZone(t, exampleOrg))
	for _, test := range []struct {
		name string
		msg  []byte
		want string // rcode, the header's other flags, the answer; "" for no answer
	}{
		{"a question", asked(t, nil), "NOERROR qr aa;" + set},
		{"an empty datagram", nil, ""},
		{"a header cut off", asked(t, nil)[:11], ""},
		{"an answer", asked(t, func(m *dns.Msg) { m.Response = true }), ""},
		{"RD and CD are repeated, AD and Z are not (RFC 1035 §4.1.1, RFC 4035 §3.1.6)",
			asked(t, func(m *dns.Msg) {
				m.RecursionDesired, m.CheckingDisabled, m.AuthenticatedData, m.Zero = true, true, true, true
			}), "NOERROR qr aa rd cd;" + set},
		{"TC and AA and an rcode in a question mean nothing",
			asked(t, func(m *dns.Msg) { m.Truncated, m.Authoritative, m.Rcode = true, true, dns.RcodeRefused }),
			"NOERROR qr aa;" + set},

		{"a status request", asked(t, opcode(dns.OpcodeStatus)), "NOTIMP qr;"},
		{"an update", asked(t, opcode(dns.OpcodeUpdate)), "NOTIMP qr;"},
		{"an opcode that nobody has", asked(t, opcode(15)), "NOTIMP qr;"},
		{"no question", asked(t, func(m *dns.Msg) { m.Question = nil }), "FORMERR qr;"},
		{"two questions (RFC 9619 §4)", asked(t, func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }),
			"FORMERR qr;"},
		{"a question cut off", asked(t, nil)[:questionEnd-1], "FORMERR qr;"},
		{"a name cut off", asked(t, nil)[:headerSize+5], "FORMERR qr;"},
		{"a name that is a pointer to itself", changed(asked(t, nil), headerSize, 0xc0, headerSize), "FORMERR qr;"},
		{"a label of a kind that is not used", changed(asked(t, nil), headerSize, 0x43), "FORMERR qr;"},
		{"something after the question", append(asked(t, nil), 0), "FORMERR qr;"},
		{"an answer in the question", asked(t, func(m *dns.Msg) {
			m.Answer = []dns.RR{mustRR(t, "a. 1 A 192.0.2.1")}
		}), "FORMERR qr;"},
		{"an authority in the question", asked(t, func(m *dns.Msg) { m.Ns = []dns.RR{mustRR(t, "a. 1 A 192.0.2.1")} }),
			"FORMERR qr;"},
		{"anything else besides is ignored", asked(t, func(m *dns.Msg) {
			m.Extra = []dns.RR{mustRR(t, "a. 1 A 192.0.2.1")}
		}), "NOERROR qr aa;" + set},
		{"a record besides that is cut off", asked(t, edns(1232))[:questionEnd+9], "FORMERR qr;"},

		{"EDNS with the DO bit, which is repeated (RFC 3225 §3)", asked(t, edns(1232)), "NOERROR qr aa;" + set +
			" edns 0 1232 do"},
		{"an option that nobody knows (RFC 6891 §6.1.2)",
			asked(t, edns(1232, &dns.EDNS0_LOCAL{Code: 65001, Data: []byte("x")})), "NOERROR qr aa;" + set + " edns 0 1232 do"},
		{"an option that is longer than the record",
			changed(asked(t, edns(1232, &dns.EDNS0_LOCAL{Code: 65001, Data: []byte("x")})), questionEnd+14, 9),
			"FORMERR qr; edns 0 1232 do"},
		{"a version that is to come (RFC 6891 §6.1.3)", asked(t, func(m *dns.Msg) {
			edns(1232)(m)
			m.IsEdns0().SetVersion(1)
		}), "BADVERS qr; edns 0 1232 do"},
		{"EDNS twice (RFC 6891 §6.1.1)", asked(t, func(m *dns.Msg) {
			edns(1232)(m)
			m.Extra = append(m.Extra, m.Extra[0])
		}), "FORMERR qr; edns 0 1232 do"},
		{"EDNS without a question: the answer has it, too (RFC 6891 §6.1.1)",
			asked(t, func(m *dns.Msg) { edns(1232)(m); m.Question = nil }), "FORMERR qr; edns 0 1232 do"},
		{"EDNS with two questions", asked(t, func(m *dns.Msg) {
			edns(1232)(m)
			m.Question = append(m.Question, m.Question[0])
		}), "FORMERR qr; edns 0 1232 do"},
		{"EDNS with an answer in the question", asked(t, func(m *dns.Msg) {
			edns(1232)(m)
			m.Answer = []dns.RR{mustRR(t, "a. 1 A 192.0.2.1")}
		}), "FORMERR qr; edns 0 1232 do"},
		{"a version that is to come, without a question", asked(t, func(m *dns.Msg) {
			edns(1232)(m)
			m.IsEdns0().SetVersion(1)
			m.Question = nil
		}), "BADVERS qr; edns 0 1232 do"},
		{"EDNS of a name", asked(t, func(m *dns.Msg) { edns(1232)(m); m.Extra[0].Header().Name = "a." }), "FORMERR qr;"},

		{"class CH", asked(t, func(m *dns.Msg) {
			m.Question[0] = dns.Question{Name: "version.bind.", Qtype: dns.TypeTXT, Qclass: dns.ClassCHAOS}
		}), "REFUSED qr;"},
		{"any class", asked(t, func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassANY }), "REFUSED qr;"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r responder
			wire := r.respond(c, test.msg, nil, false)
			if wire == nil {
				if test.want != "" {
					t.Errorf("no answer, want %s", test.want)
				}
				return
			}
			if got := header(unpack(t, wire)); got != test.want || binary.BigEndian.Uint16(wire) != 7 {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func mustRR(t testing.TB, s string) dns.RR {
	t.Helper()
	record, err := dns.NewRR(s)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// header prints what text leaves out, and the answer.
func header(m *dns.Msg) string {
	out := dns.RcodeToString[m.Rcode]
	for _, flag := range []struct {
		set  bool
		name string
	}{
		{m.Response, "qr"}, {m.Authoritative, "aa"}, {m.Truncated, "tc"}, {m.RecursionDesired, "rd"}, {m.RecursionAvailable,
			"ra"},
		{m.Zero, "z"}, {m.AuthenticatedData, "ad"}, {m.CheckingDisabled, "cd"},
	} {
		if flag.set {
			out += " " + flag.name
		}
	}
	out += ";"
	if _, sections, ok := strings.Cut(text(&dns.Msg{Answer: m.Answer}), "--"); ok {
		out += sections
	}
	if opt := m.IsEdns0(); opt != nil {
		out = strings.Replace(out, "BADSIG", "BADVERS", 1) // one number for two rcodes
		out += fmt.Sprintf(" edns %d %d", opt.Version(), opt.UDPSize())
		if opt.Do() {
			out += " do"
		}
	}
	return out
}

func TestTruncation(t *testing.T) {
	var zone strings.Builder
	zone.WriteString("$ORIGIN example.org.\n@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 IN NS ns\n")
	for i := range 60 {
		fmt.Fprintf(&zone, "many 60 IN A 192.0.2.%d\n", i)
		fmt.Fprintf(&zone, "sub 60 IN NS ns%d.sub\nns%d.sub 60 IN AAAA 2001:db8::%d\n", i%13, i%13, i)
		fmt.Fprintf(&zone, "sibling 60 IN NS ns%d.sub\n", i%13)
	}
	c := NewCatalogue().With(readZone(t, zone.String()))
	for _, test := range []struct {
		name, question string
		size           int // 0: no EDNS; -1: TCP
		want           string
	}{
		{"over TCP everything fits", "many.example.org. A", -1, "aa 60 0 0"},
		{"1232 octets hold 60 addresses, for names are compressed", "many.example.org. A", 4096, "aa 60 0 0"},
		{"without EDNS 512 octets do not", "many.example.org. A", 0, "aa tc 0 0 0"},
		{"a size below 512 counts as 512 (RFC 6891 §6.2.3)", "many.example.org. A", 100, "aa tc 0 0 0"},
		{"a referral without the addresses that it needs is truncated (RFC 9471 §3.1)", "sub.example.org. A", 1232,
			"tc 0 13 32"},
		{"over TCP it is whole", "sub.example.org. A", -1, " 0 13 60"},
		{"a referral without addresses from beside is not truncated (RFC 9471 §3.2)", "sibling.example.org. A", 1232,
			" 0 13 32"},
	} {
		t.Run(test.name, func(t *testing.T) {
			name, typ, _ := strings.Cut(test.question, " ")
			m := new(dns.Msg).SetQuestion(name, dns.StringToType[typ])
			if test.size > 0 {
				m.SetEdns0(uint16(test.size), false)
			}
			wire, err := m.Pack()
			if err != nil {
				t.Fatal(err)
			}
			var r responder
			wire = r.respond(c, wire, nil, test.size < 0)
			answer := unpack(t, wire)
			var flags []string
			if answer.Authoritative {
				flags = append(flags, "aa")
			}
			if answer.Truncated {
				flags = append(flags, "tc")
			}
			glue := slices.DeleteFunc(answer.Extra, func(r dns.RR) bool { return r.Header().Rrtype == dns.TypeOPT })
			got := fmt.Sprintf("%s %d %d %d", strings.Join(flags, " "), len(answer.Answer), len(answer.Ns), len(glue))
			if got != test.want {
				t.Errorf("got %s, want %s (%d octets)", got, test.want, len(wire))
			}
		})
	}
}

// FuzzRespond sends anything. What is answered is a message that others read, that belongs to the question and is not
// larger than the client takes.
func FuzzRespond(f *testing.F) {
	c := NewCatalogue().With(readZone(f, exampleOrg)).With(readZone(f, childExampleOrg))
	for _, name := range []string{"www.example.org.", "a.tree.example.org.", "x.wild.example.org.", "no.example.org.",
		"sub.example.org.", "."} {
		for _, typ := range []uint16{dns.TypeA, dns.TypeNS, dns.TypeANY, dns.TypeDS, dns.TypeIXFR} {
			f.Add(asked(f, func(m *dns.Msg) { m.Question[0].Name, m.Question[0].Qtype = name, typ }), false)
			f.Add(asked(f, func(m *dns.Msg) { edns(4096)(m); m.Question[0].Name, m.Question[0].Qtype = name, typ }), true)
		}
	}
	var r responder
	f.Fuzz(func(t *testing.T, msg []byte, stream bool) {
		wire := r.respond(c, msg, nil, stream)
		if wire == nil {
			if len(msg) >= headerSize && msg[2]&0x80 == 0 {
				t.Fatal("a question got no answer")
			}
			return
		}
		m := unpack(t, wire)
		if m.Id != binary.BigEndian.Uint16(msg) || !m.Response || m.Opcode != int(msg[2]>>3&15) {
			t.Fatalf("the answer to\n%x has the wrong header:\n%x", msg, wire)
		}
		if len(m.Question) > 0 && !strings.HasPrefix(string(msg[headerSize:]), string(r.request.question)) {
			t.Fatalf("the question\n%x is not repeated:\n%x", msg, wire)
		}
		if !stream && len(wire) > max(plainSize, min(r.request.size, udpSize)) {
			t.Fatalf("the answer has %d octets, the client takes %d", len(wire), r.request.size)
		}
	})
}
