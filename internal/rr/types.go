// Package rr decides what a record is: which types there are and who may write
// them, which rdata is valid, which rdata is the same, and what a set of
// records is.
//
// All that is special about a type is its row in the table of this file. Its
// fields say how rdata is read from text into wire format and printed from
// there: the canonical text of rdata depends on its octets alone, so equal data
// are equal text, whether a person wrote them or a server sent them.
//
// miekg/dns makes and reads messages ([Set.RRs], [FromRRs]). It does not judge
// what people write: its text parser joins, splits and overlooks too much.
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
	meta      = "it is a query or meta type, which occurs only in messages and not in a zone"
	signature = "the server that signs the zone makes it"
	unwritten = "master files cannot contain it (RFC 1035 §3.3.10)"
	reserved  = "the number is reserved"
)

// A row says everything about one record type.
type row struct {
	typ     Type
	name    string // mnemonic
	refused string // why people may not write it; "" if they may
	rules   rule
	fields  []field // its rdata; nil if it has only the form of RFC 3597
}

// rule is what is special about a type.
type rule uint8

const (
	one    rule = 1 << iota // at most one record of the type at a name
	alone                   // no record of another type at its name
	target                  // its last word is a name that wants addresses
	empty                   // rdata of no octets is valid
	raw                     // ends in octets that miekg/dns unescapes when it packs them
)

// The formats that several types have.
var (
	publicKey        = []field{{u16, "flags"}, {u8, "protocol"}, {algorithm{}, "algorithm"}, {base64Rest, "public key"}}
	delegationSigner = []field{{u16, "key tag"}, {algorithm{}, "algorithm"}, {u8, "digest type"}, {dsDigest, "digest"}}
	serviceBinding   = []field{{u16, "priority"}, {domain{}, "target"}, {svcParams{}, "parameters"}}
	certAssociation  = []field{{u8, "usage"}, {u8, "selector"}, {u8, "matching type"}, {hexRest, "certificate data"}}
	signatureData    = []field{
		{covered{}, "type covered"}, {algorithm{}, "algorithm"}, {u8, "labels"}, {u32, "original TTL"},
		{moment{}, "expiration"}, {moment{}, "inception"}, {u16, "key tag"}, {domain{}, "signer"}, {base64Rest, "signature"},
	}
)

