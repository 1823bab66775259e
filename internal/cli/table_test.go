package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/internal/backend/dynamodb/dynamodbtest"
)

// TestAServerIsComparedBesideATable has a registry of external-dns in a table of DynamoDB.
func TestAServerIsComparedBesideATable(t *testing.T) {
	bind, pdns := bothServers(t, "example.org.", diffZone)
	table, err := dynamodbtest.Start(t.Context(), "external-dns", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = table.Stop() })
	table.Own("dns.example.org#A#", "prod")
	table.Own("old.example.org#A#", "staging")
	secret := fmt.Sprintf("---\napiVersion: v1\nkind: Secret\nmetadata: {name: aws, namespace: zonefold-system}\n"+
		"stringData: {AWS_ACCESS_KEY_ID: %q, AWS_SECRET_ACCESS_KEY: %q}\n", dynamodbtest.AccessKeyID,
		dynamodbtest.SecretAccessKey)
	diff := func(more string) (int, string, string) {
		registries := fmt.Sprintf("registries: [{dynamoDB: {endpoint: %q, secretRef: {name: aws}}%s}]", table.URL, more)
		backends := strings.NewReplacer("spec: {rfc2136:", "spec: {"+registries+", rfc2136:").Replace(
			backendObjects(bind.Addr(), pdns))
		objects := filepath.Join(t.TempDir(), "objects.yaml")
		if err := os.WriteFile(objects, []byte(diffObjects+"---\n"+backends+secret), 0o600); err != nil {
			t.Fatal(err)
		}
		return run(t, "diff", "-f", objects, "-o", "json", "--backend", "bind")
	}
	changes := []string{"change new.example.org. A  > 192.0.2.5", "change ttl.example.org. A 192.0.2.2 > 192.0.2.2"}
	left := []string{"foreign a-dns.example.org. TXT prod", "foreign ns1.example.org. A",
		"foreign old.example.org. A staging", "foreign a.:dynamodb:.old.example.org. TXT staging"}
	for _, c := range []struct {
		more string
		want []string
	}{
		{"", append(append(changes[:2:2], "refused dns.example.org. A"), left[0],
			"foreign a.:dynamodb:.dns.example.org. TXT prod", left[1], left[2], left[3])},
		{", owner: prod", append([]string{"change dns.example.org. A 192.0.2.4 > 192.0.2.6",
			`change a.:dynamodb:.dns.example.org. TXT "heritage=external-dns,external-dns/owner=prod" > `, changes[0],
			changes[1]}, left...)},
	} {
		code, out, said := diff(c.more)
		var d diffResult
		if err := json.Unmarshal([]byte(out), &d); err != nil || code != 2 {
			t.Fatalf("it exits with %d and says %s: %v", code, said, err)
		}
		if got := d.told("bind"); cmp.Diff(c.want, got) != "" {
			t.Errorf("with %q (-want +got):\n%s", c.more, cmp.Diff(c.want, got))
		}
	}
	if err := table.Stop(); err != nil {
		t.Fatal(err)
	}
	if code, out, said := diff(""); code != 1 || !strings.Contains(out+said, "the table external-dns of DynamoDB") {
		t.Errorf("without the table it exits with %d and says %s%s", code, out, said)
	}
}

// TestAZoneIsImportedByATable has an external-dns that notes in a table what it owns, and in the zone what it owned
// before.
func TestAZoneIsImportedByATable(t *testing.T) {
	table, err := dynamodbtest.Start(t.Context(), "names", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = table.Stop() })
	table.Own("www.example.org#A#", "prod")
	table.Own("weighted.example.org#A#blue", "prod")
	table.Own("lab.example.org#A#", "lab")
	table.Own("www.example.com#A#", "prod")
	t.Setenv("AWS_ACCESS_KEY_ID", dynamodbtest.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", dynamodbtest.SecretAccessKey)
	zone := filepath.Join(t.TempDir(), "zone.db")
	if err := os.WriteFile(zone, []byte(`$TTL 300
@ SOA ns hostmaster 7 7200 900 1209600 300
www A 192.0.2.1
lab A 192.0.2.2
weighted A 192.0.2.3
moving A 192.0.2.4
a-moving TXT "heritage=external-dns,external-dns/owner=prod,external-dns/resource=service/web/moving"
`), 0o600); err != nil {
		t.Fatal(err)
	}
	imported := func() (int, string, string) {
		return run(t, "import", "file", zone, "--origin", "example.org", "--txt-owner-id", "prod", "--registry", "dynamodb",
			"--dynamodb-table", "names", "--dynamodb-endpoint", table.URL)
	}
	code, out, said := imported()
	if code != 0 {
		t.Fatalf("it exits with %d and says %s", code, said)
	}
	for _, c := range []struct {
		name string
		told string // "": it is imported
	}{
		{"www", ""},
		{"moving", ""},
		{"lab", `lab.example.org. A: it is not imported: the external-dns "lab" owns it, as the table names in DynamoDB says`},
		{"weighted", `weighted.example.org. A: it is not imported: the external-dns "prod (set identifier blue)" owns it`},
	} {
		is := strings.Contains(out, "domainName: "+c.name+".example.org.\n")
		if is != (c.told == "") || !strings.Contains(said, c.told) {
			t.Errorf("%s: imported is %t; it says\n%s", c.name, is, said)
		}
	}
	if n := strings.Count(out, "kind: Record\n"); n != 2 {
		t.Errorf("%d Records are written, of 2", n)
	}
	if err := table.Stop(); err != nil {
		t.Fatal(err)
	}
	if code, out, said := imported(); code != 1 || out != "" || !strings.Contains(said, "the table names of DynamoDB") {
		t.Errorf("without the table it exits with %d and says %s; it writes %q", code, said, out)
	}
}
