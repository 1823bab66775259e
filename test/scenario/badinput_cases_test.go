package scenario

import "strings"

// badRecords and badZones are refused by the schema, with words that say what to do.
var badRecords = []wrong{
	{`{domainName: www, type: A, rdata: 192.0.2.1}`, "", []string{"domainName is relative, so zoneRef must name the Zone",
		"end it with a dot"}},
	{`{domainName: "www.example.org\\.", type: A, rdata: 192.0.2.1}`, "", []string{"domainName is relative"}},
	{`{domainName: "", type: A, rdata: 192.0.2.1}`, "", []string{"spec.domainName", "should be at least 1 chars long"}},
	{`{domainName: ` + strings.Repeat("a.", 600) + `, type: A, rdata: 192.0.2.1}`, "", []string{"spec.domainName",
		"may not be more than 1024"}},
	{`{domainName: www.example.org., type: A}`, "", []string{"spec.rdata", "Required value"}},
	{`{domainName: www.example.org., type: A, rdata: ""}`, "", []string{"spec.rdata", "should be at least 1 chars long"}},
	{`{domainName: www.example.org., rdata: 192.0.2.1}`, "", []string{"spec.type", "Required value"}},
	{`{domainName: www.example.org., type: a, rdata: 192.0.2.1}`, "", []string{"spec.type", "AAAA"}},
	{`{domainName: www.example.org., type: NONSENSE, rdata: x}`, "", []string{"spec.type", "AAAA"}},
	{`{domainName: www.example.org., type: ANY, rdata: x}`, "", []string{"spec.type"}},
	{`{domainName: www.example.org., type: A, class: XX, rdata: 192.0.2.1}`, "",
		[]string{"spec.class", `supported values: "IN", "CH", "HS"`}},
	{`{domainName: www.example.org., type: A, ttl: -1, rdata: 192.0.2.1}`, "", []string{"spec.ttl",
		"greater than or equal to 0"}},
	{`{domainName: www.example.org., type: A, ttl: 2147483648, rdata: 192.0.2.1}`, "", []string{"spec.ttl",
		"less than or equal to 2147483647"}},
	{`{domainName: www.example.org., type: A, ttl: "60", rdata: 192.0.2.1}`, "", []string{"spec.ttl",
		"must be of type integer"}},
	{`{domainName: www, zoneRef: {namespace: ~a}, type: A, rdata: 192.0.2.1}`, "", []string{"spec.zoneRef.name",
		"Required value"}},
}

var badZones = []wrong{
	{`{domainName: dev}`, "", []string{"domainName is relative, so zoneRef must name the parent Zone",
		"end it with a dot"}},
	{`{domainName: dev.example.org., zoneRef: {name: org}}`, "", []string{
		"domainName is fully qualified, so zoneRef must be absent", "remove the trailing dot"}},
	{`{domainName: dev.example.org., refresh: 7200}`, "", []string{
		"retry (default 7200) must be less than refresh (default 86400)"}},
	{`{domainName: dev.example.org., refresh: 0, retry: 0}`, "",
		[]string{"retry (default 7200) must be less than refresh"}},
	{`{domainName: dev.example.org., expire: 93600}`, "", []string{
		"expire (default 3600000) must be greater than refresh (default 86400) and retry (default 7200) together"}},
	{`{domainName: dev.example.org., refresh: 2147483647, retry: 2147483646, expire: 2147483647}`, "", []string{
		"expire (default 3600000) must be greater"}},
	{`{domainName: dev.example.org., ttl: -1}`, "", []string{"spec.ttl", "greater than or equal to 0"}},
	{`{domainName: dev.example.org., negativeResponseCache: 4294967295}`, "", []string{"spec.negativeResponseCache",
		"less than or equal to 2147483647"}},
	{`{domainName: dev.example.org., expire: 4294967296}`, "", []string{"spec.expire", "less than or equal to"}},
	{`{domainName: dev.example.org., mname: ns1}`, "", []string{"mname must be fully qualified: end it with a dot"}},
	{`{domainName: dev.example.org., rname: admin@example.org}`, "", []string{
		"rname must be fully qualified: end it with a dot, and write a dot instead of the @"}},
	{`{domainName: dev.example.org., delegations: [{namespace: ""}]}`, "", []string{"spec.delegations[0].namespace",
		"should be at least 1 chars long"}},
	{`{domainName: dev.example.org., delegations: [{records: [{types: [A]}]}]}`, "", []string{
		"spec.delegations[0].records[0].pattern", "Required value"}},
	{`{domainName: dev.example.org., delegations: [{records: [{pattern: x, types: [BOGUS]}]}]}`, "", []string{
		"spec.delegations[0].records[0].types[0]"}},
	{`{domainName: dev.example.org., delegations: [{zones: "*"}]}`, "", []string{"spec.delegations[0].zones",
		"must be of type array"}},
	{`{domainName: dev.example.org., backendRefs: [{name: b}, {name: b}]}`, "", []string{"spec.backendRefs[1]",
		"Duplicate value"}},
}

