package bindcar

import (
	"strings"
	"testing"
)

const minimal = `{"zoneName":"example.com","zoneType":"primary","updateKeyName":"bindy-operator","zoneConfig":{"ttl":300,"soa":{"primaryNs":"ns1.example.com.","adminEmail":"admin.example.com."},"nameServers":["ns1.example.com."],"nameServerIps":{"ns1.example.com.":"192.0.2.1"}}}`

func TestB1Zones(t *testing.T) {
	f := newFixture(t, "", nil)
	f.want("GET", "/api/v1/zones", "", 200, `{"zones":[],"count":0}`)
	f.want("POST", "/api/v1/zones", minimal, 201, `{"success":true,"message":"Zone example.com created successfully","details":""}`)
	if got := f.ask("ns1.example.com.", "A"); got != "300 IN A 192.0.2.1" {
		t.Errorf("the name server has %s", got)
	}
	f.want("GET", "/api/v1/zones", "", 200, `{"zones":["example.com"],"count":1}`)
	serial := strings.Fields(f.ask("example.com.", "SOA"))[5]
	f.want("GET", "/api/v1/zones/example.com", "", 200, `{"name":"example.com","zoneType":"primary","serial":`+serial+`,"filePath":"%DIR%/example.com.zone"}`)
	f.want("DELETE", "/api/v1/zones/example.com", "", 200, `{"success":true,"message":"Zone example.com deleted successfully","details":"zone 'example.com' will be deleted."}`)
	f.want("GET", "/api/v1/zones/example.com", "", 404, `{"error":"Zone not found: example.com","details":null}`)
	f.want("GET", "/api/v1/zones", "", 200, `{"zones":[],"count":0}`)
}
