package googleclouddns

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/googleclouddns/clouddnstest"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func set(t testing.TB, owner string, typ rr.Type, ttl uint32, data ...string) rr.Set {
	t.Helper()
	for i, d := range data {
		var err error
		if data[i], err = rr.ParseData(typ, d); err != nil {
			t.Fatal(err)
		}
	}
	return rr.NewSet(rr.Key{Name: parse(t, owner), Type: typ}, ttl, data...)
}

func www(t testing.TB, data ...string) rr.Set {
	return set(t, "www.example.org.", rr.TypeA, 300, data...)
}

func put(s rr.Set) plan.Change { return plan.Change{Key: s.Key(), Want: s} }

func TestAnswers(t *testing.T) {
	said := func(reason, message string) string {
		return fmt.Sprintf(`{"error":{"code":1,"message":%q,"errors":[{"reason":%q,"message":"m"}]}}`, message, reason)
	}
	for _, c := range []struct {
		name   string
		status int
		body   string
		class  backend.ErrorClass
		cause  backend.Cause
		after  time.Duration
	}{
		{"credentials that it does not know", 401, said("authError", "Invalid Credentials"), backend.ErrNotAuthorised,
			backend.CauseUnauthenticated, 0},
		{"a service account that may not", 403, said("forbidden", "Forbidden"), backend.ErrNotAuthorised,
			backend.CauseUnauthorised, 0},
		{"an API that is switched off", 403, said("accessNotConfigured", "Cloud DNS API has not been used"),
			backend.ErrNotAuthorised, backend.CauseUnauthorised, 0},
		{"too many calls", 403, said("rateLimitExceeded", "Queries per minute"), backend.ErrThrottled, "", 9 * time.Second},
		{"too many calls of one user", 403, said("userRateLimitExceeded", "Queries"), backend.ErrThrottled, "",
			9 * time.Second},
		{"too many calls, as a gateway says", 429, "", backend.ErrThrottled, "", 9 * time.Second},
		{"too many sets", 403, said("quotaExceeded", "quota"), backend.ErrRejected, backend.CauseQuota, 0},
		{"a zone that is not there", 404, said("notFound", "The 'parameters.managedZone' resource named 'x' does not exist."),
			backend.ErrNoZone, backend.CauseInvalid, 0},
		{"a set that is not there", 404, said("notFound",
			"The 'entity.change.deletions[0]' resource named 'x' does not exist."), backend.ErrConflict, "", 0},
		{"a set that is otherwise", 412, said("conditionNotMet", "Precondition not met for 'entity.change.deletions[0]'"),
			backend.ErrConflict, "", 0},
		{"a set that is there", 409, said("alreadyExists", "The resource 'entity.change.additions[0]' already exists"),
			backend.ErrConflict, "", 0},
		{"a set that is not valid", 400, said("invalid", "Invalid value for 'entity.change.additions[0]'"),
			backend.ErrRejected, "", 0},
		{"a failure of the service", 503, said("backendError", "Backend Error"), backend.ErrUnavailable, "", 0},
		{"a failure that says forbidden", 500, said("forbidden", "x"), backend.ErrUnavailable, "", 0},
		{"a page", 502, "<html>", backend.ErrUnavailable, "", 0},
		{"a redirect", 302, "", backend.ErrUnavailable, "", 0},
		{"an answer cut off", 200, `{"additions":[`, backend.ErrUnavailable, "", 0},
		{"a set with a name that is none", 200, `{"additions":[{"name":"a..b","type":"A"}]}`, backend.ErrUnavailable, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := serve(t)
			api := f.Config.Handler
			f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/changes") {
					api.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Retry-After", "9")
				w.Header().Set("Location", "http://192.0.2.1/")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			z := zoneOf(t, f, f.Document)
			_, err := z.Apply(t.Context(), z.name, backend.Batch{Changes: []plan.Change{put(www(t, "192.0.2.1"))}})
			e, ok := errors.AsType[*backend.Error](err)
			if !ok || e.Class != c.class || e.Cause != c.cause || e.After != c.after {
				t.Errorf("the error is %v: class %q, %+v", err, backend.Class(err), e)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	f := serve(t)
	c := client(t, f, f.Document)
	for range 3 {
		if _, err := c.HostedZones(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if f.Tokens != 1 {
		t.Errorf("three calls took %d tokens", f.Tokens)
	}
	other := *f.Key
	other.E = 3 // a key that was deleted
	f.Key = &other
	_, err := client(t, f, f.Document).HostedZones(t.Context())
	e, ok := errors.AsType[*backend.Error](err)
	if !ok || e.Class != backend.ErrNotAuthorised || e.Cause != backend.CauseUnauthenticated ||
		!strings.Contains(err.Error(), "Invalid JWT Signature") {
		t.Errorf("a key that was deleted: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "PRIVATE") {
		t.Error("the error shows the key")
	}
	f.Down = true
	if _, err := client(t, f, f.Document).HostedZones(t.Context()); backend.Class(err) != backend.ErrUnavailable {
		t.Errorf("a server of tokens that does not answer: %v", err)
	}
}

func TestSecrets(t *testing.T) {
	good := clouddnstest.Document(clouddnstest.NewKey(), nil)
	without := func(field, value string) string {
		return clouddnstest.Document(clouddnstest.NewKey(), func(d map[string]string) { d[field] = value })
	}
	for _, c := range []struct {
		name    string
		data    map[string]string
		options map[string]string
		err     string
	}{
		{"a document", map[string]string{"serviceaccount.json": good}, nil, ""},
		{"a document with a line end", map[string]string{"serviceaccount.json": good + "\n"}, nil, ""},
		{"another place", map[string]string{"serviceaccount.json": good}, map[string]string{"endpoint": "http://x",
			"tokenEndpoint": "http://y"}, ""},
		{"nothing", map[string]string{"key": "s3cret"}, nil, "no value for serviceaccount.json"},
		{"no JSON", map[string]string{"serviceaccount.json": "s3cret"}, nil, "not a JSON document"},
		{"another type", map[string]string{"serviceaccount.json": without("type", "authorized_user")}, nil,
			"type is not service_account"},
		{"no project", map[string]string{"serviceaccount.json": without("project_id", "")}, nil, "project_id"},
		{"a project that is a path", map[string]string{"serviceaccount.json": without("project_id", "../x")}, nil,
			"project_id"},
		{"no address", map[string]string{"serviceaccount.json": without("client_email", "")}, nil, "client_email"},
		{"a key that is none", map[string]string{"serviceaccount.json": without("private_key", "s3cret")}, nil, "not in PEM"},
		{"a key that cannot be read", map[string]string{"serviceaccount.json": without("private_key",
			"-----BEGIN PRIVATE KEY-----\nczNjcmV0\n-----END PRIVATE KEY-----\n")}, nil, "cannot be read"},
		{"a setting that nobody knows", map[string]string{"serviceaccount.json": good}, map[string]string{"project": "x"},
			"not a setting"},
	} {
		data := map[string][]byte{}
		for k, v := range c.data {
			data[k] = []byte(v)
		}
		cfg, err := FromSecret(data, "", c.options)
		if c.err == "" {
			if err != nil || cfg.ServiceAccount != c.data["serviceaccount.json"] || cfg.Endpoint != c.options["endpoint"] {
				t.Errorf("%s: %v", c.name, err)
			}
			if _, err := New(cfg); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "s3cret") ||
			strings.Contains(err.Error(), "czNjcmV0") {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
}

func TestAccounts(t *testing.T) {
	f := clouddnstest.Start(t, &dns.ManagedZone{Name: "inside", DnsName: "example.org.", Visibility: "private"},
		&dns.ManagedZone{Name: "outside", DnsName: "example.org.", Visibility: "public"},
		&dns.ManagedZone{Name: "elsewhere", DnsName: "corp.example.", ForwardingConfig: &dns.ManagedZoneForwardingConfig{}})
	for i := range 25 {
		f.Zones = append(f.Zones, &dns.ManagedZone{Name: fmt.Sprintf("z%d", i), DnsName: fmt.Sprintf("z%02d.example.", i)})
	}
	f.PageMax = 10
	c := client(t, f, f.Document)
	all, err := c.HostedZones(t.Context())
	if err != nil || len(all) != 27 {
		t.Fatalf("%d zones (%v), want 27", len(all), err)
	}
	all = slices.DeleteFunc(all, func(z backend.HostedZone) bool { return z.Name != parse(t, "example.org.") })
	if all[0].ID != clouddnstest.Project+"/outside" || all[0].Private || !all[1].Private ||
		all[0].Target == all[1].Target {
		t.Errorf("the public zone does not come before the private one: %+v", all[:2])
	}
	for id, class := range map[string]backend.ErrorClass{
		clouddnstest.Project + "/outside": "", "outside": "", "nothing": backend.ErrNoZone,
		"other-project/outside": backend.ErrNotAuthorised,
		"":                      backend.ErrNoZone, "../x": backend.ErrNoZone, "a/b/c": backend.ErrNoZone,
	} {
		z, err := c.HostedZone(t.Context(), id)
		if backend.Class(err) != class || class == "" && z != all[0] {
			t.Errorf("zone %q: %+v, %v", id, z, err)
		}
	}
	f.Throttle = "rateLimitExceeded"
	if _, err := c.HostedZones(t.Context()); !errors.Is(err, backend.ErrThrottled) {
		t.Errorf("too many calls: %v", err)
	}
}
