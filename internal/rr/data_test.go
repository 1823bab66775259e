package rr

import (
	"os"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// An example is one line of testdata/types.txt.
type example struct {
	typ  Type
	good bool
	data string
	want string // canonical data, or part of the message
}

func examples(t testing.TB) []example {
	t.Helper()
	text, err := os.ReadFile("testdata/types.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		verdict, rest, ok := strings.Cut(rest, " ")
		typ, err := ParseType(name)
		if err != nil || !ok || verdict != "good" && verdict != "bad" {
			t.Fatalf("testdata/types.txt: cannot read %q: %v", line, err)
		}
		data, want, found := strings.Cut(rest, "  =>  ")
		if !found {
			want = data
		}
		all = append(all, example{typ, verdict == "good", data, want})
	}
	return all
}

func name(t testing.TB, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEveryTypeHasExamples(t *testing.T) {
	good, bad := map[Type]int{}, map[Type]int{}
	for _, e := range examples(t) {
		if e.good {
			good[e.typ]++
		} else {
			bad[e.typ]++
		}
	}
	for _, typ := range Types() {
		if good[typ] == 0 || bad[typ] == 0 {
			t.Errorf("testdata/types.txt has %d good and %d bad examples of %s: at least one of each is needed", good[typ],
				bad[typ], typ)
		}
	}
}

func TestExamplesAreReadAsTheySay(t *testing.T) {
	for _, e := range examples(t) {
		got, err := ParseData(e.typ, e.data)
		switch {
		case e.good && err != nil:
			t.Errorf("good example refused: %v", err)
		case e.good && got != e.want:
			t.Errorf("%s %s\n got %s\nwant %s", e.typ, e.data, got, e.want)
		case !e.good && err == nil:
			t.Errorf("bad example taken: %s %s became %s", e.typ, e.data, got)
		case !e.good && !strings.Contains(err.Error(), e.want):
			t.Errorf("%s %s\n got %v\nwant %s", e.typ, e.data, err, e.want)
		case !e.good && !strings.HasPrefix(err.Error(), e.typ.String()+" data "):
			t.Errorf("the message does not say what it is about: %v", err)
		}
		if e.good {
			checkCanonical(t, e.typ, got)
		}
	}
}

// checkCanonical holds canonical data to all that is promised of it.
func checkCanonical(t interface{ Errorf(string, ...any) }, typ Type, data string) {
	if again, err := ParseData(typ, data); err != nil || again != data {
		t.Errorf("%s %s is not a fixed point: %s, %v", typ, data, again, err)
	}
	c := newCodec(typ)
	if err := c.parse(data); err != nil {
		t.Errorf("%s %s: %v", typ, data, err)
		return
	}
	generic := string(appendGeneric(nil, c.wire))
	if same, err := ParseData(typ, generic); err != nil || same != data {
		t.Errorf("%s %s is not what %s is: %s, %v", typ, data, generic, same, err)
	}
	set := NewSet(Key{dnsname.Root, typ}, 300, data)
	sets, err := throughMessage(set)
	if typ == TypeTSIG || typ == TypeTKEY {
		return // these have no place among the answers of a message
	}
	if err != nil || len(sets) != 1 || !sets[0].Equal(set) {
		t.Errorf("%s %s comes back from a message as %v, %v", typ, data, sets, err)
	}
}

// throughMessage packs a set into a message and reads it out of it.
func throughMessage(set Set) ([]Set, error) {
	rrs, err := set.RRs()
	if err != nil {
		return nil, err
	}
	wire, err := (&dns.Msg{Answer: rrs}).Pack()
	if err != nil {
		return nil, err
	}
	var back dns.Msg
	if err := back.Unpack(wire); err != nil {
		return nil, err
	}
	return FromRRs(back.Answer)
}

func TestDataIsRefusedWithTheReason(t *testing.T) {
	for _, c := range []struct{ name, typ, data, want string }{
		{"a line feed cannot add a record", "TXT", "\"a\"\nwww A 192.0.2.1",
			`TXT data "\"a\"\nwww A 192.0.2.1" is not valid: it has a line break in it: a record is one line; join the lines with spaces`},
		{"a carriage return is a line break", "A", "192.0.2.1\r",
			`A data "192.0.2.1\r" is not valid: it has a line break in it`},
		{"a zero octet is refused", "TXT", "\"a\x00b\"",
			`it has a control character in it: write \000 inside a quoted string`},
		{"a line feed inside quotes is refused too", "TXT", "\"a\nb\"", "it has a line break in it"},
		{"a delete character is refused", "TXT", "\x7f", `it has a control character in it: write \127`},
		{"nothing is no data", "TXT", "", `TXT data "" is not valid: it is empty`},
		{"spaces are no data", "A", "  ", "is not valid: it is empty"},
		{"a string of 256 octets must be split", "TXT", `"` + strings.Repeat("x", 256) + `"`, "it has a string of 256 " +
			"octets, but at most 255 are allowed in one: split it into several quoted strings, which readers join"},
		{"a single string cannot be split", "HINFO", strings.Repeat("x", 256) + " a",
			"the CPU has 256 octets: at most 255 are allowed"},
		{"65536 octets do not fit", "TXT", strings.Repeat(`"`+strings.Repeat("x", 255)+`" `, 256) + `""`,
			"it has 65537 octets: at most 65535 are allowed"},
		{"text that no record holds is not even read", "TXT", strings.Repeat("x ", 200_000),
			"it is longer than any record can be"},
		{"a label of 64 octets", "CNAME", strings.Repeat("x", 64) + ".", "has a label of 64 octets: at most 63 are allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			typ, err := ParseType(c.typ)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseData(typ, c.data)
			if err == nil {
				t.Fatalf("taken as %.80s", got)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
			if len(err.Error()) > 400 {
				t.Errorf("the message has %d octets: too long for a condition", len(err.Error()))
			}
		})
	}
}

func TestTheLongestDataIsTaken(t *testing.T) {
	data := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat(`\255`, 255)+`" `, 255), " ") + ` "` +
		strings.Repeat("x", 254) + `"`
	got, err := ParseData(TypeTXT, data)
	if err != nil || got != data {
		t.Fatalf("65535 octets of TXT: %v", err)
	}
	c := newCodec(TypeTXT)
	if err := c.parse(data); err != nil || len(c.wire) != maxData {
		t.Errorf("it has %d octets, %v", len(c.wire), err)
	}
}

