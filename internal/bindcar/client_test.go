package bindcar

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func (f *fixture) client(token string) *Client {
	return &Client{BaseURL: f.url, Token: func() (string, error) { return token, nil }}
}

func TestClient(t *testing.T) {
	f := newFixture(t, nil)
	c, ctx := f.client(testToken), t.Context()
	serial := uint32(41)
	key := "bindy-operator"
	zone := CreateZone{ZoneName: "a.test", ZoneType: Primary, UpdateKeyName: &key, ZoneConfig: ZoneConfig{
		TTL: 300, SOA: SOA{PrimaryNS: "ns.other.test.", AdminEmail: "admin.a.test.", Serial: &serial}, NameServers: []string{
			"ns.other.test."},
		Records: []Record{{Name: "www", Type: "A", Value: "192.0.2.1"}},
	}}
	for i, want := range []bool{true, false} {
		if created, err := c.Create(ctx, zone); created != want || err != nil {
			t.Errorf("call %d to create is answered %t, %v", i, created, err)
		}
	}
	if info, err := c.Zone(ctx, "a.test"); err != nil || info.Serial == nil || *info.Serial != serial ||
		info.ZoneType != Primary {
		t.Errorf("the zone is %+v, %v", info, err)
	}
	if zones, err := c.Zones(ctx); err != nil || !slices.Equal(zones, []string{"a.test"}) {
		t.Errorf("the zones are %v, %v", zones, err)
	}
	if err := c.Modify(ctx, "a.test", ModifyZone{AlsoNotify: &[]string{"192.0.2.1:5353"}}); err != nil {
		t.Error(err)
	}
	f.shows("a.test", "also-notify { 192.0.2.1 port 5353; }")
	for _, command := range []string{"freeze", "reload", "thaw", "notify"} {
		if err := c.Command(ctx, command, "a.test"); err != nil {
			t.Error(err)
		}
	}
	if status, err := c.Status(ctx, "a.test"); err != nil || !strings.Contains(*status.Details, "type: primary") {
		t.Errorf("the status is %+v, %v", status, err)
	}
	if err := c.Declare(ctx, []string{"a.test", "b.test"}); err != nil {
		t.Error(err)
	}
	if content, err := c.Content(ctx); err != nil || !content.Declared || len(content.Zones) != 2 {
		t.Errorf("the content is %+v, %v", content, err)
	}
	if r, err := c.Ready(ctx); err != nil || r.Ready ||
		!strings.Contains(strings.Join(r.Checks, " "), "1 of 2 not loaded") {
		t.Errorf("it is ready: %+v, %v", r, err)
	}
	if err := c.Declare(ctx, nil); err != nil {
		t.Error(err)
	}
	if r, err := c.Ready(ctx); err != nil || !r.Ready {
		t.Errorf("it is ready: %+v, %v", r, err)
	}
	want := KeyStatus{Name: "bindy-operator", ID: testKey("bindy-operator").ID(), Control: true, DNS: true}
	if list, err := c.Keys(ctx); err != nil || len(list.Keys) != 1 || list.Keys[0] != want {
		t.Errorf("the keys are %+v, %v", list, err)
	}
	for range 2 {
		if err := c.Delete(ctx, "a.test"); err != nil {
			t.Error(err)
		}
	}
}

// TestALateClient asks, and changes nothing, when somebody else may lead.
func TestALateClient(t *testing.T) {
	f := newFixture(t, nil)
	ctx := t.Context()
	zone := CreateZone{ZoneName: "a.test", ZoneType: Primary, ZoneConfig: ZoneConfig{
		SOA: SOA{PrimaryNS: "ns.other.test.", AdminEmail: "admin.a.test."}, NameServers: []string{"ns.other.test."}}}
	leads := true
	c := f.client(testToken)
	c.Leads = func() bool { return leads }
	if created, err := c.Create(ctx, zone); !created || err != nil {
		t.Fatal(created, err)
	}
	leads = false
	for what, do := range map[string]func() error{
		"Create": func() error {
			other := zone
			other.ZoneName = "b.test"
			_, err := c.Create(ctx, other)
			return err
		},
		"Modify":  func() error { return c.Modify(ctx, "a.test", ModifyZone{AlsoNotify: &[]string{"192.0.2.1"}}) },
		"Command": func() error { return c.Command(ctx, "reload", "a.test") },
		"Declare": func() error { return c.Declare(ctx, []string{"b.test"}) },
		"Delete":  func() error { return c.Delete(ctx, "a.test") },
	} {
		if err := do(); !errors.Is(err, ErrNotLeading) {
			t.Errorf("%s of who leads no more comes to %v", what, err)
		}
	}
	if zones, err := c.Zones(ctx); err != nil || !slices.Equal(zones, []string{"a.test"}) {
		t.Errorf("the zones are %v, %v", zones, err)
	}
	if settings, err := c.Settings(ctx, "a.test"); err != nil || len(settings.AlsoNotify) > 0 {
		t.Errorf("the zone is %+v, %v", settings, err)
	}
	if content, err := c.Content(ctx); err != nil || content.Declared {
		t.Errorf("the content is %+v, %v", content, err)
	}
}

