package rr

import (
	"encoding/hex"
	"strings"
	"testing"
)

// A vector is data in text and in wire format as an RFC or a well-known record
// has them. Spaces in the octets are for the reader.
type vector struct {
	name, typ, data, octets string
}

// The names of the vectors in wire format.
const (
	fooExampleCom = "03666f6f076578616d706c6503636f6d00"
	fooExampleOrg = "03666f6f076578616d706c65036f726700"
	exampleCom    = "076578616d706c6503636f6d00"
)

func vectors() []vector {
	return []vector{
		{"RFC 9460 D.1: an alias", "HTTPS", "0 foo.example.com.", "0000" + fooExampleCom},
		{"RFC 9460 D.2: the root as target", "SVCB", "1 .", "0001 00"},
		{"RFC 9460 D.2: a port", "SVCB", "16 foo.example.com. port=53", "0010" + fooExampleCom + "0003 0002 0035"},
		{"RFC 9460 D.2: a generic key", "SVCB", "1 foo.example.com. key667=hello", "0001" + fooExampleCom +
			"029b 0005 68656c6c6f"},
		{"RFC 9460 D.2: a generic key with a quoted value", "SVCB", `1 foo.example.com. key667="hello\210qoo"`,
			"0001" + fooExampleCom + "029b 0009 68656c6c6fd2716f6f"},
		{"RFC 9460 D.2: two addresses", "SVCB", `1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"`,
			"0001" + fooExampleCom + "0006 0020 20010db8000000000000000000000001 20010db8000000000000000000530001"},
		{"RFC 9460 D.2: an address with an IPv4 suffix", "SVCB", `1 example.com. ipv6hint="2001:db8:122:344::192.0.2.33"`,
			"0001" + exampleCom + "0006 0010 20010db8012203440000 0000c0000221"},
		{"RFC 9460 D.2: keys out of order", "SVCB",
			"16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1", "0010" + fooExampleOrg +
				"0000 0004 0001 0004  0001 0009 026832 0568332d3139  0004 0004 c0000201"},
		{"RFC 9460 D.2: an escaped list", "SVCB", `16 foo.example.org. alpn="f\\\\oo\\,bar,h2"`, "0010" + fooExampleOrg +
			"0001 000c 08665c6f6f2c626172 026832"},
		{"RFC 9460 D.2: the same list with other escapes", "SVCB", `16 foo.example.org. alpn=f\\\092oo\092,bar,h2`,
			"0010" + fooExampleOrg + "0001 000c 08665c6f6f2c626172 026832"},
		{"RFC 9461 4: a path", "SVCB", `1 example.com. alpn=h2 dohpath=/q{?dns}`, "0001" + exampleCom +
			"0001 0003 026832  0007 0008 2f717b3f646e737d"},
		{"RFC 9540 4: a key without a value", "HTTPS", "1 . alpn=h2 ohttp", "0001 00 0001 0003 026832  0008 0000"},

		{"RFC 1035 3.3.9: mail", "MX", "10 example.com.", "000a" + exampleCom},
		{"RFC 1035 3.3.13: authority", "SOA", "example.com. foo.example.com. 20 7200 600 3600000 60",
			exampleCom + fooExampleCom + "00000014 00001c20 00000258 0036ee80 0000003c"},
		{"RFC 1035 3.3.14: text", "TXT", `"ab" "" c`, "026162 00 0163"},
		{"RFC 1035 3.3.2: a host", "HINFO", `"VAX-11/780" "UNIX"`, "0a5641582d31312f373830 04554e4958"},
		{"RFC 1183 2.2: a person", "RP", "foo.example.com. .", fooExampleCom + "00"},
		{"RFC 2782: a service", "SRV", "0 5 5060 foo.example.com.", "0000 0005 13c4" + fooExampleCom},
		{"RFC 3596 2.2: an address", "AAAA", "4321:0:1:2:3:4:567:89ab", "432100000001000200030004056789ab"},

		{"RFC 1876 D: the default sizes", "LOC", "42 21 54 N 71 06 18 W -24m 30m", "00 33 16 13 89172dd0 70be15f0 00988d20"},
		{"RFC 1876 D: a size in full", "LOC", "42 21 43.952 N 71 5 6.344 W -24m 1m 200m",
			"00 12 24 13 89170690 70bf2dd8 00988d20"},
		{"RFC 1876 D: south and east", "LOC", "32 7 19 S 116 2 25 E 10m", "00 12 16 13 791b7d28 98e64868 00989a68"},

		{"RFC 3123 4.1: a prefix", "APL", "1:192.168.32.0/21 !1:192.168.38.0/28", "0001 15 03 c0a820  0001 1c 83 c0a826"},
		{"RFC 3123 4: all of a family", "APL", "1:224.0.0.0/4 2:FF00:0:0:0:0:0:0:0/8", "0001 04 01 e0  0002 08 01 ff"},
		{"RFC 3123: no address octets", "APL", "2:::/0", "0002 00 00"},

		{"RFC 4025 3.1: a gateway by address", "IPSECKEY", "10 1 2 192.0.2.38 AQID", "0a 01 02 c0000226 010203"},
		{"RFC 4025 3.1: no gateway", "IPSECKEY", "10 0 2 . AQID", "0a 00 02 010203"},
		{"RFC 4025 3.1: a gateway by name", "IPSECKEY", "10 3 2 foo.example.com. AQID", "0a 03 02" + fooExampleCom +
			"010203"},
		{"RFC 4025 3.1: a gateway by IPv6 address", "IPSECKEY", "10 2 2 2001:0DB8:0:8002::2000:1 AQID",
			"0a 02 02 20010db8000080020000000020000001 010203"},
		{"RFC 8005 5: an identity with a server", "HIP", "2 200100107B1A74DF365639CC39F1D578 AwEAAbdx foo.example.com.",
			"10 02 0006 200100107b1a74df365639cc39f1d578 03010001b771" + fooExampleCom},

		{"RFC 7043 3.2: six octets", "EUI48", "00-00-5e-00-53-2a", "00005e00532a"},
		{"RFC 7043 4.2: eight octets", "EUI64", "00-00-5e-ef-10-00-00-2a", "00005eef1000002a"},
		{"RFC 7553 4.5: a target", "URI", `10 1 "ftp://ftp1.example.com/public"`,
			"000a 0001 6674703a2f2f667470312e6578616d706c652e636f6d2f7075626c6963"},
		{"RFC 8659 4.1: an issuer", "CAA", `0 issue "ca1.example.net"`, "00 05 6973737565 6361312e6578616d706c652e6e6574"},
		{"RFC 4701 3.6.1: an identity", "DHCID", "AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=",
			"0002 01 636fc0b8271c82825bb1ac5c41cf5351aa69b4febd94e8f17cdb95000da48c40"},

		{"RFC 4034 4.3: types in two windows", "NSEC", "foo.example.com. A MX RRSIG NSEC TYPE1234", fooExampleCom +
			"0006 400100000003 041b 000000000000000000000000000000000000000000000000000020"},
		{"RFC 4034 5.4: a signer", "DS", "60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118",
			"ec45 05 01 2bb183af5f22588179a53b0a98631fad1a292118"},
		{"RFC 4255 3.2: a fingerprint", "SSHFP", "2 1 123456789abcdef67890123456789abcdef67890",
			"02 01 123456789abcdef67890123456789abcdef67890"},
		{"RFC 5155 4.3: no salt", "NSEC3PARAM", "1 0 12 -", "01 00 000c 00"},
		{"RFC 5155 3.3: a salt and a hash", "NSEC3", "1 1 12 aabbccdd 2t7b4g4vsa5smi47k61mv5bv1a22bojr A RRSIG",
			"01 01 000c 04 aabbccdd 14 174eb2409fe28bcb4887a1836f957f0a8425e27b 0006 400000000002"},
		{"RFC 7477 2.1: the three types", "CSYNC", "66 3 A NS AAAA", "00000042 0003 0004 60000008"},
		{"RFC 8078 4: nothing is signed any more", "CDS", "0 0 0 00", "0000 00 00 00"},
		{"RFC 8078 4: nor is there a key", "CDNSKEY", "0 3 0 AA==", "0000 03 00 00"},
		{"RFC 4398 2: a certificate", "CERT", "PGP 65535 RSASHA256 AQID", "0003 ffff 08 010203"},
		{"RFC 6698 2.2: an association", "TLSA", "3 1 2 92003ba34942dc74", "03 01 02 92003ba34942dc74"},
		{"RFC 3403 6.1: a substitution", "NAPTR", `100 10 "" "" "!^a(.*)$!\\1!i" .`,
			"0064 000a 00 00 0d 215e61282e2a29 24215c3121 69 00"},
		{"RFC 3597 5: an unknown type", "TYPE731", `\# 6 abcdef 01 23 45`, "abcdef012345"},
		{"RFC 3597 5: a known type in generic form", "A", `\# 4 0A000001`, "0a000001"},
	}
}

