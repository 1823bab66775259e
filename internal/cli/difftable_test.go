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
