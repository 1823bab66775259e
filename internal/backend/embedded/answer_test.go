package embedded

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

const exampleOrg = `
$ORIGIN example.org.
@         3600 IN SOA   ns root 7 7200 3600 604800 300
@         3600 IN NS    ns
ns        3600 IN A     192.0.2.53
www       60   IN A     192.0.2.1
www       60   IN A     192.0.2.2
www       60   IN TXT   "text"
alias     60   IN CNAME www
twice     60   IN CNAME alias
out       60   IN CNAME www.example.net.
nowhere   60   IN CNAME nothing
round     60   IN CNAME about
about     60   IN CNAME round
a.b.c     60   IN A     192.0.2.3
*.wild    60   IN A     192.0.2.4
x.y.wild  60   IN A     192.0.2.5
*.calias  60   IN CNAME www
u.*.ent   60   IN A     192.0.2.6
sub       60   IN NS    ns.sub
sub       60   IN NS    ns.other
sub       60   IN NS    ns.example.net.
sub       60   IN DS    1 8 2 0123456789012345678901234567890123456789012345678901234567890123
ns.sub    60   IN A     192.0.2.7
ns.sub    60   IN AAAA  2001:db8::7
other     60   IN NS    ns.other
ns.other  60   IN A     192.0.2.8
intosub   60   IN CNAME host.sub
tree      60   IN DNAME new.tree.example.net.
moved     60   IN DNAME www
here      60   IN DNAME wild
long      60   IN DNAME ` + "l23456789012345678901234567890123456789012345678901234567890123.l23456789012345678901234567890123456789012345678901234567890123.l23456789012345678901234567890123456789012345678901234567890123" + `.net.
mail      60   IN MX    10 www
intochild 60   IN CNAME ns.child
itself    60   IN DNAME itself
echo      60   IN MX    10 a.a.a.b.a
`

const childExampleOrg = `
$ORIGIN child.example.org.
@ 60 IN SOA ns root 1 2 3 4 5
@ 60 IN NS ns
ns 60 IN A 192.0.2.9
`