func TestDataHasTheOctetsOfTheRFCs(t *testing.T) {
	for _, v := range vectors() {
		t.Run(v.name, func(t *testing.T) {
			typ, err := ParseType(v.typ)
			if err != nil {
				t.Fatal(err)
			}
			c := newCodec(typ)
			if err := c.parse(v.data); err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(v.octets, " ", "")
			if got := hex.EncodeToString(c.wire); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			data, err := ParseData(typ, v.data)
			if err != nil {
				t.Fatal(err)
			}
			checkCanonical(t, typ, data)
		})
	}
}

func TestParametersThatRFC9460Refuses(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"a key twice", "1 foo.example.com. key123=abc key123=def", "the parameter key123 is given twice"},
		{"a list of keys that is missing", "1 foo.example.com. mandatory", "the parameter mandatory has a list in which"},
		{"a list of protocols that is missing", "1 foo.example.com. alpn",
			"the parameter alpn has an empty protocol in its list"},
		{"a port that is missing", "1 foo.example.com. port", "the parameter port has the value"},
		{"an IPv4 address that is missing", "1 foo.example.com. ipv4hint", "the parameter ipv4hint has the value"},
		{"an IPv6 address that is missing", "1 foo.example.com. ipv6hint", "the parameter ipv6hint has the value"},
		{"a value that may not be", "1 foo.example.com. no-default-alpn=abc",
			"the parameter no-default-alpn has a value, but may have none"},
		{"a mandatory key that is missing", "1 foo.example.com. mandatory=key123",
			"the parameter mandatory lists key123, which is not given"},
		{"a list of keys that has itself", "1 foo.example.com. mandatory=mandatory", "the parameter mandatory lists itself"},
		{"a mandatory key twice", "1 foo.example.com. mandatory=key123,key123 key123=abc",
			"the parameter mandatory lists itself, or a key twice"},
		{"an empty protocol", `1 foo.example.com. alpn="h2,,h3"`, "the parameter alpn has an empty protocol in its list"},
		{"a protocol that is too long", "1 foo.example.com. alpn=" + strings.Repeat("x", 256),
			"the parameter alpn has a protocol of more than 255 octets"},
		{"a value that fits no record", "1 foo.example.com. key9=" + strings.Repeat("x", 70_000),
			"the parameter key9 is too long"},
		{"values that together fit no record", "1 foo.example.com. key9=" + strings.Repeat("x", 40_000) + " key10=" +
			strings.Repeat("x", 40_000), "at most 65535 are allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseData(TypeSVCB, c.data)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestManyParametersAreReadInGoodTime(t *testing.T) {
	var data strings.Builder
	data.WriteString("1 .")
	for key := 16_000; key > 100; key-- {
		data.WriteString(" " + svcKey(key).String())
	}
	got, err := ParseData(TypeSVCB, data.String())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got, "1 . key101 key102 ") || !strings.HasSuffix(got, " key16000") {
		t.Errorf("got %.60s", got)
	}
}