func TestCanonicalTextIsNotCopied(t *testing.T) {
	for _, e := range examples(t) {
		if e.good && e.typ == TypeA && e.data == e.want {
			if n := testing.AllocsPerRun(100, func() { _, _ = ParseData(e.typ, e.data) }); n > 0 {
				t.Errorf("ParseData(%s, %s) allocates %v times", e.typ, e.data, n)
			}
		}
	}
}

func TestTextSplitsAValueIntoStrings(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"an empty value is one empty string", "", `""`},
		{"a short value is one string", "v=spf1 -all", `"v=spf1 -all"`},
		{"255 octets are one string", strings.Repeat("x", 255), `"` + strings.Repeat("x", 255) + `"`},
		{"256 octets are two", strings.Repeat("x", 256), `"` + strings.Repeat("x", 255) + `" "x"`},
		{"what needs escapes gets them", "\"\\\n", `"\"\\\010"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Text(c.value)
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			checkCanonical(t, TypeTXT, got)
		})
	}
}

func TestNamesAndTargets(t *testing.T) {
	for _, c := range []struct {
		name           string
		typ            Type
		data           string
		names, targets string
	}{
		{"an address holds no name", TypeA, "192.0.2.1", "", ""},
		{"a name server wants an address", TypeNS, "ns1.example.org.", "ns1.example.org.", "ns1.example.org."},
		{"a mail exchange wants an address", TypeMX, "10 mail.example.org.", "mail.example.org.", "mail.example.org."},
		{"a null MX names nobody", TypeMX, "0 .", ".", ""},
		{"a service wants an address", TypeSRV, "0 0 443 www.example.org.", "www.example.org.", "www.example.org."},
		{"a service that is not offered names nobody", TypeSRV, "0 0 0 .", ".", ""},
		{"an alias is followed, not resolved", TypeCNAME, "www.example.org.", "www.example.org.", ""},
		{"a name with a space in it is one name", TypeMX, `10 a\032b.example.org.`, `a\032b.example.org.`,
			`a\032b.example.org.`},
		{"a start of authority holds two names", TypeSOA, "a. b. 1 2 3 4 5", "a. b.", ""},
		{"a host identity holds its servers", TypeHIP, "2 20 AwEA a.example. b.example.", "a.example. b.example.", ""},
		{"a gateway may be a name", TypeIPSECKEY, "10 3 2 gw.example. AwEA", "gw.example.", ""},
		{"a TXT record that looks like names holds none", TypeTXT, `"a.example."`, "", ""},
		{"what is not canonical data holds none", TypeNS, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := join(Names(c.typ, c.data)); got != c.names {
				t.Errorf("names: got %q, want %q", got, c.names)
			}
			if got := join(Targets(c.typ, c.data)); got != c.targets {
				t.Errorf("targets: got %q, want %q", got, c.targets)
			}
		})
	}
}

func join(names []dnsname.Name) string {
	var words []string
	for _, n := range names {
		words = append(words, n.String())
	}
	return strings.Join(words, " ")
}

func TestWireAndBack(t *testing.T) {
	for _, e := range examples(t) {
		if !e.good {
			continue
		}
		wire, err := Wire(e.typ, e.want)
		if err != nil {
			t.Errorf("%s %s: %v", e.typ, e.data, err)
			continue
		}
		if got := FromWire(e.typ, wire); got != e.want {
			t.Errorf("%s %s comes back as %s", e.typ, e.want, got)
		}
	}
	if got := FromWire(TypeA, []byte{192, 0, 2}); got != `\# 3 C00002` {
		t.Errorf("an address that is cut off is %s", got)
	}
	if _, err := Wire(TypeA, "192.0.2"); err == nil {
		t.Error("an address that is cut off has a wire format")
	}
}
