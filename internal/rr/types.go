// Package rr decides what a record is: which types there are and who may write
// them, which rdata is valid, which rdata is the same, and what a set of
// records is.
package rr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// A Type is a record type by its number (RFC 6895 §3.1).
type Type uint16

// The types that the Record schema lists.
const (
	TypeA          = Type(dns.TypeA)
	TypeAAAA       = Type(dns.TypeAAAA)
	TypeAFSDB      = Type(dns.TypeAFSDB)
	TypeAPL        = Type(dns.TypeAPL)
	TypeCAA        = Type(dns.TypeCAA)
	TypeCDNSKEY    = Type(dns.TypeCDNSKEY)
	TypeCDS        = Type(dns.TypeCDS)
	TypeCERT       = Type(dns.TypeCERT)
	TypeCNAME      = Type(dns.TypeCNAME)
	TypeCSYNC      = Type(dns.TypeCSYNC)
	TypeDHCID      = Type(dns.TypeDHCID)
	TypeDLV        = Type(dns.TypeDLV)
	TypeDNAME      = Type(dns.TypeDNAME)
	TypeDNSKEY     = Type(dns.TypeDNSKEY)
	TypeDS         = Type(dns.TypeDS)
	TypeEUI48      = Type(dns.TypeEUI48)
	TypeEUI64      = Type(dns.TypeEUI64)
	TypeHINFO      = Type(dns.TypeHINFO)
	TypeHIP        = Type(dns.TypeHIP)
	TypeHTTPS      = Type(dns.TypeHTTPS)
	TypeIPSECKEY   = Type(dns.TypeIPSECKEY)
	TypeKEY        = Type(dns.TypeKEY)
	TypeKX         = Type(dns.TypeKX)
	TypeLOC        = Type(dns.TypeLOC)
	TypeMX         = Type(dns.TypeMX)
	TypeNAPTR      = Type(dns.TypeNAPTR)
	TypeNS         = Type(dns.TypeNS)
	TypeNSEC       = Type(dns.TypeNSEC)
	TypeNSEC3      = Type(dns.TypeNSEC3)
	TypeNSEC3PARAM = Type(dns.TypeNSEC3PARAM)
	TypeOPENPGPKEY = Type(dns.TypeOPENPGPKEY)
	TypePTR        = Type(dns.TypePTR)
	TypeRRSIG      = Type(dns.TypeRRSIG)
	TypeRP         = Type(dns.TypeRP)
	TypeSIG        = Type(dns.TypeSIG)
	TypeSMIMEA     = Type(dns.TypeSMIMEA)
	TypeSOA        = Type(dns.TypeSOA)
	TypeSRV        = Type(dns.TypeSRV)
	TypeSSHFP      = Type(dns.TypeSSHFP)
	TypeSVCB       = Type(dns.TypeSVCB)
	TypeTA         = Type(dns.TypeTA)
	TypeTKEY       = Type(dns.TypeTKEY)
	TypeTLSA       = Type(dns.TypeTLSA)
	TypeTSIG       = Type(dns.TypeTSIG)
	TypeTXT        = Type(dns.TypeTXT)
	TypeURI        = Type(dns.TypeURI)
	TypeZONEMD     = Type(dns.TypeZONEMD)
)

// Why nobody may write a type: clauses that follow its name and a colon.
const (
	ownSOA    = "zonefold makes the zone's SOA from the Zone's spec"
	meta      = "it is a query or meta type, which has a place in messages and none in a zone"
	signature = "the server that signs the zone makes it"
	unwritten = "master files cannot hold it (RFC 1035 §3.3.10)"
	reserved  = "the number is reserved"
)

// A row says everything about one record type.
type row struct {
	typ     Type
	name    string // mnemonic
	refused string // why people may not write it; "" if they may
	rules   rule
}

// rule says what may stand beside a record.
type rule uint8

const (
	one   rule = 1 << iota // at most one record of the type at a name
	alone                  // no record of another type at its name
)