// A question is asked as text and its answer given as text: rcode, aa and tc if they are set, sections after -- each.
func TestAnswers(t *testing.T) {
	const soa = "-- example.org. 300 SOA ns.example.org. root.example.org. 7 7200 3600 604800 300"
	const referral = "NOERROR -- -- sub.example.org. 60 NS ns.example.net.; sub.example.org. 60 NS " +
		"ns.other.example.org.; sub.example.org. 60 NS ns.sub.example.org." +
		" -- ns.sub.example.org. 60 A 192.0.2.7; ns.sub.example.org. 60 AAAA 2001:db8::7; ns.other.example.org. " +
		"60 A 192.0.2.8"
	c := NewCatalogue().With(readZone(t, exampleOrg)).With(readZone(t, childExampleOrg))
	for _, test := range []struct{ name, question, want string }{
		{"a set", "www.example.org. A", "NOERROR aa -- www.example.org. 60 A 192.0.2.1; www.example.org. 60 A 192.0.2.2"},
		{"the case of the question is kept", "wWw.eXample.org. TXT", `NOERROR aa -- wWw.eXample.org. 60 TXT "text"`},
		{"the SOA has its own TTL when it is asked for", "example.org. SOA",
			"NOERROR aa -- example.org. 3600 SOA ns.example.org. root.example.org. 7 7200 3600 604800 300"},
		{"no set of the type (RFC 2308 §2.2)", "www.example.org. AAAA", "NOERROR aa -- " + soa},
		{"no such name (RFC 2308 §2.1)", "no.example.org. A", "NXDOMAIN aa -- " + soa},
		{"no such name below one that is", "no.www.example.org. A", "NXDOMAIN aa -- " + soa},
		{"an empty non-terminal exists", "b.c.example.org. A", "NOERROR aa -- " + soa},
		{"beside what is below an empty non-terminal nothing is", "x.b.c.example.org. A", "NXDOMAIN aa -- " + soa},
		{"any set will do for ANY (RFC 8482 §4.1)", "www.example.org. ANY", `NOERROR aa -- www.example.org. 60 TXT "text"`},
		{"ANY at an empty non-terminal", "b.c.example.org. ANY", "NOERROR aa -- " + soa},
		{"MX without addresses", "mail.example.org. MX", "NOERROR aa -- mail.example.org. 60 MX 10 www.example.org."},

		{"a name that is like the end of itself", "echo.example.org. MX",
			"NOERROR aa -- echo.example.org. 60 MX 10 a.a.a.b.a.example.org."},

		{"an alias", "alias.example.org. A", "NOERROR aa -- alias.example.org. 60 CNAME www.example.org.; www.example.org. " +
			"60 A 192.0.2.1; www.example.org. 60 A 192.0.2.2"},
		{"an alias by its type", "alias.example.org. CNAME", "NOERROR aa -- alias.example.org. 60 CNAME www.example.org."},
		{"an alias by ANY", "alias.example.org. ANY", "NOERROR aa -- alias.example.org. 60 CNAME www.example.org."},
		{"an alias of an alias", "twice.example.org. TXT",
			`NOERROR aa -- twice.example.org. 60 CNAME alias.example.org.; alias.example.org. 60 CNAME www.example.org.; www.example.org. 60 TXT "text"`},
		{"an alias of what has no such set", "alias.example.org. AAAA",
			"NOERROR aa -- alias.example.org. 60 CNAME www.example.org. " + soa},
		{"an alias of nothing: the rcode is of the last name (RFC 6604 §3)", "nowhere.example.org. A",
			"NXDOMAIN aa -- nowhere.example.org. 60 CNAME nothing.example.org. " + soa},
		{"an alias out of the zone", "out.example.org. A", "NOERROR aa -- out.example.org. 60 CNAME www.example.net."},
		{"aliases in a circle", "round.example.org. A",
			"NOERROR aa -- round.example.org. 60 CNAME about.example.org.; about.example.org. 60 CNAME round.example.org."},
		{"an alias into a zone below, without a cut between", "intochild.example.org. A",
			"NOERROR aa -- intochild.example.org. 60 CNAME ns.child.example.org."},
		{"what may stand beside an alias is asked of its own name (RFC 4035 §2.5)", "alias.example.org. RRSIG",
			"NOERROR aa -- " + soa},
		{"an alias of what is below a cut", "intosub.example.org. A",
			"NOERROR aa -- intosub.example.org. 60 CNAME host.sub.example.org. " + strings.TrimPrefix(referral, "NOERROR -- ")},

		{"a wildcard", "x.wild.example.org. A", "NOERROR aa -- x.wild.example.org. 60 A 192.0.2.4"},
		{"a wildcard covers several labels", "x.x.wild.example.org. A", "NOERROR aa -- x.x.wild.example.org. 60 A 192.0.2.4"},
		{"a wildcard by its own name", "*.wild.example.org. A", "NOERROR aa -- *.wild.example.org. 60 A 192.0.2.4"},
		{"a wildcard without the set", "x.wild.example.org. TXT", "NOERROR aa -- " + soa},
		{"a wildcard does not cover its parent", "wild.example.org. A", "NOERROR aa -- " + soa},
		{"a wildcard does not cover what exists (RFC 4592 §2.2.2)", "y.wild.example.org. A", "NOERROR aa -- " + soa},
		{"nor what is below what exists (RFC 4592 §3.3.1)", "z.y.wild.example.org. A", "NXDOMAIN aa -- " + soa},
		{"a wildcard that is an alias", "x.calias.example.org. TXT",
			`NOERROR aa -- x.calias.example.org. 60 CNAME www.example.org.; www.example.org. 60 TXT "text"`},
		{"a wildcard that is an empty non-terminal covers all the same", "x.ent.example.org. A", "NOERROR aa -- " + soa},

		{"the apex of a cut", "sub.example.org. A", referral},
		{"below a cut", "host.sub.example.org. MX", referral},
		{"NS at a cut", "sub.example.org. NS", referral},
		{"ANY at a cut", "sub.example.org. ANY", referral},
		{"glue is not an answer", "ns.sub.example.org. A", referral},
		{"DS at a cut belongs to the parent (RFC 4035 §3.1.4.1)", "sub.example.org. DS",
			"NOERROR aa -- sub.example.org. 60 DS 1 8 2 0123456789012345678901234567890123456789012345678901234567890123"},
		{"no DS at a cut", "other.example.org. DS", "NOERROR aa -- " + soa},
		{"DS below a cut", "host.sub.example.org. DS", referral},

		{"below a DNAME", "a.tree.example.org. A", "NOERROR aa -- tree.example.org. 60 DNAME new.tree.example.net.; " +
			"a.tree.example.org. 60 CNAME a.new.tree.example.net."},
		{"a DNAME covers nothing at its own name", "tree.example.org. A", "NOERROR aa -- " + soa},
		{"a DNAME by its type", "tree.example.org. DNAME", "NOERROR aa -- tree.example.org. 60 DNAME new.tree.example.net."},
		{"a DNAME to what has nothing below it", "a.moved.example.org. A",
			"NXDOMAIN aa -- moved.example.org. 60 DNAME www.example.org.; a.moved.example.org. 60 CNAME a.www.example.org. " +
				soa},
		{"a DNAME to a wildcard", "a.here.example.org. A", "NOERROR aa -- here.example.org. 60 DNAME wild.example.org.; " +
			"a.here.example.org. 60 CNAME a.wild.example.org.; a.wild.example.org. 60 A 192.0.2.4"},
		{"a DNAME to itself", "a.itself.example.org. A", "NOERROR aa -- itself.example.org. 60 DNAME itself.example.org.; " +
			"a.itself.example.org. 60 CNAME a.itself.example.org."},
		{"a DNAME that makes the name too long (RFC 6672 §2.2)",
			"l23456789012345678901234567890123456789012345678901234567890123.long.example.org. A",
			"YXDOMAIN aa -- long.example.org. 60 DNAME " +
				strings.Repeat("l23456789012345678901234567890123456789012345678901234567890123.", 3) + "net."},

		{"the nearest zone answers", "ns.child.example.org. A", "NOERROR aa -- ns.child.example.org. 60 A 192.0.2.9"},
		{"DS of a zone is asked of its parent, which knows of no cut here", "child.example.org. DS", "NXDOMAIN aa -- " + soa},
		{"DS of a zone whose parent is not served", "example.org. DS", "NOERROR aa -- " + soa},
		{"what is not served", "www.example.net. A", "REFUSED"},
		{"above what is served", "org. NS", "REFUSED"},
		{"the root", ". NS", "REFUSED"},
		{"transfers", "example.org. AXFR", "REFUSED"},
		{"a type that is no type", "example.org. TYPE0", "FORMERR"},
		{"a type of messages", "example.org. MAILB", "NOTIMP"},
		{"a type that is only in bitmaps (RFC 9824 §3.5)", "example.org. NXNAME", "FORMERR"},
	} {
		t.Run(test.name, func(t *testing.T) {
			name, typ, _ := strings.Cut(test.question, " ")
			m := new(dns.Msg).SetQuestion(name, dns.StringToType[typ])
			m.Id = 0
			if got := text(exchange(t, c, m)); got != test.want {
				t.Errorf("%s\n got %s\nwant %s", test.question, got, test.want)
			}
		})
	}
}

