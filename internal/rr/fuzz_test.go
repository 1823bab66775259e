package rr

import (
	"bytes"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// fuzzType makes every number a type, most of them one of the table.
func fuzzType(index uint8) Type {
	if int(index) < len(rows) {
		return rows[index].typ
	}
	return Type(index)
}

func fuzzIndex(t Type) uint8 {
	for i, r := range rows {
		if r.typ == t {
			return uint8(i)
		}
	}
	return uint8(t)
}

func FuzzParseData(f *testing.F) {
	for _, e := range examples(f) {
		f.Add(fuzzIndex(e.typ), e.data)
	}
	f.Fuzz(func(t *testing.T, index uint8, s string) {
		typ := fuzzType(index)
		if data, err := ParseData(typ, s); err == nil {
			checkCanonical(t, typ, data)
			if bytes.ContainsAny([]byte(data), "\r\n\x00") {
				t.Errorf("canonical data %q is more than a line", data)
			}
		} else if len(err.Error()) > 1000 {
			t.Errorf("the message has %d octets: %v", len(err.Error()), err)
		}
	})
}

// FuzzWire reads what a server might send.
func FuzzWire(f *testing.F) {
	for _, e := range examples(f) {
		c := newCodec(e.typ)
		if c.parse(e.data) == nil {
			f.Add(fuzzIndex(e.typ), bytes.Clone(c.wire))
		}
	}
	f.Fuzz(func(t *testing.T, index uint8, wire []byte) {
		typ := fuzzType(index)
		c := newCodec(typ)
		c.wire = bytes.Clone(wire)
		if c.print() == nil && c.row.fields != nil && len(wire) <= maxData {
			checkCanonical(t, typ, string(c.text))
		}
		h := dns.RR_Header{Name: "www.example.org.", Rrtype: uint16(typ), Class: dns.ClassINET, Rdlength: uint16(len(wire))}
		if len(wire) > maxData {
			return
		}
		r, _, err := dns.UnpackRRWithHeader(h, wire, 0)
		if err != nil {
			return
		}
		sets, err := FromRRs([]dns.RR{r})
		if err != nil {
			t.Fatalf("what miekg/dns reads is not read: %v", err)
		}
		if len(sets) != 1 || len(sets[0].Data) != 1 {
			t.Fatalf("one record became %v", sets)
		}
		rrs, err := sets[0].RRs()
		if err != nil {
			return // what miekg/dns read and does not write
		}
		if again, err := FromRRs(rrs); err != nil || !again[0].Equal(sets[0]) {
			t.Errorf("%v became %v, %v", sets, again, err)
		}
	})
}

func FuzzParseType(f *testing.F) {
	for _, s := range []string{"A", "aaaa", "TYPE1", "type65535", "TYPE65536", "ANY", "SPF", "WKS", "", "TYPE", "TYPE-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		typ, err := ParseType(s)
		if err != nil {
			return
		}
		if again, err := ParseType(typ.String()); err != nil || again != typ {
			t.Errorf("%q is %s, which is %s (%v)", s, typ, again, err)
		}
	})
}

func FuzzParseSOA(f *testing.F) {
	f.Add("ns.example.org. hostmaster.example.org. 1 2 3 4 5")
	f.Add(`a\.b. \032. 1d 2h 3m 4 5s 6`)
	f.Fuzz(func(t *testing.T, s string) {
		soa, err := ParseSOA(s)
		if err != nil {
			return
		}
		if again, err := ParseSOA(soa.Data()); err != nil || again != soa {
			t.Errorf("%q is %v, which is %v (%v)", s, soa, again, err)
		}
		set := NewSet(Key{dnsname.Root, TypeSOA}, 0, soa.Data())
		if back, err := throughMessage(set); err != nil || !back[0].Equal(set) {
			t.Errorf("%v comes back as %v, %v", set, back, err)
		}
	})
}