// rows is every type that the Record schema lists, in its order. A new type is
// a row here and its examples in testdata/types.txt.
var rows = [...]row{
	{TypeA, "A", "", 0, []field{{ipv4, "address"}}},
	{TypeAAAA, "AAAA", "", 0, []field{{ipv6, "address"}}},
	{TypeAFSDB, "AFSDB", "", 0, []field{{u16, "subtype"}, {domain{}, "host"}}},
	{TypeAPL, "APL", "", empty, []field{{prefixes{}, "prefix"}}},
	{TypeCAA, "CAA", "", raw, []field{{u8, "flags"}, {caaTag{}, "tag"}, {octets{optional: true}, "value"}}},
	{TypeCDNSKEY, "CDNSKEY", "", 0, publicKey},
	{TypeCDS, "CDS", "", 0, delegationSigner},
	{TypeCERT, "CERT", "", 0, []field{{certType{}, "certificate type"}, {u16, "key tag"}, {algorithm{}, "algorithm"},
		{base64Rest, "certificate"}}},
	{TypeCNAME, "CNAME", "", one | alone, []field{{domain{}, "target"}}},
	{TypeCSYNC, "CSYNC", "", 0, []field{{u32, "serial"}, {u16, "flags"}, {bitmap{optional: true}, "list of types"}}},
	{TypeDHCID, "DHCID", "", 0, []field{{base64Rest, "digest"}}},
	{TypeDLV, "DLV", "", 0, delegationSigner},
	{TypeDNAME, "DNAME", "", one, []field{{domain{}, "target"}}},
	{TypeDNSKEY, "DNSKEY", "", 0, publicKey},
	{TypeDS, "DS", "", 0, delegationSigner},
	{TypeEUI48, "EUI48", "", 0, []field{{eui(6), "address"}}},
	{TypeEUI64, "EUI64", "", 0, []field{{eui(8), "address"}}},
	{TypeHINFO, "HINFO", "", 0, []field{{oneString, "CPU"}, {oneString, "operating system"}}},
	{TypeHIP, "HIP", "", 0, []field{{hostIdentity{}, "host identity"}, {domains{}, "rendezvous server"}}},
	{TypeHTTPS, "HTTPS", "", 0, serviceBinding},
	{TypeIPSECKEY, "IPSECKEY", "", 0, []field{{u8, "precedence"}, {gateway{}, "gateway"}, {gatewayKey{}, "public key"}}},
	{TypeKEY, "KEY", "", 0, []field{{u16, "flags"}, {u8, "protocol"}, {algorithm{}, "algorithm"},
		{keyData{}, "public key"}}},
	{TypeKX, "KX", "", 0, []field{{u16, "preference"}, {domain{}, "exchanger"}}},
	{TypeLOC, "LOC", "", 0, []field{{location{}, "location"}}},
	{TypeMX, "MX", "", target, []field{{u16, "preference"}, {domain{}, "exchange"}}},
	{TypeNAPTR, "NAPTR", "", 0, []field{{u16, "order"}, {u16, "preference"}, {oneString, "flags"}, {oneString, "service"},
		{substitution{}, "regular expression"}, {domain{}, "replacement"}}},
	{TypeNS, "NS", "", target, []field{{domain{}, "name server"}}},
	{TypeNSEC, "NSEC", signature, one, []field{{domain{}, "next name"}, {bitmap{}, "list of types"}}},
	{TypeNSEC3, "NSEC3", signature, 0, []field{{u8, "hash algorithm"}, {u8, "flags"}, {u16, "iterations"},
		{salt{}, "salt"}, {nextHash{}, "next hash"}, {bitmap{optional: true}, "list of types"}}},
	{TypeNSEC3PARAM, "NSEC3PARAM", signature, 0, []field{{u8, "hash algorithm"}, {u8, "flags"}, {u16, "iterations"},
		{salt{}, "salt"}}},
	{TypeOPENPGPKEY, "OPENPGPKEY", "", 0, []field{{base64Rest, "public key"}}},
	{TypePTR, "PTR", "", 0, []field{{domain{}, "target"}}},
	{TypeRRSIG, "RRSIG", signature, 0, signatureData},
	{TypeRP, "RP", "", 0, []field{{domain{}, "mailbox"}, {domain{}, "text name"}}},
	{TypeSIG, "SIG", signature, 0, signatureData},
	{TypeSMIMEA, "SMIMEA", "", 0, certAssociation},
	{TypeSOA, "SOA", ownSOA, one, []field{{domain{}, "mname"}, {domain{}, "rname"}, {u32, "serial"}, {period{}, "refresh"},
		{period{}, "retry"}, {period{}, "expire"}, {period{}, "minimum"}}},
	{TypeSRV, "SRV", "", target, []field{{u16, "priority"}, {u16, "weight"}, {u16, "port"}, {domain{}, "target"}}},
	{TypeSSHFP, "SSHFP", "", 0, []field{{u8, "algorithm"}, {u8, "fingerprint type"}, {sshfpDigest, "fingerprint"}}},
	{TypeSVCB, "SVCB", "", 0, serviceBinding},
	{TypeTA, "TA", "", 0, delegationSigner},
	{TypeTKEY, "TKEY", meta, 0, nil},
	{TypeTLSA, "TLSA", "", 0, certAssociation},
	{TypeTSIG, "TSIG", meta, 0, nil},
	{TypeTXT, "TXT", "", 0, []field{{allStrings, "text"}}},
	{TypeURI, "URI", "", raw, []field{{u16, "priority"}, {u16, "weight"}, {octets{}, "target"}}},
	{TypeZONEMD, "ZONEMD", "", 0, []field{{u32, "serial"}, {u8, "scheme"}, {u8, "hash algorithm"},
		{zoneDigest, "digest"}}},
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
	if t, ok := foreignType(name); ok {
		if why := t.Refused(); why != "" {
			return 0, fmt.Errorf("the record type %s cannot be written: %s", shorten(s), why)
		}
		return 0, fmt.Errorf(`the record type %s is not supported by name: write TYPE%d, with the data as "\# length hex"`,
			shorten(s), t)
	}
	return 0, fmt.Errorf("%s is not a record type: write its name, or TYPE and its number", shorten(s))
}

// foreignNames is the types that have a mnemonic, but neither a row nor a place
// in miekg/dns.
var foreignNames = map[string]Type{
	"WKS": 11, "NSAP": 22, "A6": 38, "SINK": 40, "DSYNC": 66, "HHIT": 67, "BRID": 68,
	"UNSPEC": 103, "DOA": 259, "WALLET": 262, "CLA": 263, "IPN": 264,
}

// foreignType returns the type of a mnemonic that may have no row.
func foreignType(name string) (Type, bool) {
	if v, ok := dns.StringToType[name]; ok {
		return Type(v), true
	}
	t, ok := foreignNames[name]
	return t, ok
}

// String returns the mnemonic, or TYPEnnn.
func (t Type) String() string {
	if r := byType[t]; r != nil {
		return r.name
	}
	return "TYPE" + strconv.Itoa(int(t))
}

// One returns the mnemonic after its article, as it is said aloud: "an A", "a CNAME".
func (t Type) One() string {
	name := t.String()
	switch name {
	case "LOC", "NAPTR", "SOA": // which are said as words
		return "a " + name
	}
	if strings.ContainsRune("AEFHILMNORSX", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
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
