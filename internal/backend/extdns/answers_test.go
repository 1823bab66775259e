package extdns

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/extdns/extdnstest"
	"github.com/zonefold/zonefold/internal/endpoint"
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

func put(s rr.Set) plan.Change { return plan.Change{Key: s.Key(), Want: s} }

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header string
		class  backend.ErrorClass
		text   string
		after  time.Duration
	}{
		{"as the protocol has it", 204, "", "", "", 0},
		{"success that is not the protocol's", 200, "", backend.ErrUnavailable, "instead of 204", 0},
		{"accepted for later", 202, "", backend.ErrUnavailable, "instead of 204", 0},
		{"a redirect", 302, "", backend.ErrUnavailable, "redirect", 0},
		{"a change that is refused", 400, "", backend.ErrRejected, "some words", 0},
		{"a change that is refused for what it says", 422, "", backend.ErrRejected, "some words", 0},
		{"changes that are too large", 413, "", backend.ErrRejected, "413", 0},
		{"no credentials", 401, "", backend.ErrNotAuthorised, "401", 0},
		{"credentials that do not suffice", 403, "", backend.ErrNotAuthorised, "403", 0},
		{"another place", 404, "", backend.ErrUnavailable, "URL is wrong", 0},
		{"too many calls", 429, "5", backend.ErrThrottled, "429", 5 * time.Second},
		{"busy until", 503, "6", backend.ErrThrottled, "503", 6 * time.Second},
		{"busy", 503, "", backend.ErrUnavailable, "503", 0},
		{"a gateway without its server", 502, "", backend.ErrUnavailable, "502", 0},
		{"an error of whatever kind, from a server that is well otherwise", 500, "", backend.ErrRejected, "some words", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := extdnstest.Start(t, "example.org")
			f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", endpoint.MediaType)
				switch r.Method + r.URL.Path {
				case "GET/p":
					io.WriteString(w, `{"include":["example.org"]}`)
				case "GET/p/records":
					io.WriteString(w, `[]`)
				case "POST/p/adjustendpoints":
					io.Copy(w, r.Body)
				default:
					w.Header().Set("Retry-After", c.header)
					w.Header().Set("Location", "http://192.0.2.1/")
					w.WriteHeader(c.status)
					if c.status != 204 {
						io.WriteString(w, "some words")
					}
				}
			})
			z, _ := zoneOf(t, f, Config{Header: "X-Key: s3cret"})
			_, err := z.Apply(t.Context(), z.name,
				backend.Batch{Changes: []plan.Change{put(set(t, "a.example.org.", rr.TypeA, 300, "192.0.2.1"))}})
			if backend.Class(err) != c.class || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v, want %s with %q", err, c.class, c.text)
			}
			if e, ok := errors.AsType[*backend.Error](err); ok && e.After != c.after ||
				err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v says to wait for %v", err, e.After)
			}
		})
	}
}

