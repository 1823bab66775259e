package bindy

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// recordOf reads the spec of a record called dns/x.
func recordOf(t *testing.T, kind, spec string) dialect.Record {
	t.Helper()
	for _, o := range RecordKinds() {
		if reflect.TypeOf(o).Elem().Name() != kind {
			continue
		}
		if err := yaml.UnmarshalStrict([]byte("{metadata: {namespace: dns, name: x}, spec: "+spec+"}"), o); err != nil {
			t.Fatal(err)
		}
		r, _ := dialect.RecordOf(o)
		return r
	}
	t.Fatalf("there is no kind %s", kind)
	return dialect.Record{}
}

func TestEveryKindOfRecordBecomesAClaim(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ name, kind, spec, want string }{
		{"the document's example", "ARecord", `{zone: example.com, name: www, ipv4: 192.0.2.1, ttl: 300}`,
			"www 300 A 192.0.2.1"},
		{"an older form of the address", "ARecord", `{name: www, ipv4Address: 192.0.2.1}`, "www - A 192.0.2.1"},
		{"several addresses, sorted and each once", "ARecord",
			`{name: www, ipv4Addresses: [192.0.2.2, 192.0.2.1, 192.0.2.2]}`, "www - A 192.0.2.1 | 192.0.2.2"},
		{"IPv6 in another spelling", "AAAARecord", `{name: www, ipv6: "2001:DB8:0:0::1"}`, "www - AAAA 2001:db8::1"},
		{"several IPv6 addresses", "AAAARecord", `{name: www, ipv6Addresses: ["2001:db8::2", "2001:db8::1"]}`,
			"www - AAAA 2001:db8::1 | 2001:db8::2"},
		{"an alias", "CNAMERecord", `{name: ftp, target: WWW.example.com.}`, "ftp - CNAME www.example.com."},
		{"text of several strings is one record", "TXTRecord", `{name: "@", text: ["v=spf1 -all", 'a "b" \c', ""]}`,
			`@ - TXT "v=spf1 -all" "a \"b\" \\c" ""`},
		{"text of more than 255 octets is split", "TXTRecord", `{name: a, text: ["` + long + `"]}`, `a - TXT "` + long[:255] +
			`" "` + long[255:] + `"`},
		{"text of other scripts", "TXTRecord", `{name: a, text: ["é"]}`, `a - TXT "\195\169"`},
		{"a mail server", "MXRecord", `{name: "@", priority: 10, mailServer: mail.example.com.}`,
			"@ - MX 10 mail.example.com."},
		{"no mail", "MXRecord", `{name: "@", priority: 0, mailServer: .}`, "@ - MX 0 ."},
		{"a delegation", "NSRecord", `{name: sub, nameserver: ns.example.net.}`, "sub - NS ns.example.net."},
		{"a service, with underscores", "SRVRecord",
			`{name: _sip._tcp, priority: 1, weight: 2, port: 5060, target: sip.example.com.}`,
			"_sip._tcp - SRV 1 2 5060 sip.example.com."},
		{"who may issue certificates", "CAARecord", `{name: "@", flags: 128, tag: Issue, value: 'ca.example; a="b"'}`,
			`@ - CAA 128 issue "ca.example; a=\"b\""`},
		{"the host of an address", "PTRRecord", `{zone: 2.0.192.in-addr.arpa, name: "1", target: WWW.example.com.}`,
			"1 - PTR www.example.com."},
		{"the host of an IPv6 address", "PTRRecord", `{name: 1.0.0.0.8.b.d.0.1.0.0.2.IP6.arpa., target: www.example.com.}`,
			"1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa. - PTR www.example.com."},
		{"a wildcard", "ARecord", `{name: "*", ipv4: 192.0.2.1}`, "* - A 192.0.2.1"},
		{"a wildcard below a name", "ARecord", `{name: "*.sub", ipv4: 192.0.2.1}`, "*.sub - A 192.0.2.1"},
		{"a name that is fully qualified", "ARecord", `{name: WWW.example.com., ipv4: 192.0.2.1}`,
			"www.example.com. - A 192.0.2.1"},
		{"a TTL of zero", "ARecord", `{name: www, ipv4: 192.0.2.1, ttl: 0}`, "www 0 A 192.0.2.1"},

		{"an address that is none", "ARecord", `{name: www, ipv4: 192.0.2.256}`, "InvalidSpec: ARecord dns/x cannot be read: spec.ipv4 has \"192.0.2.256\", which is not an address of this kind; correct it."},
		{"an IPv6 address in an ARecord", "ARecord", `{name: www, ipv4: "::1"}`, "InvalidSpec: ARecord dns/x cannot be read: spec.ipv4 has \"::1\", which is not an address of this kind; correct it."},
		{"no address", "AAAARecord", `{name: www}`,
			"InvalidSpec: AAAARecord dns/x cannot be read: spec.ipv6 is missing; correct it."},
		{"two forms that differ", "ARecord", `{name: www, ipv4: 192.0.2.1, ipv4Address: 192.0.2.2}`, "InvalidSpec: ARecord " +
			"dns/x cannot be read: spec.ipv4Address differs from another form of the field; remove one of the " +
			"two; correct it."},
		{"a target without a dot at its end", "CNAMERecord", `{name: ftp, target: www}`, `InvalidData`},
		{"a control character in a target", "MXRecord", `{name: "@", priority: 1, mailServer: "a.\n"}`, `InvalidData`},
		{"a host without a dot at its end", "PTRRecord", `{name: "1", target: www}`, `InvalidData`},
		{"more data than one", "NSRecord", `{name: sub, nameserver: "a. b."}`, `InvalidData`},
		{"a label of 64 octets", "ARecord", `{name: ` + long[:64] + `, ipv4: 192.0.2.1}`, `InvalidName`},
		{"an empty name", "ARecord", `{name: "", ipv4: 192.0.2.1}`, `InvalidName`},
		{"a star inside a name", "ARecord", `{name: a.*.b, ipv4: 192.0.2.1}`, `InvalidName`},
		{"a priority out of range", "MXRecord", `{name: "@", priority: 65536, mailServer: a.}`, `InvalidData`},
		{"a negative TTL", "ARecord", `{name: www, ipv4: 192.0.2.1, ttl: -1}`,
			"InvalidSpec: ARecord dns/x cannot be read: ttl is -1; it must be from 0 to 2147483647 seconds; correct it."},
		{"no text", "TXTRecord", `{name: a, text: []}`,
			"InvalidSpec: TXTRecord dns/x cannot be read: spec.text is missing; correct it."},
		{"a tag that is none", "CAARecord", `{name: "@", flags: 0, tag: "a b", value: x}`, `InvalidData`},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim := dialect.ConvertRecord(recordOf(t, c.kind, c.spec), dialect.Home{Zone: dialect.ZoneID("dns", "example")})
			if got := claimText(claim); got != c.want && (claim.Invalid == nil || string(claim.Invalid.Reason) != c.want) {
				t.Errorf("it is\n%s\nwant\n%s", got, c.want)
			}
			if claim.ID.Kind != c.kind {
				t.Errorf("the claim is of a %s", claim.ID.Kind)
			}
		})
	}
}

