package e2e_test

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A kindOfRecord is how records of a kind look, as specs without a name and as answers, when they are made and when
// they are changed.
type kindOfRecord struct {
	number, kind          string
	rrtype                uint16
	made, then            string // specs
	madeWant, thenWant    string // what servers answer
	addresses, addresses2 string // what the status says
}

// kindsOfRecords are the cases R1 to R8, and a kind of ours.
func kindsOfRecords() []recordCase {
	var out []recordCase
	for _, k := range []kindOfRecord{
		{"R1", "ARecord", dns.TypeA, "ipv4: 192.0.2.1, ttl: 300", "ipv4Addresses: [192.0.2.3, 192.0.2.2], ttl: 60",
			"300 192.0.2.1", "60 192.0.2.2, 60 192.0.2.3", "192.0.2.1", "192.0.2.2,192.0.2.3"},
		{"R2", "AAAARecord", dns.TypeAAAA, "ipv6: '2001:DB8:0::1', ttl: 300", "ipv6Addresses: ['2001:db8::2', '2001:db8::3']",
			"300 2001:db8::1", "120 2001:db8::2, 120 2001:db8::3", "2001:db8::1", "2001:db8::2,2001:db8::3"},
		{"R3", "CNAMERecord", dns.TypeCNAME, "target: www.example.org., ttl: 0", "target: WWW2.Example.org., ttl: 2147483647",
			"0 www.example.org.", "2147483647 www2.example.org.", "", ""},
		{"R4", "TXTRecord", dns.TypeTXT, `text: ["v=spf1 -all", 'a "b"; c\d']`, `text: ["", "ü"]`,
			`120 "v=spf1 -all" "a \"b\"; c\\d"`, `120 "" "\195\188"`, "", ""},
		{"R5", "MXRecord", dns.TypeMX, "priority: 10, mailServer: mx.example.org.", "priority: 0, mailServer: .",
			"120 10 mx.example.org.", "120 0 .", "", ""},
		{"R6", "NSRecord", dns.TypeNS, "nameserver: ns.example.org., ttl: 300", "nameserver: ns2.example.org., ttl: 60",
			"300 ns.example.org.", "60 ns2.example.org.", "", ""},
		{"R7", "SRVRecord", dns.TypeSRV, "priority: 1, weight: 2, port: 443, target: www.example.org.",
			"priority: 65535, weight: 0, port: 80, target: a.example.org.",
			"120 1 2 443 www.example.org.", "120 65535 0 80 a.example.org.", "", ""},
		{"R8", "CAARecord", dns.TypeCAA, "flags: 0, tag: issue, value: ca.example.org",
			`flags: 128, tag: iodef, value: "mailto:a@example.org"`,
			`120 0 issue "ca.example.org"`, `120 128 iodef "mailto:a@example.org"`, "", ""},
		{"PTR", "PTRRecord", dns.TypePTR, "target: www.example.org.", "target: mail.example.org., ttl: 60",
			"120 www.example.org.", "60 mail.example.org.", "", ""},
	} {
		out = append(out, recordCase{k.number + " " + k.kind + "s made, changed and deleted", func(z *zoned) {
			liveOf(z, k)
		}})
	}
	return out
}

// liveOf makes, changes and deletes records of a kind: one that names its zone, and one that the zone selects.
func liveOf(z *zoned, k kindOfRecord) {
	z.makeZone()
	made := map[string]func(string, string, string, ...any) client.Object{"_named": z.record, "chosen.below": z.selected}
	hashes := map[string]string{}
	for _, step := range []struct{ spec, want, addresses string }{{k.made, k.madeWant, k.addresses},
		{k.then, k.thenWant, k.addresses2}} {
		for owner, apply := range made {
			apply(k.kind, strings.Trim(owner, "_"), "name: %s, %s", owner, step.spec)
		}
		for owner := range made {
			z.holds(owner, k.rrtype, step.want)
			o := z.object(k.kind, strings.Trim(owner, "_"))
			s := z.published(o, owner)
			if s.Addresses != step.addresses || s.RecordHash == hashes[owner] {
				z.Errorf("the status of %s has addresses %q, want %q, and hash %s after %q", o.GetName(), s.Addresses,
					step.addresses, s.RecordHash, hashes[owner])
			}
			hashes[owner] = s.RecordHash
		}
		z.counts(2)
	}
	for owner := range made {
		o := z.object(k.kind, strings.Trim(owner, "_"))
		z.remove(o)
		z.serves(owner, k.rrtype, noName)
		z.eventually("it goes", func() string {
			if z.get(o) {
				return fmt.Sprintf("%s is there, with the finalizers %v", o.GetName(), o.GetFinalizers())
			}
			return ""
		})
	}
	z.counts(0)
	z.agree(z.fleet.servers, z.zone, z.fleet.key)
}