func TestNegotiation(t *testing.T) {
	for _, c := range []struct {
		name, typ, body string
		zones           string
		want            []string
		class           backend.ErrorClass
	}{
		{"a list", endpoint.MediaType, `{"include":["example.org","sub.example.org",".dot.example"]}`, "", []string{"dot.example.",
			"example.org.", "sub.example.org."}, ""},
		{"a list as the protocol's description has it", endpoint.MediaType, `{"filters":["example.org"]}`, "",
			[]string{"example.org."}, ""},
		{"a list with exceptions", endpoint.MediaType, `{"include":["example.org","sub.example.org"],"exclude":["sub.example.org"]}`,
			"", []string{"example.org."}, ""},
		{"a media type with white space", "application/external.dns.webhook+json; version=1", `{"include":["example.org"]}`,
			"", []string{"example.org."}, ""},
		{"nothing", endpoint.MediaType, `{}`, "", nil, backend.ErrNoZone},
		{"nothing, with zones set", endpoint.MediaType, `{}`, "a.example, b.example.", []string{"a.example.", "b.example."}, ""},
		{"an expression", endpoint.MediaType, `{"regexInclude":"\\.example$"}`, "a.example", []string{"a.example."}, ""},
		{"an expression that leaves the zone out", endpoint.MediaType, `{"regexInclude":".","regexExclude":"^a"}`, "a.example", nil,
			backend.ErrNoZone},
		{"a list without the zone that is set", endpoint.MediaType, `{"include":["example.org"]}`, "other.example", nil,
			backend.ErrNoZone},
		{"a zone that is set below one of the list", endpoint.MediaType, `{"include":["example.org"]}`, "sub.example.org", []string{
			"sub.example.org."}, ""},
		{"an expression that is none", endpoint.MediaType, `{"regexInclude":"("}`, "a.example", nil, backend.ErrUnavailable},
		{"another version", "application/external.dns.webhook+json;version=2", `{"include":["example.org"]}`, "", nil,
			backend.ErrUnavailable},
		{"a page", "text/html", `<html>`, "", nil, backend.ErrUnavailable},
		{"half an answer", endpoint.MediaType, `{"include":[`, "", nil, backend.ErrUnavailable},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", c.typ)
			io.WriteString(w, c.body)
		}))
		cl, _ := client(t, &extdnstest.Server{Server: s}, Config{Zones: c.zones})
		zones, err := cl.HostedZones(t.Context())
		var names []string
		for _, z := range zones {
			names = append(names, z.Name.String())
			if again, err := cl.HostedZone(t.Context(), z.ID); err != nil || again != z || z.Target.Zone != z.Name {
				t.Errorf("%s: looking up %s: %+v, %v", c.name, z.ID, again, err)
			}
		}
		slices.Sort(names)
		if !slices.Equal(names, c.want) || backend.Class(err) != c.class {
			t.Errorf("%s: the zones are %v (%v), want %v", c.name, names, err, c.want)
		}
		s.Close()
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
		{"a URL in the Secret", map[string]string{"url": "http://x"}, nil, Config{URL: "http://x:80"}, ""},
		{"a URL in the settings", nil, map[string]string{"url": "http://x", "zones": "a.example", "timeout": "5s",
			"caBundle": "pem"}, Config{URL: "http://x:80", Zones: "a.example", Timeout: 5 * time.Second, CABundle: "pem"}, ""},
		{"two URLs", map[string]string{"url": "http://x"}, map[string]string{"url": "http://y"}, Config{}, "different URLs"},
		{"a URL that is none", map[string]string{"url": "x"}, nil, Config{}, "is not http://"},
		{"no URL", nil, nil, Config{}, "there is no url"},
		{"a token", map[string]string{"url": "http://x", "token": "t"}, nil,
			Config{URL: "http://x:80", Header: "Authorization: Bearer t"}, ""},
		{"a header", map[string]string{"url": "http://x", "header": "X-Key: k"}, nil,
			Config{URL: "http://x:80", Header: "X-Key: k"}, ""},
		{"both", map[string]string{"url": "http://x", "token": "s3cret", "header": "X-Key: s3cret"}, nil, Config{},
			"a token and a header"},
		{"a token with a line end", map[string]string{"url": "http://x", "token": "s3cret\n"}, nil, Config{}, "white space"},
		{"a time-out that is none", map[string]string{"url": "http://x"}, map[string]string{"timeout": "soon"}, Config{},
			"duration"},
		{"a zone that is none", map[string]string{"url": "http://x"}, map[string]string{"zones": "a..b"}, Config{}, "zones"},
		{"a certificate", map[string]string{"url": "http://x", "ca.crt": "a\nb\n"}, nil,
			Config{URL: "http://x:80", CABundle: "a\nb\n"}, ""},
	} {
		data := map[string][]byte{}
		for k, v := range c.data {
			data[k] = []byte(v)
		}
		cfg, err := FromSecret(data, "", c.options)
		switch {
		case c.err == "" && (err != nil || cfg != c.want):
			t.Errorf("%s: %+v, %v", c.name, cfg, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "s3cret")):
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
	for _, cfg := range []Config{{}, {URL: "x"}, {URL: "http://x", Header: "s3cret"},
		{URL: "http://x", Header: "A: s3cret\n"}, {URL: "http://x", CABundle: "s3cret"}} {
		if _, err := New(cfg, (&clock{}).Now); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("a client of %+v: %v", cfg, err)
		}
	}
}
