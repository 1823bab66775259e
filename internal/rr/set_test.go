package rr

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
)

func TestNewSetSortsAndDropsDuplicates(t *testing.T) {
	data := []string{"192.0.2.2", "192.0.2.1", "192.0.2.2"}
	s := NewSet(Key{dnsname.Root, TypeA}, 300, data...)
	if d := cmp.Diff([]string{"192.0.2.1", "192.0.2.2"}, s.Data); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"192.0.2.2", "192.0.2.1", "192.0.2.2"}, data); d != "" {
		t.Errorf("the caller's data changed: %s", d)
	}
}

func TestAppendingToASetsDataLeavesTheSet(t *testing.T) {
	data := make([]string, 1, 4)
	data[0] = "192.0.2.1"
	s := NewSet(Key{dnsname.Root, TypeA}, 300, data...)
	_ = append(s.Data, "192.0.2.9")
	if more := append(data, "192.0.2.2"); len(s.Data) != 1 || more[1] != "192.0.2.2" {
		t.Errorf("the set is %v", s)
	}
}

func TestSetsAreEqual(t *testing.T) {
	base := NewSet(Key{name(t, "www.example.org."), TypeA}, 300, "192.0.2.1", "192.0.2.2")
	for _, c := range []struct {
		name  string
		other Set
		want  bool
	}{
		{"the same data in another order", NewSet(base.Key(), 300, "192.0.2.2", "192.0.2.1"), true},
		{"another TTL", NewSet(base.Key(), 301, base.Data...), false},
		{"another name", NewSet(Key{name(t, "example.org."), TypeA}, 300, base.Data...), false},
		{"another type", NewSet(Key{base.Name, TypeTXT}, 300, base.Data...), false},
		{"less data", NewSet(base.Key(), 300, "192.0.2.1"), false},
		{"no set", Set{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := base.Equal(c.other); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestKeysAreInCanonicalOrder(t *testing.T) {
	keys := []Key{
		{dnsname.Root, TypeNS},
		{dnsname.Root, TypeSOA},
		{name(t, "org."), TypeNS},
		{name(t, "example.org."), TypeA},
		{name(t, "example.org."), TypeAAAA},
		{name(t, "example.org."), TypeCAA},
		{name(t, "*.example.org."), TypeA},
		{name(t, "www.example.org."), TypeA},
		{name(t, "a.www.example.org."), TypeA},
		{name(t, "example2.org."), TypeA},
	}
	for i, a := range keys {
		for j, b := range keys {
			if got, want := a.Compare(b), compareInts(i, j); got != want {
				t.Errorf("%s and %s compare as %d, want %d", a, b, got, want)
			}
		}
	}
}

func compareInts(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// rrs parses records in presentation form.
func rrs(t testing.TB, lines ...string) []dns.RR {
	t.Helper()
	var all []dns.RR
	for _, line := range lines {
		r, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestRecordsBecomeSets(t *testing.T) {
	got, err := FromRRs(rrs(t,
		"www.Example.org. 300 IN A 192.0.2.2",
		"example.org. 3600 IN SOA NS.example.org. hostmaster.example.org. 1 2 3 4 5",
		"WWW.example.org. 200 IN A 192.0.2.1",
		"www.example.org. 300 IN A 192.0.2.2",
		"www.example.org. 300 IN AAAA 2001:DB8::1",
		"a.example.org. 300 IN MX 10 Mail.example.org.",
		"_x.example.org. 300 IN TYPE65280 \\# 2 abcd",
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []Set{
		NewSet(Key{name(t, "example.org."), TypeSOA}, 3600, "ns.example.org. hostmaster.example.org. 1 2 3 4 5"),
		NewSet(Key{name(t, "_x.example.org."), 65280}, 300, `\# 2 ABCD`),
		NewSet(Key{name(t, "a.example.org."), TypeMX}, 300, "10 mail.example.org."),
		NewSet(Key{name(t, "www.example.org."), TypeA}, 200, "192.0.2.1", "192.0.2.2"),
		NewSet(Key{name(t, "www.example.org."), TypeAAAA}, 300, "2001:db8::1"),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNoRecordsAreNoSets(t *testing.T) {
	if got, err := FromRRs(nil); err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestRecordsOfAnotherClassAreAnError(t *testing.T) {
	for _, class := range []uint16{dns.ClassCHAOS, dns.ClassANY, dns.ClassNONE} {
		r := rrs(t, "www.example.org. 300 IN A 192.0.2.1")
		r[0].Header().Class = class
		_, err := FromRRs(r)
		if err == nil || !strings.Contains(err.Error(), "www.example.org. A: its class is "+dns.Class(class).String()) {
			t.Errorf("class %d: %v", class, err)
		}
	}
}

func TestWhatAServerShouldNotHoldIsReadAllTheSame(t *testing.T) {
	for _, c := range []struct {
		name, want string
		typ        Type
		wire       string
	}{
		{"a tag of no letters", `\# 4 00012D78`, TypeCAA, "\x00\x01-x"},
		{"a key digest that is too short", `\# 5 00010801AB`, TypeDS, "\x00\x01\x08\x01\xab"},
		{"a pattern without delimiters", `\# 11 00010001000003666F6F00`, TypeNAPTR, "\x00\x01\x00\x01\x00\x00\x03foo\x00"},
		{"an alpn that is empty", `1 . alpn=""`, TypeHTTPS, "\x00\x01\x00\x00\x01\x00\x01\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := dns.RR_Header{Name: "example.org.", Rrtype: uint16(c.typ), Class: dns.ClassINET, Ttl: 300,
				Rdlength: uint16(len(c.wire))}
			r, _, err := dns.UnpackRRWithHeader(h, []byte(c.wire), 0)
			if err != nil {
				t.Fatal(err)
			}
			sets, err := FromRRs([]dns.RR{r})
			if err != nil {
				t.Fatal(err)
			}
			if got := sets[0].Data[0]; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if _, err := ParseData(c.typ, c.want); err == nil {
				t.Error("ParseData takes it: nobody would notice that it is not as it should be")
			}
			if c.want[0] != '\\' {
				return
			}
			if back, err := throughMessage(sets[0]); err != nil || !back[0].Equal(sets[0]) {
				t.Errorf("it comes back as %v, %v: it could not be deleted by value", back, err)
			}
		})
	}
}

func TestNamesOfMessages(t *testing.T) {
	for _, c := range []struct{ name, s, want string }{
		{"an ordinary name", "WWW.example.org.", "www.example.org."},
		{"the root", ".", "."},
		{"a dollar, which miekg/dns does not escape", "$x.example.org.", `\$x.example.org.`},
		{"a space, which it escapes in its way", `a\ b.example.org.`, `a\032b.example.org.`},
		{"a relative name is none", "www", ""},
		{"an empty label is none", "a..b.", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := MessageName(c.s); got.String() != c.want || (err != nil) != (c.want == "") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestDataThatIsNoDataMakesNoRecord(t *testing.T) {
	s := Set{Name: name(t, "www.example.org."), Type: TypeA, TTL: 300, Data: []string{"here"}}
	_, err := s.RRs()
	if err == nil || !strings.Contains(err.Error(), "www.example.org. A") {
		t.Errorf("got %v", err)
	}
}

func TestSetsGoThroughMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(Types()).Filter(func(t Type) bool { return t != TypeTSIG && t != TypeTKEY }).Draw(t, "type")
		var data []string
		for range rapid.IntRange(1, 4).Draw(t, "records") {
			one, _ := drawData(t, typ)
			canonical, err := ParseData(typ, one)
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, canonical)
		}
		set := NewSet(Key{drawName(t, 5), typ}, rapid.Uint32Max(1<<31-1).Draw(t, "ttl"), data...)
		back, err := throughMessage(set)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]Set{set}, back); d != "" {
			t.Fatal(d)
		}
	})
}

func TestSetsDoNotDependOnTheOrderOfRecords(t *testing.T) {
	owners := []string{"www.example.org.", "WWW.example.org.", "example.org.", "a.example.org."}
	rapid.Check(t, func(t *rapid.T) {
		var all []dns.RR
		lowest := map[Key]uint32{}
		for range rapid.IntRange(1, 12).Draw(t, "records") {
			r := &dns.A{
				Hdr: dns.RR_Header{Name: rapid.SampledFrom(owners).Draw(t, "owner"), Rrtype: dns.TypeA, Class: dns.ClassINET,
					Ttl: rapid.Uint32Max(9).Draw(t, "ttl")},
				A: []byte{192, 0, 2, rapid.ByteMax(3).Draw(t, "address")},
			}
			n, err := MessageName(r.Hdr.Name)
			if err != nil {
				t.Fatal(err)
			}
			if ttl, ok := lowest[Key{n, TypeA}]; !ok || r.Hdr.Ttl < ttl {
				lowest[Key{n, TypeA}] = r.Hdr.Ttl
			}
			all = append(all, r)
		}
		want, err := FromRRs(all)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FromRRs(rapid.Permutation(all).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		if len(got) != len(lowest) {
			t.Fatalf("%d names became %d sets", len(lowest), len(got))
		}
		for i, s := range got {
			if i > 0 && got[i-1].Key().Compare(s.Key()) >= 0 {
				t.Fatalf("%s does not follow %s", s.Key(), got[i-1].Key())
			}
			if s.TTL != lowest[s.Key()] {
				t.Fatalf("%s has the TTL %d, want %d", s.Key(), s.TTL, lowest[s.Key()])
			}
			if !sorted(s.Data) {
				t.Fatalf("%s has the data %v", s.Key(), s.Data)
			}
		}
	})
}