// rows is every type that the Record schema lists, in its order. A new type is
// a row here and its examples in testdata/types.txt.
var rows = [...]row{
	{TypeA, "A", "", 0},
	{TypeAAAA, "AAAA", "", 0},
	{TypeAFSDB, "AFSDB", "", 0},
	{TypeAPL, "APL", "", 0},
	{TypeCAA, "CAA", "", 0},
	{TypeCDNSKEY, "CDNSKEY", "", 0},
	{TypeCDS, "CDS", "", 0},
	{TypeCERT, "CERT", "", 0},
	{TypeCNAME, "CNAME", "", one | alone},
	{TypeCSYNC, "CSYNC", "", 0},
	{TypeDHCID, "DHCID", "", 0},
	{TypeDLV, "DLV", "", 0},
	{TypeDNAME, "DNAME", "", one},
	{TypeDNSKEY, "DNSKEY", "", 0},
	{TypeDS, "DS", "", 0},
	{TypeEUI48, "EUI48", "", 0},
	{TypeEUI64, "EUI64", "", 0},
	{TypeHINFO, "HINFO", "", 0},
	{TypeHIP, "HIP", "", 0},
	{TypeHTTPS, "HTTPS", "", 0},
	{TypeIPSECKEY, "IPSECKEY", "", 0},
	{TypeKEY, "KEY", "", 0},
	{TypeKX, "KX", "", 0},
	{TypeLOC, "LOC", "", 0},
	{TypeMX, "MX", "", 0},
	{TypeNAPTR, "NAPTR", "", 0},
	{TypeNS, "NS", "", 0},
	{TypeNSEC, "NSEC", signature, one},
	{TypeNSEC3, "NSEC3", signature, 0},
	{TypeNSEC3PARAM, "NSEC3PARAM", signature, 0},
	{TypeOPENPGPKEY, "OPENPGPKEY", "", 0},
	{TypePTR, "PTR", "", 0},
	{TypeRRSIG, "RRSIG", signature, 0},
	{TypeRP, "RP", "", 0},
	{TypeSIG, "SIG", signature, 0},
	{TypeSMIMEA, "SMIMEA", "", 0},
	{TypeSOA, "SOA", ownSOA, one},
	{TypeSRV, "SRV", "", 0},
	{TypeSSHFP, "SSHFP", "", 0},
	{TypeSVCB, "SVCB", "", 0},
	{TypeTA, "TA", "", 0},
	{TypeTKEY, "TKEY", meta, 0},
	{TypeTLSA, "TLSA", "", 0},
	{TypeTSIG, "TSIG", meta, 0},
	{TypeTXT, "TXT", "", 0},
	{TypeURI, "URI", "", 0},
	{TypeZONEMD, "ZONEMD", "", 0},
}

// byType and byName find rows.
var byType, byName = func() (map[Type]*row, map[string]*row) {
	types, names := make(map[Type]*row, len(rows)), make(map[string]*row, len(rows))
	for i := range rows {
		types[rows[i].typ], names[rows[i].name] = &rows[i], &rows[i]
	}
	return types, names
}()

// Types returns the types of the Record schema, in its order.
func Types() []Type {
	types := make([]Type, len(rows))
	for i := range rows {
		types[i] = rows[i].typ
	}
	return types
}

// ParseType reads a mnemonic of the Record schema or TYPEnnn (RFC 3597 §5), in
// any case. TYPE1 is A. A type that may not be written is read all the same;
// see Refused.
func ParseType(s string) (Type, error) {
	name := strings.ToUpper(s)
	if r := byName[name]; r != nil {
		return r.typ, nil
	}
	if digits, ok := strings.CutPrefix(name, "TYPE"); ok {
		if v, err := strconv.ParseUint(digits, 10, 16); err == nil {
			return Type(v), nil
		}
	}
	if v, ok := dns.StringToType[name]; ok && !strings.HasPrefix(name, "TYPE") {
		return 0, fmt.Errorf(`the record type %q is not supported by name: write TYPE%d, with the data as "\# length hex"`, s, v)
	}
	return 0, fmt.Errorf("%.40q is not a record type: write its name, or TYPE and its number", s)
}

// String returns the mnemonic, or TYPEnnn.
func (t Type) String() string {
	if r := byType[t]; r != nil {
		return r.name
	}
	return "TYPE" + strconv.Itoa(int(t))
}

// Refused returns why people may not write records of the type, as a clause;
// "" if they may.
func (t Type) Refused() string {
	if r := byType[t]; r != nil {
		return r.refused
	}
	switch {
	case t == 0 || t == 65535:
		return reserved
	case t == Type(dns.TypeNULL):
		return unwritten
	case t == Type(dns.TypeNXT):
		return signature
	case t == Type(dns.TypeOPT), t >= 128 && t <= 255: // RFC 6895 §3.1
		return meta
	}
	return ""
}

// Singleton reports whether a name has at most one record of the type: CNAME
// (RFC 2181 §10.1), DNAME (RFC 6672 §2.4), SOA, NSEC.
func (t Type) Singleton() bool { return t.has(one) }

// Exclusive reports whether no other type may be at a name that has this one,
// signatures and denials of existence excepted: CNAME (RFC 1034 §3.6.2).
func (t Type) Exclusive() bool { return t.has(alone) }

func (t Type) has(r rule) bool {
	row := byType[t]
	return row != nil && row.rules&r != 0
}
