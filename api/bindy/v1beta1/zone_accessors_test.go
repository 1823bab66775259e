package v1beta1

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestAuthority(t *testing.T) {
	defaults := Authority{PrimaryNS: "ns1.example.com.", Mailbox: "admin.example.com.", TTL: 300, Refresh: 3600,
		Retry: 600, Expire: 604800, NegativeTTL: 86400}
	with := func(change func(*Authority)) Authority { a := defaults; change(&a); return a }
	for _, tt := range []struct {
		name, spec string
		want       Authority
		error      string
	}{
		{"the document's example", `soa: {primaryNameServer: ns1.example.com, adminEmail: admin.example.com, ttl: 3600}`,
			with(func(a *Authority) { a.TTL = 3600 }), ""},
		{"the zone's ttl is the SOA's",
			`{soa: {primaryNameServer: NS1.example.com., adminEmail: admin@example.com}, ttl: 60}`, with(func(a *Authority) {
				a.TTL = 60
			}), ""},
		{"the existing form",
			`soaRecord: {primaryNs: ns1.example.com., adminEmail: admin.example.com., serial: 9, refresh: 1, retry: 2, expire: 3, negativeTtl: 0}`,
			with(func(a *Authority) { a.Serial, a.Refresh, a.Retry, a.Expire, a.NegativeTTL = 9, 1, 2, 3, 0 }), ""},
		{"both forms complete each other", `{soa: {primaryNameServer: ns1.example.com, adminEmail: admin@example.com, retry: 5},
			soaRecord: {primaryNs: ns1.example.com., adminEmail: admin.example.com., serial: 9, retry: 5}}`, with(func(a *Authority) { a.Serial, a.Retry = 9, 5 }), ""},
		{"no form", `{}`, Authority{}, "spec.soa is missing"},
		{"a mail address with a dot before the @",
			`{soa: {primaryNameServer: ns1.example.com, adminEmail: John.Doe@example.com},
			soaRecord: {primaryNs: ns1.example.com., adminEmail: john\.doe.example.com.}}`,
			with(func(a *Authority) { a.Mailbox = `john\.doe.example.com.` }), ""},
		{"the same, with a backslash already", `soa: {primaryNameServer: ns1.example.com, adminEmail: john\.doe@example.com}`,
			with(func(a *Authority) { a.Mailbox = `john\.doe.example.com.` }), ""},
		{"different names", `{soa: {primaryNameServer: a, adminEmail: b}, soaRecord: {primaryNs: a, adminEmail: c}}`,
			Authority{}, "spec.soa and spec.soaRecord have different names"},
		{"different numbers",
			`{soa: {primaryNameServer: a, adminEmail: b, expire: 5}, soaRecord: {primaryNs: a, adminEmail: b, expire: 6}}`,
			Authority{},
			"expire is 5 in spec.soa and 6 in spec.soaRecord"},
	} {
		var spec DNSZoneSpec
		if err := yaml.UnmarshalStrict([]byte(tt.spec), &spec); err != nil {
			t.Fatal(err)
		}
		got, err := spec.Authority()
		says(t, tt.name, err, tt.error)
		if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestRecordTTL(t *testing.T) {
	sixty, day := Seconds(60), Seconds(86400)
	for _, tt := range []struct {
		name string
		spec DNSZoneSpec
		want int64
	}{
		{"nobody says", DNSZoneSpec{}, 300},
		{"the SOA says", DNSZoneSpec{SOA: &SOA{TTL: &day}}, 86400},
		{"the zone says", DNSZoneSpec{SOA: &SOA{TTL: &day}, TTL: &sixty}, 60},
	} {
		if got := tt.spec.RecordTTL(); got != tt.want {
			t.Errorf("%s: %d; want %d", tt.name, got, tt.want)
		}
	}
}

func TestCluster(t *testing.T) {
	for _, tt := range []struct {
		name, ref, provider, want, error string
	}{
		{"selectors only", "", "", "", ""},
		{"the document's form", "a", "", "a", ""},
		{"the older form", "", "b", "b", ""},
		{"both agree", "a", "a", "a", ""},
		{"both differ", "a", "b", "", "spec.clusterRef is a and spec.clusterProviderRef is b"},
	} {
		got, err := (&DNSZoneSpec{ClusterRef: tt.ref, ClusterProviderRef: tt.provider}).Cluster()
		says(t, tt.name, err, tt.error)
		if got != tt.want {
			t.Errorf("%s: %q; want %q", tt.name, got, tt.want)
		}
	}
}

func TestNameservers(t *testing.T) {
	spec := DNSZoneSpec{
		NameServers: []NameServer{{Hostname: "NS2.example.com", IPv4Address: "192.0.2.2", IPv6Address: "2001:db8::2"},
			{Hostname: "ns.other."}},
		NameServerIPs: map[string]NameServerIP{"ns2.example.com.": "192.0.2.2", "ns1.example.com.": "192.0.2.1"},
	}
	ip := netip.MustParseAddr
	want := []Nameserver{{"ns.other.", nil}, {"ns1.example.com.", []netip.Addr{ip("192.0.2.1")}},
		{"ns2.example.com.", []netip.Addr{ip("192.0.2.2"), ip("2001:db8::2")}}}
	got, err := spec.Nameservers()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	spec.NameServers[0].IPv4Address = "999.1.1.1"
	_, err = spec.Nameservers()
	says(t, "a loose quad", err, `the address "999.1.1.1" of the name server ns2.example.com. is not an IP address`)
}

func TestAddressesOfRecords(t *testing.T) {
	for _, tt := range []struct {
		name  string
		a     ARecordSpec
		want  int
		error string
	}{
		{"all forms agree", ARecordSpec{IPv4: "192.0.2.1", IPv4Address: "192.0.2.1", IPv4Addresses: []string{"192.0.2.1",
			"192.0.2.1"}}, 1, ""},
		{"several", ARecordSpec{IPv4Addresses: []string{"192.0.2.2", "192.0.2.1"}}, 2, ""},
		{"none", ARecordSpec{}, 0, "spec.ipv4 is missing"},
		{"forms differ", ARecordSpec{IPv4Address: "192.0.2.1", IPv4Addresses: []string{"192.0.2.1", "192.0.2.2"}}, 0,
			"spec.ipv4Addresses differs from another form of the field"},
		{"no address", ARecordSpec{IPv4: "a"}, 0, `spec.ipv4 has "a", which is not an address of this kind`},
		{"another family", ARecordSpec{IPv4: "::1"}, 0, "which is not an address of this kind"},
	} {
		got, err := tt.a.Addresses()
		says(t, tt.name, err, tt.error)
		if len(got) != tt.want || tt.want == 2 && !got[0].Less(got[1]) {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	got, err := (&AAAARecordSpec{IPv6: "2001:DB8:0::1", IPv6Addresses: []string{"2001:db8::1"}}).Addresses()
	if err != nil || len(got) != 1 || got[0].String() != "2001:db8::1" {
		t.Errorf("one address in two spellings is %v, %v", got, err)
	}
}

func TestStatusesOfOthersAreRead(t *testing.T) {
	const text = `{"observedGeneration": 3, "conditions": [{"type": "Ready", "lastTransitionTime": "never"}]}`
	for name, status := range map[string]any{"provider": &ClusterBind9ProviderStatus{}, "cluster": &Bind9ClusterStatus{},
		"instance": &Bind9InstanceStatus{}, "zone": &DNSZoneStatus{}, "record": &RecordStatus{}} {
		if err := yaml.Unmarshal([]byte(text), status); err != nil {
			t.Errorf("the status of a %s is not read: %v", name, err)
		}
		back, err := yaml.Marshal(status)
		if err != nil || !strings.Contains(string(back), "observedGeneration: 3") {
			t.Errorf("the status of a %s is read as %s, %v", name, back, err)
		}
	}
}
