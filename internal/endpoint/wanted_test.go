package endpoint_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/endpoint"
)

func TestWhatIsWantedIsAdjusted(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name, typ string
		ttl       int64
		targets   []string
		as        string // the name then
		want      []string
	}{
		{"www.example.org", "A", 60, []string{"192.0.2.2", "192.0.2.1", "192.0.2.2"}, "www.example.org",
			[]string{"192.0.2.1", "192.0.2.2"}},
		{"WWW.example.org.", "AAAA", 0, []string{"2001:DB8:0:0::1"}, "www.example.org", []string{"2001:db8::1"}},
		{"bücher.example", "CNAME", 0, []string{"WWW.Example.org."}, "xn--bcher-kva.example", []string{"www.example.org"}},
		{"*.example.org", "CNAME", 0, []string{"www.example.org"}, "*.example.org", []string{"www.example.org"}},
		{"a-*.example.org", "TXT", 0, []string{`"heritage=external-dns,external-dns/owner=x"`}, "a-*.example.org",
			[]string{`"heritage=external-dns,external-dns/owner=x"`}},
		{"t.example.org", "TXT", 0, []string{`say "a"`}, "t.example.org", []string{`"say \"a\""`}},
		{"t.example.org", "TXT", 0, []string{long}, "t.example.org", []string{`"` + long[:255] + `" "` + long[255:] + `"`}},
		{"example.org", "MX", 0, []string{"10 mail.example.org", "5 mx.example.org."}, "example.org",
			[]string{"10 mail.example.org", "5 mx.example.org"}},
		{"_sip._udp.example.org", "SRV", 0, []string{"0 5 5060 sip.example.org"}, "_sip._udp.example.org",
			[]string{"0 5 5060 sip.example.org."}},
		{"n.example.org", "NAPTR", 0, []string{`10 20 "u" "E2U+sip" "!^.*$!sip:a@example.org!" .`}, "n.example.org",
			[]string{`10 20 "u" "E2U+sip" "!^.*$!sip:a@example.org!" .`}},
		{"n.example.org", "NAPTR", 0, []string{`10 20 "s" "SIP+D2U" "" _sip._udp.example.org`}, "n.example.org",
			[]string{`10 20 "s" "SIP+D2U" "" _sip._udp.example.org.`}},
		{"_443._tcp.example.org", "TLSA", 0, []string{"3 1 1 " + strings.Repeat("ab", 32)}, "_443._tcp.example.org",
			[]string{"3 1 1 " + strings.Repeat("AB", 32)}},
	} {
		in := endpoint.Endpoint{DNSName: c.name, RecordType: c.typ, RecordTTL: c.ttl, Targets: c.targets,
			Labels: map[string]string{"resource": "ingress/a/b"}, ProviderSpecific: json.RawMessage(`[{"name":"alias"}]`)}
		got := in.Adjusted()
		if got.DNSName != c.as || got.RecordType != c.typ || got.RecordTTL != c.ttl || !slices.Equal(got.Targets, c.want) ||
			got.ProviderSpecific != nil || got.Labels["resource"] == "" {
			t.Errorf("%v becomes %+v", in, got)
		}
	}
}

func TestWhatCannotBeHeldStaysAsItIsAndSaysWhy(t *testing.T) {
	for _, c := range []struct {
		e   endpoint.Endpoint
		why string
	}{
		{endpoint.Endpoint{DNSName: "a..b", RecordType: "A", Targets: []string{"192.0.2.1"}}, `the name "a..b" cannot be read`},
		{endpoint.Endpoint{DNSName: "a.example", RecordType: "ALIAS", Targets: []string{"x"}}, "an invalid type"},
		{endpoint.Endpoint{DNSName: "a.example", RecordType: "SOA", Targets: []string{"x"}}, "cannot be written"},
		{endpoint.Endpoint{DNSName: "a.example", RecordType: "A", Targets: []string{"www.example"}}, `the target "www.example"`},
		{endpoint.Endpoint{DNSName: "a.example", RecordType: "A"}, "has no targets"},
		{endpoint.Endpoint{DNSName: "a.example", RecordType: "CNAME", Targets: []string{""}}, `the target ""`},
		{endpoint.Endpoint{DNSName: "a.example", RecordType: "A", Targets: []string{"192.0.2.1"}, RecordTTL: -1},
			"the TTL -1"},
		{endpoint.Endpoint{DNSName: "a.example", RecordType: "A", Targets: []string{"192.0.2.1"}, RecordTTL: 1 << 31},
			"the TTL 2147483648"},
		{endpoint.Endpoint{DNSName: "a.example", RecordType: "A", Targets: []string{"192.0.2.1"}, SetIdentifier: "eu"},
			`the set identifier "eu"`},
	} {
		_, err := c.e.Set()
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("of %+v it says %v, without %q", c.e, err, c.why)
		}
		if got := c.e.Adjusted(); got.DNSName != c.e.DNSName || !slices.Equal(got.Targets, c.e.Targets) ||
			got.SetIdentifier != c.e.SetIdentifier {
			t.Errorf("%+v becomes %+v", c.e, got)
		}
	}
}

func FuzzAdjusted(f *testing.F) {
	f.Add(`[{"dnsName":"www.example.org","recordType":"A","targets":["192.0.2.1"],"recordTTL":60}]`)
	f.Add(`[{"dnsName":"a-*.example.org","recordType":"TXT","targets":["\"heritage=external-dns\"","a \\\" b"]}]`)
	f.Add(`[{"dnsName":"Bücher.example","recordType":"CNAME","targets":["x.Example."],"setIdentifier":"a"}]`)
	f.Add(`[{"dnsName":"x","recordType":"NAPTR","targets":["1 2 \"\" \"\" \"\" ."]},{"labels":{"a":"b"}}]`)
	f.Fuzz(func(t *testing.T, body string) {
		var all []endpoint.Endpoint
		if json.Unmarshal([]byte(body), &all) != nil {
			return
		}
		for _, e := range all {
			got := e.Adjusted()
			set, err := e.Set()
			if err != nil {
				continue
			}
			again, err := got.Set()
			if err != nil || !again.Equal(set) {
				t.Errorf("%+v is %v, and adjusted, %+v, it is %v (%v)", e, set, got, again, err)
			}
			if key, err := got.Key(); got.SetIdentifier == "" && err == nil && strings.IndexByte(got.DNSName, '\\') < 0 &&
				key != set.Key() {
				t.Errorf("%+v has the key %v, and its set %v", got, key, set.Key())
			}
		}
	})
}
