package route53

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/rr"
)

// aws is Amazon's own command, as Debian's package awscli has it: it shows that the server is not only what its author
// thinks Route 53 is.
func (r *rig) aws(args ...string) (string, error) {
	r.Helper()
	program := "/usr/bin/aws"
	if _, err := os.Stat(program); err != nil {
		if program, err = exec.LookPath("aws"); err != nil {
			r.Fatalf("the program aws is missing, which this test drives the server with: %v\n\tgo run ./hack/prerequisites",
				err)
		}
	}
	home := r.TempDir()
	cmd := exec.CommandContext(r.Context(), program,
		append([]string{"route53", "--endpoint-url", r.server.URL, "--output", "json"}, args...)...)
	cmd.Env = []string{
		"HOME=" + home, "PATH=/usr/bin:/bin", "AWS_ACCESS_KEY_ID=" + r.user.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" +
			r.user.SecretAccessKey,
		"AWS_DEFAULT_REGION=us-east-1", "AWS_PAGER=", "AWS_EC2_METADATA_DISABLED=true", "LC_ALL=C.UTF-8",
		"AWS_CONFIG_FILE=" + filepath.Join(home, "none"), "AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(home, "none"),
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must runs a command that has to work, and reads its answer.
func (r *rig) must(into any, args ...string) {
	r.Helper()
	out, err := r.aws(args...)
	if err == nil && into != nil {
		err = json.Unmarshal([]byte(out), into)
	}
	if err != nil {
		r.Fatalf("aws route53 %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func batchOf(action, name, kind, value string) string {
	b, err := json.Marshal(map[string]any{
		"Changes": []any{map[string]any{"Action": action, "ResourceRecordSet": map[string]any{
			"Name": name, "Type": kind, "TTL": 300, "ResourceRecords": []any{map[string]any{"Value": value}},
		}}}})
	if err != nil {
		panic(err) // strings have JSON
	}
	return string(b)
}

func TestAmazonsOwnCommandTakesTheServerForRoute53(t *testing.T) {
	t.Parallel()
	r := newRig(t, route53test.Options{Page: 3})
	for _, set := range []rr.Set{r.set("*", rr.TypeA, "192.0.2.1"), r.set("a", rr.TypeTXT, `"x \195\164"`),
		r.set("b", rr.TypeA, "192.0.2.1"), r.set("c", rr.TypeA, "192.0.2.1")} {
		if _, err := r.apply(put(set)); err != nil {
			t.Fatal(err)
		}
	}
	var zones struct {
		HostedZones []struct {
			ID   string `json:"Id"`
			Name string
		}
	}
	r.must(&zones, "list-hosted-zones")
	if len(zones.HostedZones) != 1 || zones.HostedZones[0].ID != "/hostedzone/"+r.id ||
		zones.HostedZones[0].Name != "example.org." {
		t.Errorf("the zones are %+v", zones)
	}
	r.must(&zones, "list-hosted-zones-by-name", "--dns-name", "example.org")
	var zone struct {
		HostedZone struct{ ResourceRecordSetCount int }
	}
	r.must(&zone, "get-hosted-zone", "--id", r.id)
	if len(zones.HostedZones) != 1 || zone.HostedZone.ResourceRecordSetCount != 6 {
		t.Errorf("by name there are %+v, with %+v", zones, zone)
	}
	var sets struct {
		ResourceRecordSets []struct {
			Name, Type      string
			ResourceRecords []struct{ Value string }
		}
	}
	r.must(&sets, "list-resource-record-sets", "--hosted-zone-id", r.id) // in pages of three, which it joins
	if len(sets.ResourceRecordSets) != 6 || sets.ResourceRecordSets[2].Name != `\052.example.org.` ||
		sets.ResourceRecordSets[3].ResourceRecords[0].Value != `"x \303\244"` {
		t.Errorf("the sets are %+v", sets)
	}
	var change struct {
		ChangeInfo struct {
			ID     string `json:"Id"`
			Status string
		}
	}
	r.must(&change, "change-resource-record-sets", "--hosted-zone-id", r.id, "--change-batch", batchOf("CREATE",
		"www.example.org", "CNAME", "x.example.net"))
	id := change.ChangeInfo.ID
	r.must(&change, "get-change", "--id", id)
	if change.ChangeInfo.Status != "INSYNC" {
		t.Errorf("the change is %+v", change)
	}
	found, err := r.zone.Read(t.Context(), r.zone.name, backend.Ask{})
	if got, _ := found.Sets.Get(rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeCNAME}); err != nil ||
		len(got.Data) != 1 || got.Data[0] != "x.example.net." {
		t.Errorf("what the command created is read as %v, %v", got, err)
	}
	for _, c := range []struct{ batch, want string }{
		{batchOf("CREATE", "www.example.org", "CNAME", "x.example.net"), "An error occurred (InvalidChangeBatch) when " +
			"calling the ChangeResourceRecordSets operation: [Tried to create resource record set [name='www.example.org.', " +
			"type='CNAME'] but it already exists]"},
		{batchOf("DELETE", "www.example.org", "CNAME", "y.example.net"),
			"but the values provided do not match the current values]"},
		{batchOf("DELETE", "none.example.org", "A", "192.0.2.1"),
			"[Tried to delete resource record set [name='none.example.org.', type='A'] but it was not found]"},
		{batchOf("UPSERT", "www.example.org", "A", "192.0.2.1"),
			"is not permitted because a conflicting RRSet of type CNAME"},
		{batchOf("UPSERT", "v.example.org", "A", "192.0.2.256"), "Value is not a valid IPv4 address"},
		{batchOf("UPSERT", "t.example.org", "TXT", "bare"), "Value should be enclosed in quotation marks"},
		{batchOf("UPSERT", "example.net", "A", "192.0.2.1"),
			"RRSet with DNS name example.net. is not permitted in zone example.org."},
	} {
		if out, err := r.aws("change-resource-record-sets", "--hosted-zone-id", r.id, "--change-batch",
			c.batch); err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v\n%s\nwant %q", c.batch, err, out, c.want)
		}
	}
	r.must(&change, "change-resource-record-sets", "--hosted-zone-id", r.id, "--change-batch", batchOf("DELETE",
		"www.example.org", "CNAME", "x.example.net"))
	if out, err := r.aws("get-hosted-zone", "--id", "Z0000000000"); err == nil || !strings.Contains(out,
		"(NoSuchHostedZone) when calling the GetHostedZone operation: No hosted zone found with ID: Z0000000000") {
		t.Errorf("a zone that is not there: %v\n%s", err, out)
	}
	r.user.SecretAccessKey, r.server = "wrong", serve(t, route53test.Options{})
	if out, err := r.aws("list-hosted-zones"); err == nil || !strings.Contains(out, "(InvalidClientTokenId)") {
		t.Errorf("a user that is not there: %v\n%s", err, out)
	}
}