// oddRecords, oddZones and oddRules are what only the operator can see.
var oddRecords = []wrong{
	{`{domainName: -bad.example.org., type: A, rdata: 192.0.2.1}`, "InvalidName", []string{"hyphen"}},
	{`{domainName: bad-.example.org., type: A, rdata: 192.0.2.1}`, "InvalidName", []string{"hyphen"}},
	{`{domainName: a..example.org., type: A, rdata: 192.0.2.1}`, "InvalidName", []string{"empty label"}},
	{`{domainName: ` + strings.Repeat("a", 64) + `.example.org., type: A, rdata: 192.0.2.1}`, "InvalidName",
		[]string{"63"}},
	{`{domainName: ` + strings.Repeat("a.", 130) + `example.org., type: A, rdata: 192.0.2.1}`, "InvalidName", []string{
		"255"}},
	{`{domainName: "a b.example.org.", type: A, rdata: 192.0.2.1}`, "InvalidName", []string{`\032`}},
	{`{domainName: "a\nb.example.org.", type: A, rdata: 192.0.2.1}`, "InvalidName", []string{`\010`}},
	{`{domainName: "a\0b.example.org.", type: A, rdata: 192.0.2.1}`, "InvalidName", []string{`\000`}},
	{`{domainName: "a;b.example.org.", type: A, rdata: 192.0.2.1}`, "InvalidName", []string{`;`}},
	{`{domainName: "a\\300.example.org.", type: A, rdata: 192.0.2.1}`, "InvalidName", []string{`\300`}},
	{`{domainName: x.*.example.org., type: A, rdata: 192.0.2.1}`, "InvalidName", []string{`*`}},
	{`{domainName: "@.example.org.", type: A, rdata: 192.0.2.1}`, "InvalidName", []string{`@`}},
	{`{domainName: "\u202e.example.org.", type: A, rdata: 192.0.2.1}`, "InvalidName", nil},
	{`{domainName: www, zoneRef: {name: nowhere}, type: A, rdata: 192.0.2.1}`, "ReferenceNotFound", []string{
		"Zone ~a/nowhere"}},
	{`{domainName: www.example.net., zoneRef: {name: org}, type: A, rdata: 192.0.2.1}`, "OutOfZone", []string{
		"www.example.net.", "Zone ~a/org"}},
	{`{domainName: www.example.net., type: A, rdata: 192.0.2.1}`, "NoZone", []string{"www.example.net."}},

	{`{domainName: x.example.org., type: SOA, rdata: ns. host. 1 2 3 4 5}`, "InvalidType", []string{"SOA"}},
	{`{domainName: x.example.org., type: TYPE6, rdata: '\# 0'}`, "InvalidType", []string{"SOA"}},
	{`{domainName: x.example.org., type: RRSIG, rdata: x}`, "InvalidType", []string{"RRSIG"}},
	{`{domainName: x.example.org., type: TKEY, rdata: x}`, "InvalidType", []string{"TKEY"}},
	{`{domainName: x.example.org., type: TYPE0, rdata: '\# 0'}`, "InvalidType", []string{"TYPE0"}},
	{`{domainName: x.example.org., type: TYPE255, rdata: '\# 0'}`, "InvalidType", []string{"255"}},
	{`{domainName: x.example.org., type: TYPE65535, rdata: '\# 0'}`, "InvalidType", []string{"TYPE65535"}},
	{`{domainName: x.example.org., type: TYPE70000, rdata: '\# 0'}`, "InvalidType", []string{"TYPE70000"}},
	{`{domainName: x.example.org., type: TXT, class: CH, rdata: x}`, "ClassMismatch", []string{"CH", "IN"}},
	{`{domainName: x.example.org., type: TXT, class: HS, rdata: x}`, "ClassMismatch", []string{"HS", "IN"}},

	{`{domainName: x.example.org., type: A, rdata: 192.0.2.256}`, "InvalidData", []string{"192.0.2.256"}},
	{`{domainName: x.example.org., type: A, rdata: "192.0.2.1 192.0.2.2"}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: A, rdata: "192.0.2.1; rm"}`, "InvalidData", []string{";"}},
	{`{domainName: x.example.org., type: A, rdata: "192.0.2.1\nevil.example.org. A 192.0.2.66"}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: A, rdata: "( 192.0.2.1 )"}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: TXT, rdata: "$INCLUDE /etc/passwd"}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: AAAA, rdata: "2001:db8::g"}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: AAAA, rdata: 192.0.2.1}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: CNAME, rdata: www}`, "InvalidData", []string{"www"}},
	{`{domainName: x.example.org., type: NS, rdata: ns..example.org.}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: MX, rdata: mail.example.org.}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: MX, rdata: 70000 mail.example.org.}`, "InvalidData", []string{"70000"}},
	{`{domainName: x.example.org., type: SRV, rdata: 0 0 host.example.org.}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: TXT, rdata: '"open'}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: TXT, rdata: ` + strings.Repeat("x", 256) + `}`, "InvalidData", []string{"255"}},
	{`{domainName: x.example.org., type: CAA, rdata: 256 issue ca.example.net}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: DS, rdata: 1 8 2 XYZ}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: TLSA, rdata: 3 1}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: SSHFP, rdata: 1 1 0}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: HTTPS, rdata: '1 . alpn'}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: LOC, rdata: 91 0 0 N 0 0 0 E 0}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: TYPE65280, rdata: abc}`, "InvalidData", []string{`\#`}},
	{`{domainName: x.example.org., type: TYPE65280, rdata: '\# 4 0102'}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: TYPE1, rdata: '\# 3 010203'}`, "InvalidData", nil},
	{`{domainName: x.example.org., type: TXT, rdata: ` + strings.Repeat("x", 70000) + `}`, "InvalidData", nil},
	{`{domainName: example.org., type: CNAME, rdata: www.example.net.}`, "Conflict", []string{"apex"}},
}

