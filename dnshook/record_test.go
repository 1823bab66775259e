package dnshook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/dnshook"
)

func TestRecords(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		sentence, record string
		want             string // the canonical record and its data, or the code
	}{
		{"addresses",
			`{"type":"A","domain":"Example.COM.","subdomain":"WWW","values":["192.0.2.1","192.0.2.2","192.0.2.1"],"ttl":600}`,
			`{"type":"A","domain":"example.com","subdomain":"www","values":["192.0.2.1","192.0.2.2"],"ttl":600} 192.0.2.1|192.0.2.2`},
		{"an address of IPv6 in a long form",
			`{"type":"aaaa","domain":"example.com","subdomain":"@","values":["2001:DB8:0:0::1"]}`,
			`{"type":"AAAA","domain":"example.com","subdomain":"@","values":["2001:db8::1"],"ttl":300} 2001:db8::1`},
		{"an alias", `{"type":"CNAME","domain":"example.com","subdomain":"*.dev","values":["_x.Example.NET."],"ttl":1}`,
			`{"type":"CNAME","domain":"example.com","subdomain":"*.dev","values":["_x.example.net"],"ttl":1} _x.example.net.`},
		{"text with everything in it",
			`{"type":"TXT","domain":"example.com","subdomain":"_dmarc","values":["a \"b\" \\ ;c"]}`,
			`{"type":"TXT","domain":"example.com","subdomain":"_dmarc","values":["a \"b\" \\ ;c"],"ttl":300} "a \"b\" \\ ;c"`},
		{"long text", `{"type":"TXT","domain":"example.com","subdomain":"@","values":["` + long + `"]}`,
			`{"type":"TXT","domain":"example.com","subdomain":"@","values":["` + long + `"],"ttl":300} "` + long[:255] + `" "` +
				long[255:] + `"`},
		{"a mail server",
			`{"type":"MX","domain":"example.com","subdomain":"@","values":["mail.example.com"],"metadata":{"priority":10,"port":1}}`,
			`{"type":"MX","domain":"example.com","subdomain":"@","values":["mail.example.com"],"ttl":300,"metadata":{"priority":10}} 10 mail.example.com.`},
		{"no mail at all", `{"type":"MX","domain":"example.com","subdomain":"@","values":["."],"metadata":{"priority":0}}`,
			`{"type":"MX","domain":"example.com","subdomain":"@","values":["."],"ttl":300,"metadata":{"priority":0}} 0 .`},
		{"no mail at all, twice",
			`{"type":"MX","domain":"example.com","subdomain":"@","values":[".","."],"metadata":{"priority":0}}`,
			`{"type":"MX","domain":"example.com","subdomain":"@","values":["."],"ttl":300,"metadata":{"priority":0}} 0 .`},
		{"no mail at all beside a mail server",
			`{"type":"MX","domain":"example.com","subdomain":"@","values":[".","mail.example.com"],"metadata":{"priority":0}}`,
			"INVALID_VALUE"},
		{"a service",
			`{"type":"SRV","domain":"example.com","subdomain":"_sip._tcp","values":["sip.example.com."],"metadata":{"priority":1,"weight":2,"port":3}}`,
			`{"type":"SRV","domain":"example.com","subdomain":"_sip._tcp","values":["sip.example.com"],"ttl":300,"metadata":{"priority":1,"weight":2,"port":3}} 1 2 3 sip.example.com.`},
		{"who may certify", `{"type":"CAA","domain":"example.com","subdomain":"@","values":["0 issue \"ca.example\""]}`,
			`{"type":"CAA","domain":"example.com","subdomain":"@","values":["0 issue \"ca.example\""],"ttl":300} 0 issue "ca.example"`},
		{"a pointer", `{"type":"PTR","domain":"2.0.192.in-addr.arpa","subdomain":"1","values":["host.example.com"]}`,
			`{"type":"PTR","domain":"2.0.192.in-addr.arpa","subdomain":"1","values":["host.example.com"],"ttl":300} host.example.com.`},

		{"a type that there is not", `{"type":"SOA","domain":"example.com","subdomain":"@","values":["x"]}`,
			"INVALID_RECORD"},
		{"no type", `{"domain":"example.com","subdomain":"@","values":["x"]}`, "INVALID_RECORD"},
		{"no domain", `{"type":"A","subdomain":"@","values":["192.0.2.1"]}`, "INVALID_DOMAIN"},
		{"the root", `{"type":"A","domain":".","subdomain":"@","values":["192.0.2.1"]}`, "INVALID_DOMAIN"},
		{"no subdomain", `{"type":"A","domain":"example.com","values":["192.0.2.1"]}`, "INVALID_DOMAIN"},
		{"a star in the middle", `{"type":"A","domain":"example.com","subdomain":"a.*","values":["192.0.2.1"]}`,
			"INVALID_DOMAIN"},
		{"a star in a label", `{"type":"A","domain":"example.com","subdomain":"*a","values":["192.0.2.1"]}`,
			"INVALID_DOMAIN"},
		{"a star in the domain", `{"type":"A","domain":"*.example.com","subdomain":"@","values":["192.0.2.1"]}`,
			"INVALID_DOMAIN"},
		{"a way out of the path", `{"type":"A","domain":"example.com","subdomain":"../../x","values":["192.0.2.1"]}`,
			"INVALID_DOMAIN"},
		{"letters that DNS does not have", `{"type":"A","domain":"exämple.com","subdomain":"@","values":["192.0.2.1"]}`,
			"INVALID_DOMAIN"},
		{"a hyphen first", `{"type":"A","domain":"example.com","subdomain":"-a.b","values":["192.0.2.1"]}`, "INVALID_DOMAIN"},
		{"a hyphen last", `{"type":"TXT","domain":"example-.com","subdomain":"@","values":["x"]}`, "INVALID_DOMAIN"},
		{"a hyphen alone below a star", `{"type":"A","domain":"example.com","subdomain":"*.-","values":["192.0.2.1"]}`,
			"INVALID_DOMAIN"},
		{"hyphens inside", `{"type":"A","domain":"xn--bcher-kva.example","subdomain":"a--b","values":["192.0.2.1"]}`,
			`{"type":"A","domain":"xn--bcher-kva.example","subdomain":"a--b","values":["192.0.2.1"],"ttl":300} 192.0.2.1`},
		{"an address for a domain", `{"type":"A","domain":"192.0.2.1","subdomain":"@","values":["192.0.2.1"]}`,
			"INVALID_DOMAIN"},
		{"an address that the subdomain is part of",
			`{"type":"A","domain":"0.1","subdomain":"10.0","values":["192.0.2.1"]}`, "INVALID_DOMAIN"},
		{"a label that is too long", `{"type":"A","domain":"example.com","subdomain":"` + long[:64] +
			`","values":["192.0.2.1"]}`, "INVALID_DOMAIN"},
		{"a name that is too long", `{"type":"A","domain":"example.com","subdomain":"` + strings.Repeat("abcdefg.", 31) +
			`a","values":["192.0.2.1"]}`, "INVALID_DOMAIN"},
		{"no values", `{"type":"A","domain":"example.com","subdomain":"@","values":[]}`, "INVALID_VALUE"},
		{"an address that is none",
			`{"type":"A","domain":"example.com","subdomain":"@","values":["192.0.2.1","192.0.2.256"]}`, "INVALID_VALUE"},
		{"an address of the other kind", `{"type":"A","domain":"example.com","subdomain":"@","values":["2001:db8::1"]}`,
			"INVALID_VALUE"},
		{"two aliases", `{"type":"CNAME","domain":"example.com","subdomain":"x","values":["a.example","b.example"]}`,
			"INVALID_VALUE"},
		{"an alias of an address", `{"type":"CNAME","domain":"example.com","subdomain":"x","values":["192.0.2.1"]}`,
			"INVALID_VALUE"},
		{"a mail server that is an address",
			`{"type":"MX","domain":"example.com","subdomain":"x","values":["192.0.2.1."],"metadata":{"priority":1}}`,
			"INVALID_VALUE"},
		{"a name server with a hyphen first",
			`{"type":"NS","domain":"example.com","subdomain":"x","values":["-ns.example.net"]}`, "INVALID_VALUE"},
		{"part of an address in the subdomain",
			`{"type":"PTR","domain":"in-addr.arpa","subdomain":"1.2.0.192","values":["a.example"]}`,
			`{"type":"PTR","domain":"in-addr.arpa","subdomain":"1.2.0.192","values":["a.example"],"ttl":300} a.example.`},
		{"an alias of nothing", `{"type":"CNAME","domain":"example.com","subdomain":"x","values":["."]}`, "INVALID_VALUE"},
		{"an alias with a line feed",
			`{"type":"CNAME","domain":"example.com","subdomain":"x","values":["a.example\n x A 192.0.2.1"]}`, "INVALID_VALUE"},
		{"a mail server without its priority",
			`{"type":"MX","domain":"example.com","subdomain":"@","values":["mail.example.com"]}`, "INVALID_RECORD"},
		{"a service without its port",
			`{"type":"SRV","domain":"example.com","subdomain":"@","values":["x.example"],"metadata":{"priority":1,"weight":2}}`,
			"INVALID_RECORD"},
		{"a ttl that is too long",
			`{"type":"A","domain":"example.com","subdomain":"@","values":["192.0.2.1"],"ttl":2147483648}`, "INVALID_RECORD"},
		{"too many values", `{"type":"TXT","domain":"example.com","subdomain":"@","values":[""` +
			strings.Repeat(`,""`, 1000) + `]}`, "INVALID_VALUE"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			var r dnshook.Record
			if err := json.Unmarshal([]byte(c.record), &r); err != nil {
				t.Fatal(err)
			}
			got, err := r.Canonical()
			if err != nil {
				if string(dnshook.CodeOf(err)) != c.want {
					t.Errorf("it is refused: %v; want %s", err, c.want)
				}
				return
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			data, err := got.Data()
			if all := string(text) + " " + strings.Join(data, "|"); err != nil || all != c.want {
				t.Errorf("it is\n%s\nwant\n%s (%v)", all, c.want, err)
			}
			if again, err := got.Canonical(); err != nil || again.ID() != got.ID() ||
				strings.Join(again.Values, "|") != strings.Join(got.Values, "|") {
				t.Errorf("what is canonical becomes %+v, %v", again, err)
			}
		})
	}
}