// holds waits until every server has a set: answers with it, or refers to other servers by it.
func (z *zoned) holds(owner string, rrtype uint16, want string) {
	z.Helper()
	if rrtype != dns.TypeNS {
		z.serves(owner, rrtype, want)
		return
	}
	z.eventually("a referral for "+owner, func() string {
		for _, v := range z.fleet.servers {
			answer, err := exchange(z.ctx, "tcp", v.at, question("www."+z.full(owner), dns.TypeA), nil)
			if err != nil {
				return err.Error()
			}
			var got []string
			for _, r := range answer.Ns {
				got = append(got, fmt.Sprint(r.Header().Ttl, " ", strings.TrimPrefix(r.String(), r.Header().String())))
			}
			if text := strings.Join(got, ", "); text != want || answer.Authoritative || answer.Rcode != dns.RcodeSuccess {
				return fmt.Sprintf("%s refers to %q, want %q", v, text, want)
			}
		}
		return ""
	})
}

// counts waits until the zone says that it has so many records.
func (z *zoned) counts(want int32) {
	z.Helper()
	z.eventually("the count of the zone's records", func() string {
		if got := must(z.site, dnsZone("", ""), z.fleet.namespace, z.word).Status.RecordsCount; got != want {
			return fmt.Sprintf("it is %d, want %d", got, want)
		}
		return ""
	})
}

func allForms(z *zoned) {
	long := strings.Repeat("0123456789", 60)
	z.makeZone()
	for _, r := range []struct {
		kind, name, spec string
		rrtype           uint16
		ask, want        string
	}{
		{"ARecord", "'@'", "ipv4: 192.0.2.1", dns.TypeA, "@", "120 192.0.2.1"},
		{"MXRecord", "'@'", "priority: 5, mailServer: mx.example.org.", dns.TypeMX, "@", "120 5 mx.example.org."},
		{"NSRecord", "'@'", "nameserver: ns.example.org.", dns.TypeNS, "@", "120 ns.example.org., 120 ns1.r19.example."},
		{"ARecord", "'*'", "ipv4: 192.0.2.2", dns.TypeA, "any.thing", "120 192.0.2.2"},
		{"ARecord", "'*.below'", "ipv4: 192.0.2.3", dns.TypeA, "any.thing.below", "120 192.0.2.3"},
		{"TXTRecord", "'*.below'", "text: [a]", dns.TypeTXT, "*.below", `120 "a"`},
		{"TXTRecord", "_dmarc", "text: [v=DMARC1]", dns.TypeTXT, "_dmarc", `120 "v=DMARC1"`},
		{"SRVRecord", "_sip._tcp", "priority: 0, weight: 0, port: 5060, target: .", dns.TypeSRV, "_sip._tcp",
			"120 0 0 5060 ."},
		{"TXTRecord", "key._domainkey", "text: ['" + long + "', b]", dns.TypeTXT, "key._domainkey",
			`120 "` + long[:255] + `" "` + long[255:510] + `" "` + long[510:] + `" "b"`},
		{"ARecord", "Absolute." + z.zone + ".", "ipv4: 192.0.2.4", dns.TypeA, "absolute", "120 192.0.2.4"},
		{"ARecord", "empty.in.between", "ipv4: 192.0.2.5", dns.TypeA, "in.between", noData},
	} {
		o := z.record(r.kind, fmt.Sprintf("%x", r.kind+r.name), "name: %s, %s", r.name, r.spec)
		z.serves(r.ask, r.rrtype, r.want)
		z.awaitRecord(o)
		z.isIn(o, z.word, z.zone)
	}
	z.serves("under.below", dns.TypeMX, noData)       // the wildcard has the name, not the type (RFC 4592 §2.2.1)
	z.serves("x.empty.in.between", dns.TypeA, noName) // the closest encloser has no wildcard
	z.agree(z.fleet.servers, z.zone, z.fleet.key)
}
