package rr

import (
	"bytes"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

func TestEqualDataAreEqualText(t *testing.T) {
	types := append(Types(), 65280)
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(types).Draw(t, "type")
		one, other := drawData(t, typ)
		a, err := ParseData(typ, one)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ParseData(typ, other)
		if err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Fatalf("%s %s\n is  %s\nbut %s\n is  %s", typ, one, a, other, b)
		}
		checkCanonical(t, typ, a)
	})
}

// Everything that is made with miekg/dns, CoreDNS for one, reads canonical text
// as we mean it, with the exceptions named here.
func TestOthersReadCanonicalTextTheSame(t *testing.T) {
	except := map[Type]string{
		TypeLOC:   "it loses thousandths of a second to floating point",
		TypeNSEC3: "it takes every hash for one of 20 octets",
		TypeTKEY:  "it has no place in a master file",
		TypeTSIG:  "it has no place in a master file",
	}
	for _, typ := range Types() {
		random := rapid.Custom(func(t *rapid.T) string {
			data, _ := drawData(t, typ)
			return data
		})
		for seed := range 30 {
			data, err := ParseData(typ, random.Example(seed))
			if err != nil {
				t.Fatal(err)
			}
			c := newCodec(typ)
			if err := c.parse(data); err != nil {
				t.Fatal(err)
			}
			if except[typ] != "" || typ.has(raw) && len(c.wire) > 255 { // it takes one character-string for the whole
				continue
			}
			r, ok := dns.NewZoneParser(strings.NewReader(". 1 IN "+typ.String()+" "+data+"\n"), "", "").Next()
			if !ok {
				t.Errorf("miekg/dns does not read %s %s", typ, data)
				continue
			}
			buf := make([]byte, maxData)
			end, err := dns.PackRR(r, buf, 0, nil, false)
			if err != nil || !bytes.Equal(buf[11:end], c.wire) {
				t.Errorf("miekg/dns reads %s %s as %x, %v, want %x", typ, data, buf[11:end], err, c.wire)
			}
		}
	}
}

func TestDataWithoutItsLastWordsIsJudged(t *testing.T) {
	for _, e := range examples(t) {
		words := strings.Fields(e.data)
		for n := range words {
			data, err := ParseData(e.typ, strings.Join(words[:n], " "))
			if err == nil {
				checkCanonical(t, e.typ, data)
			} else if !strings.HasPrefix(err.Error(), e.typ.String()+" data ") {
				t.Errorf("%s %s, cut to %d words: %v", e.typ, e.data, n, err)
			}
		}
	}
}

func TestDataThatIsCutOffIsJudged(t *testing.T) {
	for _, e := range examples(t) {
		whole := newCodec(e.typ)
		if !e.good || whole.parse(e.data) != nil {
			continue
		}
		for n := range whole.wire {
			c := newCodec(e.typ)
			c.wire = bytes.Clone(whole.wire[:n])
			if err := c.print(); err == nil && c.row.fields != nil {
				checkCanonical(t, e.typ, string(c.text))
			} else if err != nil && len(err.Error()) < 10 {
				t.Errorf("%s %s, cut to %d octets: %v", e.typ, e.data, n, err)
			}
		}
	}
}
