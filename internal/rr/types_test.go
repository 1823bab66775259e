package rr

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestTheTableHasTheTypesOfTheSchema(t *testing.T) {
	const schema = "A AAAA AFSDB APL CAA CDNSKEY CDS CERT CNAME CSYNC DHCID DLV DNAME DNSKEY DS EUI48 EUI64 HINFO HIP " +
		"HTTPS IPSECKEY KEY KX LOC MX NAPTR NS NSEC NSEC3 NSEC3PARAM OPENPGPKEY PTR RRSIG RP SIG SMIMEA SOA SRV SSHFP SVCB " +
		"TA TKEY TLSA TSIG TXT URI ZONEMD"
	var names []string
	for _, typ := range Types() {
		names = append(names, typ.String())
		if dns.TypeToString[uint16(typ)] != typ.String() {
			t.Errorf("%d is %s here and %s in miekg/dns", typ, typ, dns.TypeToString[uint16(typ)])
		}
	}
	if got := strings.Join(names, " "); got != schema {
		t.Errorf("got  %s\nwant %s", got, schema)
	}
}

func TestParseType(t *testing.T) {
	for _, c := range []struct {
		name, s string
		want    Type
		err     string
	}{
		{"a mnemonic", "A", TypeA, ""},
		{"a mnemonic in lower case", "aaaa", TypeAAAA, ""},
		{"a number of a known type is that type", "TYPE1", TypeA, ""},
		{"a number in lower case", "type65280", 65280, ""},
		{"a type that may not be written is read", "SOA", TypeSOA, ""},
		{"zero is read, and refused", "TYPE0", 0, ""},
		{"the last number", "TYPE65535", 65535, ""},
		{"a number that is too large", "TYPE65536", 0,
			`"TYPE65536" is not a record type: write its name, or TYPE and its number`},
		{"a number with a sign", "TYPE+1", 0, `"TYPE+1" is not a record type`},
		{"a word", "ADDRESS", 0, `"ADDRESS" is not a record type: write its name, or TYPE and its number`},
		{"nothing", "", 0, `"" is not a record type`},
		{"a long text is shortened", strings.Repeat("x", 1000), 0, "x…\" is not a record type"},
		{"a type that has only a number here", "SPF", 0,
			`the record type "SPF" is not supported by name: write TYPE99, with the data as "\# length hex"`},
		{"one that miekg/dns does not know either", "wks", 0, `the record type "wks" is not supported by name: write TYPE11`},
		{"a question that is no record", "ANY", 0, `the record type "ANY" cannot be written: it is a query or meta type`},
		{"an option that is no record", "OPT", 0, `the record type "OPT" cannot be written: it is a query or meta type`},
		{"what master files cannot hold", "NULL", 0, `the record type "NULL" cannot be written: master files cannot contain it`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseType(c.s)
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestEveryTypeIsReadAsItPrints(t *testing.T) {
	for v := range 1 << 16 {
		if got, err := ParseType(Type(v).String()); err != nil || got != Type(v) {
			t.Fatalf("%d prints %s and is read as %d, %v", v, Type(v), got, err)
		}
	}
}

func TestRefusedTypes(t *testing.T) {
	refused := map[string][]Type{
		"zonefold makes": {TypeSOA},
		"query or meta": {TypeTSIG, TypeTKEY, Type(dns.TypeOPT), Type(dns.TypeANY), Type(dns.TypeAXFR),
			Type(dns.TypeIXFR), Type(dns.TypeMAILA), Type(dns.TypeMAILB), 128, 200, 248},
		"server that signs":   {TypeRRSIG, TypeSIG, TypeNSEC, TypeNSEC3, TypeNSEC3PARAM, Type(dns.TypeNXT)},
		"number is reserved":  {0, 65535},
		"master files cannot": {Type(dns.TypeNULL)},
	}
	var all []Type
	for reason, types := range refused {
		for _, typ := range types {
			if !strings.Contains(typ.Refused(), reason) {
				t.Errorf("%s is refused as %q, want %q", typ, typ.Refused(), reason)
			}
		}
		all = append(all, types...)
	}
	for _, typ := range append(Types(), 99, 65280, 65534) {
		if !slices.Contains(all, typ) && typ.Refused() != "" {
			t.Errorf("%s is refused: %s", typ, typ.Refused())
		}
	}
}

func TestTypesHaveTheArticleThatTheyAreSaidWith(t *testing.T) {
	want := "an A, an AAAA, a CAA, a CNAME, a DS, an HTTPS, a LOC, an MX, a NAPTR, an NS, a PTR, an SRV, an SSHFP, a " +
		"TLSA, a TXT, a URI, a TYPE65280"
	var got []string
	for _, typ := range []Type{TypeA, TypeAAAA, TypeCAA, TypeCNAME, TypeDS, Type(dns.TypeHTTPS), Type(dns.TypeLOC), TypeMX,
		Type(dns.TypeNAPTR), TypeNS,
		Type(dns.TypePTR), TypeSRV, Type(dns.TypeSSHFP), Type(dns.TypeTLSA), TypeTXT, Type(dns.TypeURI), 65280} {
		got = append(got, typ.One())
	}
	if got := strings.Join(got, ", "); got != want {
		t.Errorf("they are %s\nwant %s", got, want)
	}
}

func TestWhatMayStandBesideWhat(t *testing.T) {
	for _, typ := range append(Types(), 65280) {
		single := slices.Contains([]Type{TypeCNAME, TypeDNAME, TypeSOA, TypeNSEC}, typ)
		if typ.Singleton() != single {
			t.Errorf("%s: Singleton is %v", typ, typ.Singleton())
		}
		if typ.Exclusive() != (typ == TypeCNAME) {
			t.Errorf("%s: Exclusive is %v", typ, typ.Exclusive())
		}
	}
}
