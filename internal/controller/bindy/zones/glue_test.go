package zones

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
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
	} {
		z := zoneOf(t, `{zoneName: example.com, clusterRef: main, addressTypes: `+c.types+
			`, soa: {primaryNameServer: ns1.example.com, adminEmail: a.example.com}}`)
		fleet := fleetFor(z, []*v1beta1.Bind9Instance{c.on}, nil)
		if got := strings.Trim(fmt.Sprint(fleet.addresses), "[]"); got != c.want {
			t.Errorf("%s: name servers get %s, want %s", c.name, got, c.want)
		}
		notes := fleet.glueless(dialect.ZoneID("dns", "example"), z.Spec.AddressTypes)
		if (len(notes) == 1 && notes[0].Reason == v1beta1.ReasonNoAddress) != c.warned {
			t.Errorf("%s: warned is %v", c.name, notes)
		}
	}
}