func claimText(c zone.Claim) string {
	if c.Invalid != nil {
		return string(c.Invalid.Reason) + ": " + c.Invalid.Message
	}
	ttl := "-"
	if c.TTL != nil {
		ttl = fmt.Sprint(*c.TTL)
	}
	return fmt.Sprintf("%s%s %s %s %s", c.Where.Name, c.Where.Relative, ttl, c.Type, strings.Join(c.Data, " | "))
}

func TestAClaimTellsItsHome(t *testing.T) {
	r := recordOf(t, "ARecord", `{name: www, ipv4: 192.0.2.1}`)
	r.Object.SetCreationTimestamp(metav1.Time{Time: time.Unix(7, 0)})
	note := zone.Note{Reason: v1beta1.ReasonSelectedTwice, Message: "Two."}
	c := dialect.ConvertRecord(r, dialect.Home{Zone: dialect.ZoneID("dns", "example"), Notes: []zone.Note{note}})
	if c.Where.Ref != dialect.ZoneID("dns", "example") || !c.Created.Equal(time.Unix(7, 0)) || len(c.Warnings) != 1 ||
		c.Warnings[0] != note {
		t.Errorf("the claim is %+v", c)
	}
	none := &zone.Refusal{Reason: v1beta1.ReasonNotSelected, Message: "Nobody."}
	if c = dialect.ConvertRecord(r, dialect.Home{Refusal: none}); c.Invalid != none {
		t.Errorf("a record without a home is %+v", c)
	}
	if c = dialect.ConvertRecord(recordOf(t, "ARecord", `{name: www}`),
		dialect.Home{Refusal: none}); c.Invalid.Reason != zone.InvalidSpec {
		t.Errorf("a record that is wrong itself says %+v", c.Invalid)
	}
}

func TestOtherObjectsAreNoRecords(t *testing.T) {
	for _, o := range []client.Object{&v1beta1.DNSZone{}, &v1beta1.Bind9Cluster{}} {
		if _, ok := dialect.RecordOf(o); ok {
			t.Errorf("%T is taken for a record", o)
		}
	}
}
