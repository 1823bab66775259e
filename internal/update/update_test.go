package update_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/update"
)

// The zone that the tables are about.
const zone = `
example.org. 300 NS ns.example.net.
example.org. 300 NS ns2.example.net.
www.example.org. 300 A 192.0.2.1
www.example.org. 300 A 192.0.2.2
www.example.org. 300 TXT "a"
web.example.org. 300 CNAME www.example.org.
a.b.example.org. 300 A 192.0.2.3
empty.example.org. 300 TYPE65281 \# 0
`

func content(t testing.TB) update.Content {
	t.Helper()
	records := parse(t, zone)
	sets, err := rr.FromRRs(records)
	if err != nil {
		t.Fatal(err)
	}
	txn := rr.Sets{}.Txn()
	for _, set := range sets {
		txn.Put(set)
	}
	soa, err := rr.ParseSOA("ns.example.net. hostmaster.example.org. 7 3600 600 86400 60")
	if err != nil {
		t.Fatal(err)
	}
	return update.Content{SOA: soa, Sets: txn.Sets()}
}

func parse(t testing.TB, text string) (out []dns.RR) {
	t.Helper()
	z := dns.NewZoneParser(strings.NewReader(text), "example.org.", "")
	for r, ok := z.Next(); ok; r, ok = z.Next() {
		out = append(out, r)
	}
	if err := z.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// message makes an UPDATE of lines, whose words are much as those of nsupdate.
func message(t testing.TB, text string) *dns.Msg {
	t.Helper()
	m := new(dns.Msg).SetUpdate("example.org.")
	for line := range strings.SplitSeq(text, ";") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		record := func() []dns.RR { return parse(t, strings.Replace(rest, " ", " 0 ", 1)) }
		name := []dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: dns.Fqdn(rest)}}}
		switch word {
		case "zone":
			m.Question[0].Name = rest
		case "yxdomain":
			m.NameUsed(name)
		case "nxdomain":
			m.NameNotUsed(name)
		case "yxrrset":
			m.RRsetUsed(empty(rest))
		case "nxrrset":
			m.RRsetNotUsed(empty(rest))
		case "same":
			m.Used(record())
		case "add":
			m.Insert(parse(t, rest))
		case "delete":
			m.Remove(record())
		case "deleteset":
			m.RemoveRRset(empty(rest))
		case "deletename":
			m.RemoveName(name)
		case "bare":
			m.Insert(empty(rest))
		case "unbare":
			m.Remove(empty(rest))
		case "samebare":
			m.Used(empty(rest))
		case "raw":
			m.Ns = append(m.Ns, &dns.RFC3597{Hdr: dns.RR_Header{Name: "www.example.org.", Rrtype: 1, Class: dns.ClassCHAOS},
				Rdata: "c0000201"})
		case "foreign":
			m.Ns = append(m.Ns, &dns.RFC3597{Hdr: dns.RR_Header{Name: "example.net.", Rrtype: 1, Class: dns.ClassCHAOS},
				Rdata: "c0000201"})
		case "meta":
			m.Ns = append(m.Ns, &dns.RFC3597{Hdr: dns.RR_Header{Name: "www.example.org.", Rrtype: 252, Class: dns.ClassINET},
				Rdata: "00"})
		default:
			t.Fatalf("what is %q?", word)
		}
	}
	return m
}

func pack(t testing.TB, m *dns.Msg) []byte {
	t.Helper()
	wire, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// empty is a record without data, of "name type".
func empty(text string) []dns.RR {
	name, typ, _ := strings.Cut(text, " ")
	return []dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: name, Rrtype: dns.StringToType[typ]}}}
}