// exchange asks over a stream.
func exchange(t *testing.T, c *Catalogue, m *dns.Msg) *dns.Msg {
	t.Helper()
	wire, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	var r responder
	return unpack(t, r.respond(c, wire, nil, true))
}

func unpack(t testing.TB, wire []byte) *dns.Msg {
	t.Helper()
	m := new(dns.Msg)
	if err := m.Unpack(wire); err != nil {
		t.Fatalf("the answer cannot be read: %v\n%x", err, wire)
	}
	return m
}

// text prints an answer in one line.
func text(m *dns.Msg) string {
	out := dns.RcodeToString[m.Rcode]
	if m.Authoritative {
		out += " aa"
	}
	if m.Truncated {
		out += " tc"
	}
	sections := [][]dns.RR{m.Answer, m.Ns, m.Extra}
	for len(sections) > 0 && len(sections[len(sections)-1]) == 0 {
		sections = sections[:len(sections)-1]
	}
	for _, section := range sections {
		out += " --"
		for i, record := range section {
			h := record.Header()
			data := strings.Fields(strings.TrimPrefix(record.String(), h.String()))
			if i > 0 {
				out += ";"
			}
			out += fmt.Sprintf(" %s %d %s %s", h.Name, h.Ttl, dns.Type(h.Rrtype), strings.Join(data, " "))
		}
	}
	return out
}
