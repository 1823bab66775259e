package cloudflare

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/cloudflare/cloudflaretest"
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

func serve(t testing.TB) *cloudflaretest.Server {
	return cloudflaretest.Start(t, &cloudflaretest.Zone{ID: testID, Name: "example.org", Account: "a1"})
}

// apply makes one change.
func apply(t testing.TB, z *Zone, changes ...plan.Change) (backend.Result, error) {
	t.Helper()
	return z.Apply(t.Context(), z.name, backend.Batch{Changes: changes})
}

// holds checks what the service has of a zone.
func holds(t testing.TB, f *cloudflaretest.Server, want ...rr.Set) {
	t.Helper()
	truth := f.Truth(t, f.Zones[0])
	for _, w := range want {
		if got, _ := truth.Get(w.Key()); !got.Equal(w) {
			t.Errorf("the service holds %v, want %v", got, w)
		}
	}
	if truth.Len() != len(want) {
		t.Errorf("the service holds %d sets, want %d", truth.Len(), len(want))
	}
}

func TestAnswers(t *testing.T) {
	said := func(code, message string) string {
		return `{"success":false,"errors":[{"code":` + code + `,"message":"` + message + `"}],"messages":[],"result":null}`
	}
	for _, c := range []struct {
		name   string
		status int
		body   string
		class  backend.ErrorClass
		cause  backend.Cause
		after  time.Duration
	}{
		{"a token that it does not know", 403, said("9109", "Invalid access token"), backend.ErrNotAuthorised,
			backend.CauseUnauthenticated, 0},
		{"a token that is none", 400,
			`{"success":false,"errors":[{"code":6003,"message":"Invalid request headers","error_chain":[{"code":6111,"message":"Invalid format"}]}]}`,
			backend.ErrNotAuthorised, backend.CauseUnauthenticated, 0},
		{"an authentication error with a token that reads", 403, said("10000", "Authentication error"),
			backend.ErrNotAuthorised, backend.CauseUnauthorised, 0},
		{"one that is no refusal", 400, said("10000", "Authentication error"), backend.ErrNotAuthorised,
			backend.CauseUnauthenticated, 0},
		{"a token that may not", 403, said("9109", "Unauthorized to access requested resource"), backend.ErrNotAuthorised,
			backend.CauseUnauthorised, 0},
		{"forbidden without a code that is known", 403, said("4711", "no"), backend.ErrNotAuthorised,
			backend.CauseUnauthorised, 0},
		{"a status without a body", 401, "", backend.ErrNotAuthorised, backend.CauseUnauthenticated, 0},
		{"too many requests", 429, said("971", "slow down"), backend.ErrThrottled, "", 17 * time.Second},
		{"too many requests, from a proxy", 429, "<html>", backend.ErrThrottled, "", 17 * time.Second},
		{"a zone that is not there", 404, said("7003", "Could not route"), backend.ErrNoZone, backend.CauseInvalid, 0},
		{"a record that is not there", 404, said("81044", "Record does not exist."), backend.ErrConflict, "", 0},
		{"a record that is there", 400, said("81058", "An identical record already exists."), backend.ErrRejected, "", 0},
		{"a host that is taken", 400, said("81053", "A, AAAA or CNAME"), backend.ErrRejected, "", 0},
		{"a record that is not valid", 400, said("1004", "DNS Validation Error"), backend.ErrRejected, "", 0},
		{"too many records", 400, said("81045", "Record quota exceeded."), backend.ErrRejected, backend.CauseQuota, 0},
		{"a request too large", 413, "", backend.ErrRejected, "", 0},
		{"a failure of the service", 500, said("10000", "Authentication error"), backend.ErrUnavailable, "", 0},
		{"a page", 502, "<html>Bad gateway</html>", backend.ErrUnavailable, "", 0},
		{"a redirect", 307, "", backend.ErrUnavailable, "", 0},
		{"success that says it is none", 200, `{"success":false}`, backend.ErrUnavailable, "", 0},
		{"an answer cut off", 200, `{"success":true,"result":{"posts":[`, backend.ErrUnavailable, "", 0},
		{"a page instead of an answer", 200, "<html>", backend.ErrUnavailable, "", 0},
		{"fewer records than were sent", 200, `{"success":true,"result":{"posts":[]}}`, backend.ErrUnavailable, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.Method == http.MethodGet {
					io.WriteString(w, `{"success":true,"result":[],"result_info":{"total_count":0}}`)
					return
				}
				w.Header().Set("Retry-After", "17")
				w.Header().Set("Location", "http://192.0.2.1/")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}))
			defer s.Close()
			f := &cloudflaretest.Server{Server: s}
			_, err := apply(t, zoneOf(t, f, Config{Token: cloudflaretest.Token}),
				plan.Change{Key: rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA},
					Want: set(t, "www.example.org.", rr.TypeA, 300, "192.0.2.1")})
			e, ok := errors.AsType[*backend.Error](err)
			if !ok || e.Class != c.class || e.Cause != c.cause || e.After != c.after {
				t.Errorf("the error is %v: class %q, cause %q, after %v", err, backend.Class(err), e.Cause, e.After)
			}
			if err != nil && strings.Contains(err.Error(), cloudflaretest.Token) {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

func TestATokenThatDoesNotEvenReadIsNotKnown(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"success":false,"errors":[{"code":10000,"message":"Authentication error"}]}`)
	}))
	defer s.Close()
	f := &cloudflaretest.Server{Server: s}
	_, err := client(t, f, Config{Token: cloudflaretest.Token}).HostedZone(t.Context(), testID)
	if e, ok := errors.AsType[*backend.Error](err); !ok || e.Cause != backend.CauseUnauthenticated {
		t.Errorf("the error is %v", err)
	}
}

func TestSecrets(t *testing.T) {
	for _, c := range []struct {
		name    string
		data    map[string]string
		options map[string]string
		want    Config
		err     string
	}{
		{"the usual spelling", map[string]string{"CLOUDFLARE_API_TOKEN": "t"}, nil, Config{Token: "t"}, ""},
		{"the other spelling", map[string]string{"apiToken": "t"}, nil, Config{Token: "t"}, ""},
		{"proxied", map[string]string{"apiToken": "t"}, map[string]string{"proxied": "true"},
			Config{Token: "t", Proxied: true}, ""},
		{"not proxied", map[string]string{"apiToken": "t"}, map[string]string{"proxied": "false"}, Config{Token: "t"}, ""},
		{"perhaps proxied", map[string]string{"apiToken": "t"}, map[string]string{"proxied": "maybe"}, Config{},
			"must be true or false"},
		{"another place", map[string]string{"apiToken": "t"}, map[string]string{"endpoint": "http://x"},
			Config{Token: "t", Endpoint: "http://x"}, ""},
		{"a place in the Secret does not count", map[string]string{"apiToken": "t", "endpoint": "http://x"}, nil,
			Config{Token: "t"}, ""},
		{"no token", map[string]string{"token": "s3cret"}, nil, Config{}, "no value for CLOUDFLARE_API_TOKEN or apiToken"},
		{"a line end", map[string]string{"apiToken": "s3cret\n"}, nil, Config{}, "white space"},
		{"a setting that nobody knows", map[string]string{"apiToken": "s3cret"}, map[string]string{"proxy": "true"}, Config{},
			"proxy"},
	} {
		data := map[string][]byte{}
		for k, v := range c.data {
			data[k] = []byte(v)
		}
		cfg, err := FromSecret(data, "ignored", c.options)
		switch {
		case c.err == "" && (err != nil || cfg != c.want):
			t.Errorf("%s: %+v, %v", c.name, cfg, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "s3cret")):
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
	for _, cfg := range []Config{{}, {Token: "s3cret x"}, {Token: "s3cret\n"}, {Token: "t", Endpoint: "ftp://x"},
		{Token: "t", Endpoint: "https://u:s3cret@x"}} {
		if _, err := New(cfg); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("a client of %+v: %v", cfg, err)
		}
	}
}

func TestAccounts(t *testing.T) {
	const other, third = "00000000000000000000000000000001", "ffffffffffffffffffffffffffffff02"
	f := cloudflaretest.Start(t, &cloudflaretest.Zone{ID: other, Name: "example.org", Account: "a2", Status: "pending"},
		&cloudflaretest.Zone{ID: testID, Name: "example.org", Account: "a1"},
		&cloudflaretest.Zone{ID: third, Name: "inside.example", Account: "a1", Kind: "internal"})
	for i := range 70 {
		f.Zones = append(f.Zones, &cloudflaretest.Zone{ID: strings.Repeat("a", 29) +
			string([]byte{'0' + byte(i/25), 'a' + byte(i/5%5), 'a' + byte(i%5)}), Name: "z.example", Account: "a1"})
	}
	f.Tokens["one"] = cloudflaretest.Scope{Zones: []string{testID}, Read: true, Edit: true}
	f.Tokens["reader"] = cloudflaretest.Scope{Read: true}
	all, err := client(t, f, Config{Token: cloudflaretest.Token}).HostedZones(t.Context())
	if err != nil || len(all) != 73 {
		t.Fatalf("%d zones are listed (%v), want 73", len(all), err)
	}
	if all[0].ID != testID || all[1].ID != other || all[0].Target == all[1].Target {
		t.Errorf("of two zones with one name, the active one does not come first: %+v", all[:2])
	}
	if z, ok := backend.ZoneOf(all, parse(t, "www.example.org.")); !ok || z.ID != testID {
		t.Errorf("a name is put into %+v, which is not active", z)
	}
	if i := slices.IndexFunc(all, func(z backend.HostedZone) bool { return z.ID == third }); !all[i].Private ||
		all[0].Private {
		t.Error("the internal zone is not private, or another one is")
	}
	for _, id := range []string{testID, "/zones/" + testID} {
		z, err := client(t, f, Config{Token: "one"}).HostedZone(t.Context(), id)
		if err != nil || z != all[0] {
			t.Errorf("with a token for one zone, %s is %+v (%v)", id, z, err)
		}
	}
	for id, want := range map[string]backend.ErrorClass{
		other: backend.ErrNotAuthorised, "example.org": backend.ErrNoZone, "../../user": backend.ErrNoZone,
		"": backend.ErrNoZone,
	} {
		if _, err := client(t, f, Config{Token: "one"}).HostedZone(t.Context(), id); backend.Class(err) != want {
			t.Errorf("zone %q: %v, want %s", id, err, want)
		}
	}
	if _, err := client(t, f, Config{Token: cloudflaretest.Token}).HostedZone(t.Context(),
		strings.Repeat("0", 32)); !errors.Is(err, backend.ErrNoZone) {
		t.Errorf("a zone that is not there: %v", err)
	}
	_, err = apply(t, zoneOf(t, f, Config{Token: "reader"}),
		plan.Change{Key: rr.Key{Name: parse(t, "a.example.org."), Type: rr.TypeA},
			Want: set(t, "a.example.org.", rr.TypeA, 300, "192.0.2.1")})
	if !errors.Is(err, backend.ErrNotAuthorised) || !strings.Contains(err.Error(), "DNS Edit") {
		t.Errorf("a token that may only read: %v", err)
	}
}

func TestTheRate(t *testing.T) {
	f := serve(t)
	cfg := Config{Token: cloudflaretest.Token, Endpoint: f.URL + "/client/v4"}
	c, err := newClient(cfg, rate.NewLimiter(rate.Every(time.Hour), 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.HostedZones(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := c.HostedZones(ctx); !errors.Is(err, backend.ErrThrottled) || len(f.Calls) != 1 {
		t.Errorf("a call above the rate: %v after %d calls", err, len(f.Calls))
	}
}
