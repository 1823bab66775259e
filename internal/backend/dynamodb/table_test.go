package dynamodb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/dynamodb/dynamodbtest"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestItemsAreReadAsExternalDNSWritesThem has the owners of sets by items.
func TestItemsAreReadAsExternalDNSWritesThem(t *testing.T) {
	f := registry.InTable("t")
	r := registry.Registry{Formats: []registry.Format{f}, Owners: []string{"prod"}}
	for _, c := range []struct {
		key, owner, set, claim string // "": nobody's
		ours                   bool
	}{
		{"www.example.org#A#", "prod", "www.example.org. A", "prod", true},
		{"www.example.org#A#", "staging", "www.example.org. A", "staging", false},
		{"www.example.org#A#", "prod", "www.example.org. AAAA", "", false},
		{"www.example.org#A#", "prod", "a-www.example.org. A", "", false},
		{"www.example.org#AAAA#", "prod", "www.example.org. AAAA", "prod", true},
		{"www.example.org#CNAME#", "prod", "www.example.org. CNAME", "prod", true},
		{"example.org#A#", "prod", "example.org. A", "prod", true},
		{"*.example.org#A#", "prod", "*.example.org. A", "prod", true},
		{"*.example.org#A#", "prod", "www.example.org. A", "", false},
		{"_sip._tcp.example.org#SRV#", "prod", "_sip._tcp.example.org. SRV", "prod", true},
		{"a-b.example.org#TXT#", "prod", "a-b.example.org. TXT", "prod", true},
		{"WWW.Example.org#A#", "prod", "www.example.org. A", "prod", true},
		{"www.example.org#A#blue", "prod", "www.example.org. A", "prod (set identifier blue)", false},
		{"www.example.org#A#a#b,c", "prod", "www.example.org. A", "prod (set identifier a#b?c)", false},
		{"www.example.org#A#", "", "www.example.org. A", "", false},
		{"www.example.org#A#", "a=b c", "www.example.org. A", "a=b c", false},
		{"www.example.org", "prod", "www.example.org. A", "", false},
		{"www..example.org#A#", "prod", "www.example.org. A", "", false},
	} {
		x := newIndex("t", []item{{c.key, c.owner}})
		name, kind, _ := strings.Cut(c.set, " ")
		typ, err := rr.ParseType(kind)
		if err != nil {
			t.Fatal(err)
		}
		k := rr.Key{Name: parse(t, name), Type: typ}
		claims := r.Claims(x.notes, k)
		switch {
		case c.claim == "" && c.owner != "" && len(claims) > 0:
			t.Errorf("%s of %q gives %s to %v", c.key, c.owner, k, claims)
		case c.claim == "" && c.owner != "":
		case len(claims) != 1 || claims[0].Owner != c.claim || claims[0].Table != "t" || r.Ours(claims[0]) != c.ours:
			t.Errorf("%s of %q gives %s to %+v, want %q", c.key, c.owner, k, claims, c.claim)
		}
		if note, ok := x.note(k); ok {
			if about, ok := registry.AboutInTable(note); !ok || about != k {
				t.Errorf("the note about %s is about %s", k, about)
			}
			if i, _, ok := (item{key: keyOf(k)}).about(); !ok || i != k {
				t.Errorf("the item of %s is about %s", k, i)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	injected := func(status int, code, message string) func(*dynamodbtest.Server, *Config) {
		return func(s *dynamodbtest.Server, _ *Config) {
			s.Inject(func(string) *dynamodbtest.Error {
				return &dynamodbtest.Error{Status: status, Code: code, Message: message}
			})
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(*dynamodbtest.Server, *Config)
		class backend.ErrorClass
		cause backend.Cause
		words string
	}{
		{"no such table", func(_ *dynamodbtest.Server, c *Config) { c.Table = "other" }, backend.ErrUnavailable,
			backend.CauseInvalid, "ResourceNotFoundException: Requested resource not found (unavailable): reading the " +
				"registry of external-dns in the table other of DynamoDB, which is needed to write: the table does not " +
				"exist in the region eu-west-1; create it"},
		{"a wrong key", func(_ *dynamodbtest.Server, c *Config) { c.Account.SecretAccessKey = "s3cret" },
			backend.ErrNotAuthorised, backend.CauseUnauthenticated, "correct the credentials in the Secret"},
		{"somebody unknown", func(_ *dynamodbtest.Server, c *Config) { c.Account.AccessKeyID = "AKIAOTHER" },
			backend.ErrNotAuthorised, backend.CauseUnauthenticated, "The security token included in the request is invalid."},
		{"no rights", injected(400, "AccessDeniedException", "not authorized"), backend.ErrNotAuthorised,
			backend.CauseUnauthorised, "allow the credentials dynamodb:Scan"},
		{"the table's capacity", injected(400, "ProvisionedThroughputExceededException", "The level of configured"),
			backend.ErrThrottled, "", "give the table more capacity"},
		{"the account's rate", injected(400, "ThrottlingException", "Rate exceeded"), backend.ErrThrottled, "",
			"Rate exceeded"},
		{"a failure", injected(500, "InternalServerError", "oh"), backend.ErrUnavailable, "", "InternalServerError: oh"},
		{"a mistake of ours", injected(400, "ValidationException", "no"), backend.ErrRejected, backend.CauseInvalid, "no"},
		{"a table of something else", func(s *dynamodbtest.Server, _ *Config) {
			s.Put(dynamodbtest.Item{"id": dynamodbtest.Text("1")})
		}, backend.ErrRejected, backend.CauseInvalid, "the table is not one of external-dns"},
		{"nobody there", func(s *dynamodbtest.Server, _ *Config) { _ = s.Stop() }, backend.ErrUnavailable, "", "dial tcp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t)
			cfg := access(s)
			c.spoil(s, &cfg)
			err := open(t, cfg).read(t.Context())
			e, ok := errors.AsType[*backend.Error](err)
			if !ok || e.Class != c.class || e.Cause != c.cause || !strings.Contains(err.Error(), c.words) ||
				!strings.Contains(err.Error(), "the table "+cfg.Table) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v, %+v; want %s, %s with %q", err, e, c.class, c.cause, c.words)
			}
		})
	}
}

func TestAnswersOfSomethingElse(t *testing.T) {
	for _, c := range []struct {
		name, body string
		status     int
		class      backend.ErrorClass
		words      string
	}{
		{"a page", "<html>", 200, backend.ErrUnavailable, "cannot be read"},
		{"half an answer", `{"Items":[`, 200, backend.ErrUnavailable, "cannot be read"},
		{"a proxy that refuses", "<html>", 403, backend.ErrNotAuthorised, "403"},
		{"a proxy that is busy", "", 429, backend.ErrThrottled, "429"},
		{"a gateway", "", 502, backend.ErrUnavailable, "502"},
		{"a redirect", "", 302, backend.ErrUnavailable, "redirect"},
		{"pages without an end", `{"Items":[],"LastEvaluatedKey":{"k":{"S":"a"}}}`, 200, backend.ErrUnavailable, "but not where they start"},
		{"more of what cannot be named", `{"Items":[],"LastEvaluatedKey":{"x":{"S":"a"}}}`, 200, backend.ErrUnavailable,
			"but not where they start"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://192.0.2.1/")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		cfg := access(&dynamodbtest.Server{URL: s.URL})
		err := open(t, cfg).read(t.Context())
		if backend.Class(err) != c.class || !strings.Contains(fmt.Sprint(err), c.words) {
			t.Errorf("%s: %v, want %s with %q", c.name, err, c.class, c.words)
		}
		s.Close()
	}
}

// TestATableThatIsTooLarge is read no further than its budget.
func TestATableThatIsTooLarge(t *testing.T) {
	s := serve(t)
	s.Page = 10
	for i := range 1000 {
		s.Own(fmt.Sprintf("name%d.example.org#A#", i), "prod")
	}
	table := open(t, access(s))
	table.most = 5000 // octets
	err := table.read(t.Context())
	if backend.Class(err) != backend.ErrTooLarge || !strings.Contains(err.Error(), "see which records the server has") {
		t.Errorf("it is read: %v", err)
	}
	if pages := s.Count("Scan"); pages > 30 {
		t.Errorf("%d pages were read", pages)
	}
	table.most = mostTable
	if err := table.read(t.Context()); err != nil || table.index.notes.Len() != 1000 {
		t.Errorf("%d items, %v", table.index.notes.Len(), err)
	}
}

// TestThoseWhoAskAtOnceShareAScan that began after they asked.
func TestThoseWhoAskAtOnceShareAScan(t *testing.T) {
	s := serve(t)
	table := open(t, access(s))
	release := make(chan struct{})
	s.Inject(func(string) *dynamodbtest.Error { <-release; return nil })
	var readers sync.WaitGroup
	for range 50 {
		readers.Go(func() {
			if err := table.read(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if err := table.read(impatient); backend.Class(err) != backend.ErrUnavailable {
		t.Errorf("who does not wait: %v", err)
	}
	close(release)
	readers.Wait()
	if n := s.Count("Scan"); n > 25 {
		t.Errorf("50 readers had %d scans", n)
	}
	before := s.Count("Scan")
	if err := table.read(t.Context()); err != nil || s.Count("Scan") != before+1 {
		t.Errorf("who asks later has no scan of its own: %v", err)
	}
}

func TestSecrets(t *testing.T) {
	keys := map[string][]byte{"AWS_ACCESS_KEY_ID": []byte("id"), "AWS_SECRET_ACCESS_KEY": []byte("s3cret"),
		"AWS_REGION": []byte("eu-west-1")}
	cfg, err := FromSecret(keys, "", "t.a-b_c", map[string]string{"endpoint": "http://x/"})
	if err != nil || cfg.Account.Region != "eu-west-1" || cfg.Account.Endpoint != "http://x" || cfg.UsesSurroundings() {
		t.Errorf("%v, %v", cfg.Account.Region, err)
	}
	for _, table := range []string{"", "ab", `a"b`, "a b c", strings.Repeat("a", 256)} {
		if _, err := FromSecret(keys, "", table, nil); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the table %q: %v", table, err)
		}
	}
	if cfg, err := FromSecret(nil, "cn-north-1", "table", nil); err != nil || !cfg.UsesSurroundings() {
		t.Errorf("without a Secret: %v", err)
	}
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	for region, want := range map[string]string{"eu-north-1": "", "": "its region is missing"} {
		t.Setenv("AWS_REGION", region) // as a Pod has it whose account has a role
		cfg, err := FromSecret(nil, "", "table", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := newClient(cfg, time.Now); err == nil && (want != "" || c.region != region) ||
			err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("where the surroundings name the region %q: %v", region, err)
		}
	}
	for region, url := range map[string]string{"eu-west-1": "https://dynamodb.eu-west-1.amazonaws.com",
		"cn-north-1": "https://dynamodb.cn-north-1.amazonaws.com.cn"} {
		cfg.Account.Region, cfg.Account.Endpoint = region, ""
		if c, err := newClient(cfg, time.Now); err != nil || c.url != url {
			t.Errorf("in %s: %v", region, err)
		}
	}
}

// TestAmazonsOwnCommandTakesTheServerForDynamoDB shows that the server is not only what its author thinks DynamoDB is.
func TestAmazonsOwnCommandTakesTheServerForDynamoDB(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("aws")
	if err != nil {
		t.Fatalf("the program aws is missing, which this test drives the server with: %v\n\tgo run ./hack/prerequisites", err)
	}
	s, home := serve(t), t.TempDir()
	s.Page = 2
	aws := func(secret string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), program,
			append([]string{"dynamodb", "--endpoint-url", s.URL, "--output", "json"}, args...)...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "AWS_ACCESS_KEY_ID=" + dynamodbtest.AccessKeyID,
			"AWS_SECRET_ACCESS_KEY=" + secret, "AWS_DEFAULT_REGION=eu-west-1", "AWS_PAGER=", "LC_ALL=C.UTF-8",
			"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=" + filepath.Join(home, "none"),
			"AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(home, "none")}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	table := open(t, access(s))
	if err := table.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	var statements []statement
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		k := address(t, name, "").Key()
		note, _ := table.index.note(k)
		statements = append(statements, table.insertion(note, item{keyOf(k), "prod"}))
	}
	added := func(has []item, i item) []item { return append(has, i) }
	if err := table.execute(t.Context(), statements, added); err != nil {
		t.Fatal(err)
	}
	out, err := aws(dynamodbtest.SecretAccessKey, "scan", "--table-name", tableOfTests,
		"--filter-expression", "o = :ownerval", "--expression-attribute-values", `{":ownerval":{"S":"prod"}}`, "--projection-expression", "k,o,l", "--consistent-read")
	var scanned struct {
		Items []dynamodbtest.Item
	}
	if wrong := json.Unmarshal([]byte(out), &scanned); err != nil || wrong != nil || len(scanned.Items) != 5 ||
		*scanned.Items[4]["k"].S != "e.example.org#A#" || *scanned.Items[4]["o"].S != "prod" ||
		scanned.Items[4]["l"].M == nil {
		t.Errorf("the items are %s, %v", out, err)
	}
	if out, err := aws(dynamodbtest.SecretAccessKey, "describe-table", "--table-name", tableOfTests); err != nil ||
		!strings.Contains(out, `"KeyType": "HASH"`) {
		t.Errorf("the table is %s, %v", out, err)
	}
	one := `[{"Statement":"DELETE FROM \"external-dns\" WHERE \"k\"=? AND \"o\"=?","Parameters":[{"S":"a.example.org#A#"},` +
		`{"S":"%s"}]}]`
	for _, c := range []struct{ owner, words string }{
		{"staging", `"Code": "ConditionalCheckFailed"`}, // first: it is there
		{"prod", `"TableName"`},
	} {
		if out, err := aws(dynamodbtest.SecretAccessKey, "batch-execute-statement", "--statements",
			fmt.Sprintf(one, c.owner)); err != nil || !strings.Contains(out, c.words) {
			t.Errorf("deleting what is of %s: %s, %v", c.owner, out, err)
		}
	}
	for _, c := range []struct{ secret, table, words string }{
		{dynamodbtest.SecretAccessKey, "other", "(ResourceNotFoundException) when calling the Scan operation"},
		{"wrong", tableOfTests, "(InvalidSignatureException) when calling the Scan operation"},
	} {
		if out, err := aws(c.secret, "scan", "--table-name", c.table); err == nil || !strings.Contains(out, c.words) {
			t.Errorf("%s, %v; want %q", out, err, c.words)
		}
	}
}