// TestClientErrors has every class, from a real server.
func TestClientErrors(t *testing.T) {
	f := newFixture(t, func(s *Settings) { s.Limit.Burst, s.Limit.Requests = 4, 1 })
	ctx := t.Context()
	gone := &Client{BaseURL: "http://127.0.0.1:1"}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, test := range []struct {
		name  string
		call  func() error
		class error
		text  string
	}{
		{"a zone that is not there", func() error {
			_, err := f.client(testToken).Zone(ctx, "none.test")
			return err
		}, ErrNotFound, "asking about zone none.test at " + f.url +
			": there is no such zone: HTTP 404: Zone not found: none.test"},
		{"a name that is none", func() error { _, err := f.client(testToken).Zone(ctx, "a;b"); return err }, ErrInvalid,
			"HTTP 400: Invalid request: the zone name"},
		{"a wrong token", func() error { _, err := f.client("x").Zones(ctx); return err }, ErrUnauthorized,
			"HTTP 401: Unauthorized"},
		{"no token", func() error {
			c := f.client("")
			c.Token = func() (string, error) { return "", errors.New("no file") }
			return c.Declare(ctx, nil)
		}, ErrUnauthorized, "no file"},
		{"a context that has ended", func() error { return f.client(testToken).Delete(ended, "a.test") }, context.Canceled,
			""},
		{"a server that is not there", func() error { return gone.Delete(ctx, "a.test") }, ErrUnavailable,
			"connection refused"},
		{"a command that is none", func() error { return f.client(testToken).Command(ctx, "eat", "a.test") },
			ErrNotFound, ""},
		{"the last of a burst", func() error { _, err := f.client(testToken).Zones(ctx); return err }, nil, ""},
		{"too many requests", func() error { _, err := f.client(testToken).Zones(ctx); return err }, ErrThrottled,
			"HTTP 429: Too Many Requests!"},
	} {
		err := test.call()
		if !errors.Is(err, test.class) || err != nil && !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.name, err)
		}
		var answer *Error
		if errors.Is(test.class, ErrThrottled) && (!errors.As(err, &answer) || answer.RetryAfter < time.Second ||
			answer.RetryAfter > time.Minute) {
			t.Errorf("%s: retry after %+v", test.name, answer)
		}
	}
}

// TestClientTakesOtherForms has answers that our server does not give, but others may.
func TestClientTakesOtherForms(t *testing.T) {
	var status int
	var location, body string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer other.Close()
	c, ctx := &Client{BaseURL: other.URL + "/"}, t.Context()
	for _, test := range []struct {
		name    string
		status  int
		body    string
		created bool
		class   error
	}{
		{"200, as the document's path answers", 200, `{"success":true,"message":""}`, true, nil},
		{"409", 409, `{"error":"Zone already exists: a.test","details":null}`, false, nil},
		{"500", 500, `{"error":"Internal server error","details":null}`, false, ErrUnavailable},
		{"403", 403, ``, false, ErrUnauthorized},
		{"302", 302, ``, false, ErrUnavailable},
		{"429 without a time", 429, `wait`, false, ErrThrottled},
	} {
		status, body, location = test.status, test.body, "http://127.0.0.1:1/"
		if created, err := c.Create(ctx, CreateZone{ZoneName: "a.test"}); created != test.created ||
			!errors.Is(err, test.class) {
			t.Errorf("%s: %t, %v", test.name, created, err)
		}
	}
	status, body = 200, strings.Repeat("x", maxAnswer+1)
	if _, err := c.Zones(ctx); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "more than") {
		t.Errorf("an endless answer: %v", err)
	}
	status, body = 200, "<html>"
	if _, err := c.Zones(ctx); !errors.Is(err, ErrUnavailable) {
		t.Errorf("an answer that is no JSON: %v", err)
	}
}
