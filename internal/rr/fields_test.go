package rr

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// optional is the kinds that may be missing from text, some of them depending
// on what comes before.
func optional(k kind) bool {
	switch k.(type) {
	case bitmap, domains, prefixes, svcParams, keyData, gatewayKey:
		return true
	}
	return false
}

func TestEveryFieldThatIsMissingIsNamed(t *testing.T) {
	for _, r := range rows {
		random := rapid.Custom(func(t *rapid.T) []string {
			s := &spelling{T: t}
			var words []string
			for _, f := range r.fields {
				before := len(s.a)
				s.draw(f.kind)
				words = append(words, strings.Join(s.a[before:], " "))
			}
			return words
		})
		for i, f := range r.fields {
			before := strings.Join(random.Example(i)[:i], " ")
			_, err := ParseData(r.typ, before)
			switch {
			case i == 0:
				if err == nil || !strings.Contains(err.Error(), "it is empty") {
					t.Errorf("%s without data: %v", r.name, err)
				}
			case optional(f.kind):
			case err == nil || !strings.HasSuffix(err.Error(), "the "+f.what+" is missing") && !compound(f.kind):
				t.Errorf("%s %q without %s: %v", r.name, before, f.what, err)
			}
		}
	}
}

// compound is the kinds that name their own parts.
func compound(k kind) bool {
	switch k.(type) {
	case gateway, location, hostIdentity:
		return true
	}
	return false
}

func TestEveryQuotedWordThatMayNotBeIsNamed(t *testing.T) {
	for _, r := range rows {
		if len(r.fields) == 0 {
			continue
		}
		switch f := r.fields[0]; f.kind.(type) {
		case charString, svcParams, octets:
		default:
			_, err := ParseData(r.typ, `"x"`)
			if err == nil || !strings.Contains(err.Error(), "is quoted: leave out the quotes") {
				t.Errorf("%s with a quoted %s: %v", r.name, f.what, err)
			}
		}
	}
}

func TestWhatFollowsTheEndIsRefused(t *testing.T) {
	for _, e := range examples(t) {
		if !e.good || strings.HasPrefix(e.want, `\#`) {
			continue
		}
		switch fields := byType[e.typ].fields; fields[len(fields)-1].kind.(type) {
		case charString, bitmap, domains, prefixes, svcParams, encoded, digest, keyData, gatewayKey, location, caaTag,
			substitution:
			continue // which go on to the end, or end where the text does
		}
		_, err := ParseData(e.typ, e.want+" more")
		if err == nil || !strings.Contains(err.Error(), `it goes on after its end with "more"`) {
			t.Errorf("%s %s more: %v", e.typ, e.want, err)
		}
	}
}

