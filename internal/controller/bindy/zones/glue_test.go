package zones

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestNameServersGetAddressesOfTheTypesThatAZoneChooses(t *testing.T) {
	server := aServer("dns/main-primary-0", "main", "", "")
	server.Spec.Role, server.Status.ServiceAddress = v1beta1.RolePrimary, "10.0.0.1"
	server.Status.Addresses = []v1beta1.ServerAddress{
		{Type: "ClusterIP", Address: "10.0.0.1"}, {Type: "ClusterIP", Address: "fd00::1"},
		{Type: "LoadBalancer", Address: "192.0.2.2"}, {Type: "Node", Address: "2001:db8::7"},
	}
	bare := aServer("dns/main-primary-0", "main", "", "")
	bare.Spec.Role, bare.Status.ServiceAddress = v1beta1.RolePrimary, "10.0.0.1"
	headless, begun := aServer("dns/main-primary-0", "main", "", ""), aServer("dns/main-primary-0", "main", "", "")
	for _, heard := range []*v1beta1.Bind9Instance{server, bare, headless} {
		heard.Status.ObservedGeneration = 1
	}
	for _, c := range []struct {
		name, types string
		on          *v1beta1.Bind9Instance
		want        string
		warned      bool
	}{
		{"nothing is said", `null`, server, "10.0.0.1 fd00::1", false},
		{"nothing is said, and the status is of an operator before", `null`, bare, "10.0.0.1", false},
		{"load balancers", `[LoadBalancer]`, server, "192.0.2.2", false},
		{"nodes", `[Node]`, server, "2001:db8::7", false},
		{"load balancers and the Service", `[LoadBalancer, ClusterIP]`, server, "10.0.0.1 192.0.2.2 fd00::1", false},
		{"a load balancer that is not there yet", `[LoadBalancer]`, bare, "", true},
		{"nothing is said, and the Service has no address", `null`, headless, "", true},
		{"nothing is said, and there may be no Service yet", `null`, begun, "", false},
	} {
		z := zoneOf(t, `{zoneName: example.com, clusterRef: main, addressTypes: `+c.types+
			`, soa: {primaryNameServer: ns1.example.com, adminEmail: a.example.com}}`)
		fleet := fleetFor(z, []*v1beta1.Bind9Instance{c.on}, nil)
		if got := strings.Trim(fmt.Sprint(fleet.addresses), "[]"); got != c.want {
			t.Errorf("%s: name servers get %s, want %s", c.name, got, c.want)
		}
		notes := gluelessAsWritten(z, fleet)
		if (len(notes) == 1 && notes[0].Reason == v1beta1.ReasonNoAddress) != c.warned {
			t.Errorf("%s: warned is %v", c.name, notes)
		}
	}
}

// gluelessAsWritten is glueless of a zone that has what its spec says, and some records.
func gluelessAsWritten(z *v1beta1.DNSZone, fleet fleetOf, records ...rr.Set) []zone.Note {
	converted, content := dialect.ConvertZone(z, fleet.addresses), rr.Sets{}.Txn()
	for _, set := range append(converted.Own, records...) {
		content.Put(set)
	}
	return fleet.glueless(z, converted.Where.Name, content.Sets())
}

// TestNameServersWithoutAddressAreToldOf has the Services of all servers have no address.
func TestNameServersWithoutAddressAreToldOf(t *testing.T) {
	const types, usages = "types ClusterIP, so the name servers ns1.example.com have none", "add Addresses to the usages"
	own, other := aServer("dns/main-primary-0", "main", "", ""), aServer("far/open", "", "blue", "*")
	own.Status.ObservedGeneration, other.Status.ObservedGeneration = 1, 1
	other.Status.ServiceAddress = "10.0.0.2"
	ns1, err := dnsname.Parse("ns1.example.com.")
	if err != nil {
		t.Fatal(err)
	}
	address := rr.NewSet(rr.Key{Name: ns1, Type: rr.TypeAAAA}, 300, "2001:db8::1")
	for _, c := range []struct {
		name, server, more string
		on                 *v1beta1.Bind9Instance
		records            []rr.Set
		want               string
	}{
		{"its name server is in it", "ns1.example.com", "", own, nil, types},
		{"one of two is", "ns.example.net", ", nameServers: [{hostname: ns1.example.com}]", own, nil, types},
		{"none is", "ns1.example.net", "", own, nil, ""},
		{"it has an address", "ns1.example.com", ", nameServers: [{hostname: ns1.example.com, ipv4Address: 192.0.2.1}]", own,
			nil, ""},
		{"a record is its address", "ns1.example.com", "", own, []rr.Set{address}, ""},
		{"the servers are of others", "ns1.example.com",
			", bind9InstancesFrom: [{selector: {matchLabels: {team: blue}}, namespaces: [far]}]", other, nil, usages},
		{"they may provide addresses", "ns1.example.com",
			", bind9InstancesFrom: [{selector: {matchLabels: {team: blue}}, namespaces: [far], usages: [Addresses]}]", other,
			nil, ""},
	} {
		z := zoneOf(t, `{zoneName: example.com, clusterRef: main`+c.more+`, soa: {primaryNameServer: `+c.server+
			`, adminEmail: a.example.com}}`)
		notes := gluelessAsWritten(z, fleetFor(z, []*v1beta1.Bind9Instance{c.on}, nil), c.records...)
		if (len(notes) == 1) != (c.want != "") || len(notes) == 1 && !strings.Contains(notes[0].Message, c.want) {
			t.Errorf("%s: warned is %v", c.name, notes)
		}
	}
}