var oddZones = []wrong{
	{`{domainName: -x.example.org.}`, "InvalidName", []string{"hyphen"}},
	{`{domainName: "*.example.org."}`, "InvalidName", []string{"wildcard"}},
	{`{domainName: x..example.org.}`, "InvalidName", []string{"empty label"}},
	{`{domainName: "@", zoneRef: {name: org}}`, "InvalidName", []string{"Zone ~a/org"}},
	{`{domainName: "x.@", zoneRef: {name: org}}`, "InvalidName", []string{"@"}},
	{`{domainName: x.example.org., mname: a..b.}`, "InvalidSpec", []string{"mname"}},
	{`{domainName: x.example.org., rname: admin@example.org.}`, "InvalidSpec", []string{"rname", "@"}},
	{`{domainName: example.org.}`, "DuplicateZone", []string{"Zone ~a/org", "example.org."}},
	{`{domainName: example.ORG.}`, "DuplicateZone", []string{"Zone ~a/org"}},
	{`{domainName: x, zoneRef: {name: nowhere}}`, "ReferenceNotFound", []string{"Zone ~a/nowhere"}},
	{`{domainName: x, zoneRef: {name: nowhere, namespace: NoNamespace!}}`, "ReferenceNotFound", []string{"NoNamespace!"}},
	{`{domainName: x, zoneRef: {name: odd-0}}`, "ParentUnresolved", []string{"Zone ~a/odd-0"}},
	{`{domainName: x, zoneRef: {name: odd-12}}`, "ReferenceCycle", []string{"Zone ~a/odd-12"}},
	{`{domainName: x, zoneRef: {name: odd-14}}`, "ReferenceCycle", []string{"Zone ~a/odd-14"}},
	{`{domainName: x, zoneRef: {name: odd-13}}`, "ReferenceCycle", []string{"Zone ~a/odd-13"}},
	{`{domainName: x, zoneRef: {name: odd-16}}`, "ReferenceCycle", []string{"Zone ~a/odd-16"}},
	{`{domainName: x, zoneRef: {name: odd-17}}`, "ReferenceCycle", []string{"Zone ~a/odd-17"}},
	{`{domainName: x, zoneRef: {name: odd-15}}`, "ReferenceCycle", []string{"Zone ~a/odd-15"}},
	{`{domainName: "y", zoneRef: {name: odd-17}}`, "ParentUnresolved", []string{"Zone ~a/odd-17"}},
	{`{domainName: "y", zoneRef: {name: odd-7}}`, "ParentNotAccepted", []string{"Zone ~a/odd-7"}},
	{`{domainName: ` + strings.Repeat("a.", 130) + `x, zoneRef: {name: org}}`, "InvalidName", []string{"255"}},
}

var oddRules = []wrong{
	{`{namespce: ~a, records: [{pattern: "*"}]}`, "", []string{`the field "namespce" is unknown`,
		"namespace, namespaces, zones, records"}},
	{`{records: [{pattern: "*", typs: [A]}]}`, "", []string{`records[0]`, `the field "typs" is unknown`}},
	{`{records: [{pattern: "*am*"}, {pattern: "*"}]}`, "", []string{"*am*"}},
	{`{records: [{pattern: "@.x"}, {pattern: "*"}]}`, "", []string{"@.x"}},
	{`{records: [{pattern: "a..b"}, {pattern: "*"}]}`, "", []string{"a..b"}},
	{`{zones: ["-x*y*"], records: [{pattern: "*"}]}`, "", []string{"-x*y*"}},
	{`{records: [{pattern: "a b"}, {pattern: "*"}]}`, "", []string{"a b"}},
	{`{records: [{pattern: "*", types: [TYPE70000]}]}`, "", []string{"TYPE70000"}},
	{`{records: [{pattern: "` + strings.Repeat("a", 64) + `"}, {pattern: "*"}]}`, "", []string{"63"}},
}