func TestRandomDataHoldsTheNamesThatWereDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []dnsname.Name
		var words []string
		typ := rapid.SampledFrom([]Type{TypeRP, TypeMX, TypeSRV, TypeCNAME, TypeSOA, TypeHIP}).Draw(t, "type")
		for _, f := range byType[typ].fields {
			s := &spelling{T: t}
			s.draw(f.kind)
			words = append(words, s.a...)
			for _, word := range s.a {
				if n, err := dnsname.Parse(word); err == nil {
					want = append(want, n)
				}
			}
		}
		data, err := ParseData(typ, strings.Join(words, " "))
		if err != nil {
			t.Fatal(err)
		}
		if got := join(Names(typ, data)); got != join(want) {
			t.Fatalf("%s %s holds %s, want %s", typ, data, got, join(want))
		}
	})
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		name string
		kind number
		text string
		want uint64
		ok   bool
	}{
		{"zero", u8, "0", 0, true},
		{"the largest of an octet", u8, "255", 255, true},
		{"one more", u8, "256", 0, false},
		{"the largest of two", u16, "65535", 65535, true},
		{"one more than that", u16, "65536", 0, false},
		{"the largest of four", u32, "4294967295", 4294967295, true},
		{"one more than that", u32, "4294967296", 0, false},
		{"leading zeros", u16, "00010", 10, true},
		{"a sign", u16, "+1", 0, false},
		{"a minus", u16, "-1", 0, false},
		{"another base", u16, "0x10", 0, false},
		{"an underscore", u16, "1_0", 0, false},
		{"a fraction", u16, "1.0", 0, false},
		{"other digits", u16, "１", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &codec{lexer: lexer{rest: c.text}}
			err := c.kind.parse(w, "number")
			if (err == nil) != c.ok {
				t.Fatalf("got %v", err)
			}
			if got, err := c.kind.take(w, "number"); c.ok && (err != nil || got != c.want) {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

func TestPeriods(t *testing.T) {
	for s, want := range map[string]uint32{
		"0": 0, "1": 1, "4294967295": 4294967295, "1s": 1, "1m": 60, "1h": 3600, "1d": 86400, "1w": 604800,
		"1W2D3H4M5S": 788645, "1h1h": 7200, "05m": 300,
	} {
		if got, ok := seconds(s); !ok || got != want {
			t.Errorf("%s is %d, %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "h", "1y", "1h2", "-1h", "1.5h", "4294967296", "7102w", "99999999999w", "1 h", "1ü",
		"1H "} {
		if got, ok := seconds(s); ok {
			t.Errorf("%q is %d", s, got)
		}
	}
}

func TestSizesKeepOneDigit(t *testing.T) {
	for s, want := range map[string]string{
		"0": "0m", "0.01": "0.01m", "0.09m": "0.09m", "0.10": "0.10m", "0.19": "0.10m", "1.99m": "1m", "9.99": "9m",
		"10":  "10m",
		"19m": "10m", "95": "90m", "10000m": "10000m", "90000000.00m": "90000000m",
	} {
		got, err := ParseData(TypeLOC, "0 N 0 E 0 "+s)
		if size := strings.Fields(got + "          ")[9:]; err != nil || len(size) == 0 || size[0] != want {
			t.Errorf("%s is %s, %v, want %s", s, got, err, want)
		}
	}
}

func TestSubstitutions(t *testing.T) {
	for _, c := range []struct{ name, s, err string }{
		{"a pattern and a replacement", "!^.*$!sip:info@example.org!", ""},
		{"with a flag", "!^.*$!sip:info@example.org!i", ""},
		{"with a flag twice", "/a/b/ii", ""},
		{"another delimiter", "#a#b#", ""},
		{"empty parts", "!!!", ""},
		{"an escaped delimiter", `!a\!b!c!`, ""},
		{"back references", `!(a)(b)!\2\1!`, ""},
		{"a back reference to no group", `!a!\1!`, "has the back reference 1 and only 0 groups"},
		{"a back reference to the whole", `!a!\0!`, "has the back reference 0"},
		{"an escaped digit in the pattern is none", `!\1!b!`, ""},
		{"a part is missing", "!a!b", "does not have the form !pattern!replacement!"},
		{"a part too many", "!a!b!!", "does not have the form"},
		{"an unknown flag", "!a!b!g", "has a flag other than i"},
		{"a digit as delimiter", "1a1b1", "begins with a digit"},
		{"an i as delimiter", "iaibi", "begins with a digit, a backslash, an i"},
		{"a backslash as delimiter", `\a\b\`, "begins with a digit, a backslash"},
		{"a zero octet", "!a\x00!b!", "has a zero octet in it"},
		{"an escaped zero octet", "!a\\\x00!b!", "ends in a backslash"},
		{"a backslash at the end", `!a!b\`, "ends in a backslash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checkSubstitution([]byte(c.s))
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWindowsOfTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.SliceOfNDistinct(rapid.Uint16(), 1, 50, rapid.ID[uint16]).Draw(t, "types")
		var words []string
		for _, v := range types {
			words = append(words, Type(v).String())
		}
		data, err := ParseData(TypeCSYNC, "1 0 "+strings.Join(words, " "))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Fields(data)[2:]
		last := -1
		for _, word := range got {
			v, err := ParseType(word)
			if err != nil || int(v) <= last {
				t.Fatalf("%s follows %d in %s, %v", word, last, data, err)
			}
			last = int(v)
		}
		if len(got) != len(types) {
			t.Fatalf("%d types became %d: %s", len(types), len(got), data)
		}
	})
}

func TestMomentsAreSecondsSince1970(t *testing.T) {
	for s, want := range map[string]string{
		"0": "19700101000000", "1": "19700101000001", "4294967295": "21060207062815", "20240229235959": "20240229235959",
		"19700101000000": "19700101000000", "21060207062816": "19700101000000",
	} {
		got, err := ParseData(TypeRRSIG, "A 8 2 300 "+s+" 0 1 example.org. AQID")
		if err != nil || strings.Fields(got)[4] != want {
			t.Errorf("%s is %s, %v, want %s", s, got, err, want)
		}
	}
	for _, s := range []string{"20230229000000", "20241301000000", "4294967296", "2024010100000", "x"} {
		if got, err := ParseData(TypeRRSIG, "A 8 2 300 "+s+" 0 1 example.org. AQID"); err == nil {
			t.Errorf("%s is %s", s, got)
		}
	}
}

func TestMessagesAreAboutTheData(t *testing.T) {
	c := newCodec(TypeMX)
	got := c.explain("10", errors.New("the exchange is missing")).Error()
	if want := `MX data "10" is not valid: the exchange is missing`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