// run shows what comes of a message: the rcode, or the changes.
func run(t testing.TB, m *dns.Msg, c update.Content) string {
	t.Helper()
	read, refusal := update.Parse(pack(t, m))
	if refusal == nil {
		refusal = read.Check(c)
	}
	var changes []update.Change
	if refusal == nil {
		changes, refusal = read.Changes(c)
	}
	if refusal != nil {
		return dns.RcodeToString[refusal.Rcode]
	}
	var out []string
	for _, c := range changes {
		line := c.Key.String()
		if len(c.After.Data) > 0 {
			line += fmt.Sprintf(" %d %s", c.After.TTL, strings.Join(c.After.Data, ","))
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func TestUpdates(t *testing.T) {
	for _, c := range []struct{ name, message, want string }{
		{"a record comes", "add new.example.org. 60 A 192.0.2.9", "new.example.org. A 60 192.0.2.9"},
		{"a record comes to a set, which gets its TTL", "add www.example.org. 60 A 192.0.2.9",
			"www.example.org. A 60 192.0.2.1,192.0.2.2,192.0.2.9"},
		{"a record that is there changes nothing", "add www.example.org. 300 A 192.0.2.1", ""},
		{"a record that is there changes the TTL", "add www.example.org. 60 A 192.0.2.1",
			"www.example.org. A 60 192.0.2.1,192.0.2.2"},
		{"a record goes", "delete www.example.org. A 192.0.2.1", "www.example.org. A 300 192.0.2.2"},
		{"a record goes that is not there", "delete www.example.org. A 192.0.2.7", ""},
		{"the last record of a set goes", "delete www.example.org. TXT \"a\"", "www.example.org. TXT"},
		{"a set goes", "deleteset www.example.org. A", "www.example.org. A"},
		{"a name goes", "deletename www.example.org.", "www.example.org. A; www.example.org. TXT"},
		{"a name goes that is not there", "deletename nothing.example.org.", ""},
		{"a set is replaced", "deleteset www.example.org. A; add www.example.org. 60 A 192.0.2.9",
			"www.example.org. A 60 192.0.2.9"},
		{"what comes and goes again was nothing",
			"add x.example.org. 60 A 192.0.2.9; delete x.example.org. A 192.0.2.9", ""},
		{"a CNAME is replaced by another one", "add web.example.org. 60 CNAME new.example.org.",
			"web.example.org. CNAME 60 new.example.org."},
		{"a CNAME does not come beside others", "add www.example.org. 60 CNAME new.example.org.", ""},
		{"nothing comes beside a CNAME", "add web.example.org. 60 A 192.0.2.9", ""},
		{"services take the place of those of one address and protocol",
			`add x.example.org. 60 TYPE11 \# 6 c00002010601; add x.example.org. 60 TYPE11 \# 6 c00002011101; ` +
				`add x.example.org. 60 TYPE11 \# 7 c0000201060002`,
			`x.example.org. TYPE11 60 \# 6 C00002011101,\# 7 C0000201060002`},
		{"a record comes whose data are empty, as its type lets them be (RFC 3123 §4)", `add x.example.org. 60 APL \# 0`,
			`x.example.org. APL 60 \# 0`},
		{"a record of a type that nobody knows comes with empty data (RFC 3597 §4)",
			`add x.example.org. 60 TYPE65281 \# 0`, `x.example.org. TYPE65281 60 \# 0`},
		{"a record with empty data goes", `delete empty.example.org. TYPE65281 \# 0`, `empty.example.org. TYPE65281`},
		{"a record comes without the data that its type has", "bare new.example.org. A", "FORMERR"},
		{"a record goes without the data that its type has", "unbare www.example.org. A", "FORMERR"},
		{"a CNAME gives way", "deleteset web.example.org. CNAME; add web.example.org. 60 A 192.0.2.9",
			"web.example.org. A 60 192.0.2.9; web.example.org. CNAME"},
		{"the apex keeps its name servers when the name goes", "deletename example.org.", ""},
		{"the apex keeps its name servers when the set goes", "deleteset example.org. NS", ""},
		{"a name server of the apex goes", "delete example.org. NS ns.example.net.", "example.org. NS 300 ns2.example.net."},
		{"the last name server of the apex stays",
			"delete example.org. NS ns.example.net.; delete example.org. NS ns2.example.net.",
			"example.org. NS 300 ns2.example.net."},
		{"an SOA that is not later has no effect", "add example.org. 60 SOA a. b. 7 1 1 1 1", ""},
		{"a later SOA is not the client's to say", "add example.org. 60 SOA a. b. 8 1 1 1 1", "REFUSED"},
		{"an SOA where there is none has no effect", "add www.example.org. 60 SOA a. b. 8 1 1 1 1", ""},
		{"the SOA does not go", "deleteset example.org. SOA", ""},
		{"a name outside", "add example.net. 60 A 192.0.2.9", "NOTZONE"},
		{"a prerequisite outside", "yxdomain example.net", "NOTZONE"},
		{"a class that means nothing", "raw", "FORMERR"},
		{"a type that no record has", "meta", "FORMERR"},
		{"a signature",
			"add www.example.org. 60 RRSIG A 8 2 300 20300101000000 20200101000000 1 example.org. AAAA", "REFUSED"},

		{"a name is in use", "yxdomain www.example.org; deleteset www.example.org. A", "www.example.org. A"},
		{"a name is not in use", "yxdomain nothing.example.org; deleteset www.example.org. A", "NXDOMAIN"},
		{"a name between is not in use", "yxdomain b.example.org", "NXDOMAIN"},
		{"the apex is in use", "nxdomain example.org", "YXDOMAIN"},
		{"a name should not be in use", "nxdomain www.example.org", "YXDOMAIN"},
		{"a name is free", "nxdomain new.example.org; add new.example.org. 60 A 192.0.2.9",
			"new.example.org. A 60 192.0.2.9"},
		{"a set is there", "yxrrset www.example.org. A; deleteset www.example.org. A", "www.example.org. A"},
		{"a set is not there", "yxrrset www.example.org. AAAA", "NXRRSET"},
		{"a set should not be there", "nxrrset www.example.org. A", "YXRRSET"},
		{"a set is free", "nxrrset www.example.org. AAAA", ""},
		{"there is an SOA", "nxrrset example.org. SOA", "YXRRSET"},
		{"a set is just so",
			"same www.example.org. A 192.0.2.2; same www.example.org. A 192.0.2.1; deletename www.example.org.",
			"www.example.org. A; www.example.org. TXT"},
		{"a set of empty data is just so",
			`same empty.example.org. TYPE65281 \# 0; deletename empty.example.org.`, "empty.example.org. TYPE65281"},
		{"a set should be just so, without the data that its type has", "samebare www.example.org. A", "FORMERR"},
		{"a set has more", "same www.example.org. A 192.0.2.1", "NXRRSET"},
		{"a set has less", "same a.b.example.org. A 192.0.2.3; same a.b.example.org. A 192.0.2.4", "NXRRSET"},
		{"a set of which nothing is there", "same new.example.org. A 192.0.2.1", "NXRRSET"},
		{"a prerequisite that does not hold keeps everything as it is",
			"yxrrset www.example.org. A; nxdomain www.example.org; deletename www.example.org.", "YXDOMAIN"},
		{"prerequisites are looked at one after the other", "nxdomain www.example.org; yxdomain example.net", "YXDOMAIN"},
		{"one that is out of the zone comes first", "yxdomain example.net; nxdomain www.example.org", "NOTZONE"},
		{"sets are compared when all else holds",
			"same www.example.org. A 192.0.2.1; nxdomain www.example.org; same www.example.org. A 192.0.2.2", "YXDOMAIN"},
		{"prerequisites come before the form of updates", "nxdomain www.example.org; add example.net. 60 A 192.0.2.9",
			"YXDOMAIN"},
		{"updates are looked at one after the other", "meta; add example.net. 60 A 192.0.2.9", "FORMERR"},
		{"nothing changes by a message with something wrong in the end",
			"add new.example.org. 60 A 192.0.2.9; add example.net. 60 A 192.0.2.9", "NOTZONE"},
		{"another zone comes before another class", "foreign", "NOTZONE"},
	} {
		if got := run(t, message(t, c.message), content(t)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMessagesThatAreNoUpdates(t *testing.T) {
	two := message(t, "yxdomain www.example.org")
	two.Question = append(two.Question, two.Question[0])
	other := message(t, "yxdomain www.example.org")
	other.Question[0].Qtype = dns.TypeA
	late := message(t, "add www.example.org. 60 A 192.0.2.1")
	late.Answer, late.Ns = late.Ns, nil // a prerequisite with a TTL
	class := message(t, "yxdomain www.example.org")
	class.Question[0].Qclass = dns.ClassCHAOS
	long := message(t, "add www.example.org. 60 A 192.0.2.1")
	for range update.Most {
		long.Ns = append(long.Ns, long.Ns[0])
	}
	for _, c := range []struct {
		name string
		m    *dns.Msg
		want string
	}{
		{"two zones", two, "FORMERR"},
		{"a zone section that is no SOA", other, "FORMERR"},
		{"a prerequisite with a TTL", late, "FORMERR"},
		{"another class", class, "NOTAUTH"},
		{"more records than anybody needs", long, "REFUSED"},
	} {
		if got := run(t, c.m, content(t)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	m, refusal := update.Parse(pack(t, message(t,
		"yxdomain www.example.org; add b.example.org. 60 A 192.0.2.1; deletename www.example.org.")))
	if refusal != nil {
		t.Fatal(refusal)
	}
	b, _ := dnsname.Parse("b.example.org.")
	www, _ := dnsname.Parse("www.example.org.")
	if got := m.Names(); fmt.Sprint(got) != fmt.Sprint([]dnsname.Name{b, www}) {
		t.Errorf("it concerns %v", got)
	}
}

func TestDeletions(t *testing.T) {
	m, refusal := update.Parse(pack(t, message(t, "yxdomain x.example.org; add add.example.org. 60 A 192.0.2.1; "+
		"delete one.example.org. A 192.0.2.1; deleteset set.example.org. A; deletename name.example.org.; "+
		"deletename example.org.; delete example.org. NS ns.example.net.; deletename name.example.org.")))
	if refusal != nil {
		t.Fatal(refusal)
	}
	names := []string{"example.org.", "name.example.org.", "one.example.org.", "set.example.org."}
	if got := fmt.Sprint(m.Deletions()); got != fmt.Sprint(names) {
		t.Errorf("it deletes something of %s", got)
	}
	for _, c := range []struct {
		name, owner string
		kind        rr.Type
		data        string
		want        bool
	}{
		{"the record of a deletion", "one.example.org.", rr.TypeA, "192.0.2.1", true},
		{"another one of its set", "one.example.org.", rr.TypeA, "192.0.2.2", false},
		{"a record of a set", "set.example.org.", rr.TypeA, "192.0.2.2", true},
		{"a record of a set beside it", "set.example.org.", rr.TypeTXT, `"a"`, false},
		{"a record of a name", "name.example.org.", rr.TypeTXT, `"a"`, true},
		{"a record that comes", "add.example.org.", rr.TypeA, "192.0.2.1", false},
		{"a name that is asked for", "x.example.org.", rr.TypeA, "192.0.2.1", false},
		{"a record of the apex", "example.org.", rr.TypeTXT, `"a"`, true},
		{"a name server of the apex", "example.org.", rr.TypeNS, "ns.example.net.", true},
		{"a name server of the apex, which goes with no others", "example.org.", rr.TypeNS, "ns2.example.net.", false},
	} {
		owner, err := dnsname.Parse(c.owner)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Deletes(rr.Key{Name: owner, Type: c.kind}, c.data); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// What anybody sends is answered or changed, and nothing that was there is lost but by a deletion of it.
func FuzzUpdates(f *testing.F) {
	for _, text := range []string{"add www.example.org. 60 A 192.0.2.9", "deletename www.example.org.",
		"same www.example.org. A 192.0.2.2; delete www.example.org. TXT \"a\""} {
		f.Add(pack(f, message(f, text)))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		c := content(t)
		read, refusal := update.Parse(wire)
		if refusal != nil || read.Check(c) != nil {
			return
		}
		changes, refusal := read.Changes(c)
		if refusal != nil {
			return
		}
		for _, change := range changes {
			if !change.Name.Under(read.Zone) || change.Type == rr.TypeSOA {
				t.Errorf("%s changes", change.Key)
			}
			for _, data := range change.After.Data {
				if _, err := rr.ParseData(change.Type, data); err != nil {
					t.Errorf("%s gets %q: %v", change.Key, data, err)
				}
			}
		}
	})
}
