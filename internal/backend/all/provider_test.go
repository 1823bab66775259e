package all

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
)

func data(pairs ...string) map[string][]byte {
	out := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = []byte(pairs[i+1])
	}
	return out
}

func open(t *testing.T, p *Pool, cfg ProviderConfig) backend.Account {
	t.Helper()
	a, err := p.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func parse(t *testing.T, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEqualCredentialsAreOneAccount(t *testing.T) {
	p := NewPool(time.Now, nil)
	one := open(t, p, ProviderConfig{Type: "rfc2136", Data: data("Server", "192.0.2.1", "Zone", "example.org",
		"TSIGKeyName", "key.", "TSIGSecret", "c2VjcmV0IG9mIHRoZSB0ZXN0")})
	for name, cfg := range map[string]ProviderConfig{
		"other spellings": {Type: "rfc2136", Data: data("server", "192.0.2.1:53", "zone", "example.org.",
			"tsigKeyName", "Key", "tsigSecret", "c2VjcmV0IG9mIHRoZSB0ZXN0")},
		"what is for others too": {Type: "rfc2136", Data: data("Server", "192.0.2.1", "Zone", "example.org",
			"TSIGKeyName", "key.", "TSIGSecret", "c2VjcmV0IG9mIHRoZSB0ZXN0", "note", "x")},
		"a region, which DNS has not": {Type: "rfc2136", Region: "r", Data: data("Server", "192.0.2.1", "Zone", "example.org",
			"TSIGKeyName", "key.", "TSIGSecret", "c2VjcmV0IG9mIHRoZSB0ZXN0")},
	} {
		if open(t, p, cfg) != one {
			t.Errorf("%s make another account", name)
		}
	}
	for name, cfg := range map[string]ProviderConfig{
		"another secret": {Type: "rfc2136", Data: data("Server", "192.0.2.1", "Zone", "example.org", "TSIGKeyName", "key.",
			"TSIGSecret", "YW5vdGhlciBvZiBzaXh0ZWVu")},
		"another zone": {Type: "rfc2136", Data: data("Server", "192.0.2.1", "Zone", "example.net", "TSIGKeyName", "key.",
			"TSIGSecret", "c2VjcmV0IG9mIHRoZSB0ZXN0")},
	} {
		if open(t, p, cfg) == one {
			t.Errorf("%s does not make another account", name)
		}
	}
	runtime.KeepAlive(one)
}

func TestAccountsAreTheServersOfBackends(t *testing.T) {
	p := NewPool(time.Now, nil)
	server := connect(t, p, Config{PowerDNS: &powerdns.Config{URL: "http://pdns:8081", ServerID: "localhost",
		ZoneKind: "Native", APIKey: "k"}})[0]
	account := open(t, p, ProviderConfig{Type: "powerdns", Data: data("Server", "http://pdns:8081/", "ApiKey", "k")})
	zone := backend.HostedZone{ID: "example.org.", Name: parse(t, "example.org.")}
	if b := account.Backend(zone); b.(*hosted).Backend != server.Backend {
		t.Error("a provider reaches a PowerDNS through another client than a Backend does")
	} else if b != account.Backend(zone) {
		t.Error("one zone has two Backends")
	}
}

func TestCredentialsThatCannotBeRight(t *testing.T) {
	p := NewPool(time.Now, nil)
	for _, c := range []struct {
		name string
		cfg  ProviderConfig
		want string
	}{
		{"a type that nobody knows", ProviderConfig{Type: "rout53"}, `the provider type "rout53" is unknown; it must be one of`},
		{"no server", ProviderConfig{Type: "rfc2136", Data: data("zone", "example.org")},
			"the Secret has no value for Server or server; it has zone"},
		{"a line end in a key", ProviderConfig{Type: "powerdns", Data: data("Server", "http://pdns:8081", "ApiKey",
			"s3cret\n")}, "the value of ApiKey begins or ends with white space"},
		{"a key without its name", ProviderConfig{Type: "rfc2136",
			Data: data("Server", "192.0.2.1", "TSIGSecret", "czNjcmV0")}, "a TSIG key needs TSIGKeyName and TSIGSecret"},
		{"a secret that is none", ProviderConfig{Type: "rfc2136", Data: data("Server", "192.0.2.1", "TSIGKeyName", "k",
			"TSIGSecret", "s3cret!")}, "TSIG key: the secret is not base64"},
		{"a secret that could be guessed", ProviderConfig{Type: "rfc2136", Data: data("Server", "192.0.2.1", "TSIGKeyName",
			"k", "TSIGSecret", "czNjcmV0")}, "TSIG key: the secret has 6 octets, fewer than 16"},
		{"an algorithm that nobody knows", ProviderConfig{Type: "rfc2136", Data: data("Server", "192.0.2.1", "TSIGKeyName",
			"k", "TSIGSecret", "c2VjcmV0IG9mIHRoZSB0ZXN0", "TSIGSecretAlgorithm", "md5")}, `TSIG key: algorithm "md5"`},
		{"a zone that is no name", ProviderConfig{Type: "rfc2136", Data: data("Server", "192.0.2.1", "Zone", "a..b")},
			"Zone: "},
		{"a server that is no URL", ProviderConfig{Type: "powerdns", Data: data("Server", "pdns:8081", "ApiKey", "s3cret")},
			"the value of Server is not a URL"},
		{"a certificate that is none", ProviderConfig{Type: "powerdns", Data: data("Server", "https://pdns", "ApiKey",
			"s3cret", "TrustedCaCert", "x")}, "contains no PEM certificate"},
		{"the operator's own credentials, for somebody who may not have them",
			ProviderConfig{Type: "aws-route53", Data: data("AWS_USE_CREDENTIALS_CHAIN", "true")}, "may not rely on credentials"},
		{"no credentials at all", ProviderConfig{Type: "aws-route53"}, "may not rely on credentials"},
		{"an option that there is not", ProviderConfig{Type: "powerdns", Data: data("Server", "https://pdns", "ApiKey",
			"s3cret"), Options: map[string]string{"x": "y"}}, `"x" is not a setting`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := p.Open(c.cfg)
			e, ok := errors.AsType[*backend.Error](err)
			cause := backend.CauseInvalid
			if c.cfg.Type == "rout53" {
				cause = backend.CauseUnsupported
			}
			if !ok || e.Class != backend.ErrNotAuthorised || e.Cause != cause || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// scripted is a service that counts what it is asked.
type scripted struct {
	backend.Account
	mu    sync.Mutex
	lists int
	looks int
	err   error
	mute  bool // it does not answer
	zones []backend.HostedZone
}

func (s *scripted) HostedZones(ctx context.Context) ([]backend.HostedZone, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists++; s.mute {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return slices.Clone(s.zones), s.err
}

func (s *scripted) HostedZone(_ context.Context, id string) (backend.HostedZone, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	for _, z := range s.zones {
		if z.ID == id {
			return z, nil
		}
	}
	return backend.HostedZone{}, backend.ErrNoZone
}

func scriptedZone(t *testing.T, id, name string, private bool) backend.HostedZone {
	n := parse(t, name)
	return backend.HostedZone{ID: id, Name: n, Private: private, Target: backend.TargetKey{Server: "cloud", Zone: n,
		View: id}}
}

func TestThousandsListZonesOnce(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := &scripted{zones: []backend.HostedZone{scriptedZone(t, "Z1", "example.org.", false)}}
	a := &Account{service: s, now: func() time.Time { return now }, turn: make(chan struct{}, 1)}
	var all sync.WaitGroup
	for i := range 5000 {
		all.Go(func() {
			z, err := backend.FindZone(t.Context(), a, parse(t, fmt.Sprintf("n%d.example.org.", i)))
			if err != nil || z.ID != "Z1" {
				t.Errorf("the zone is %v, %v", z, err)
			}
		})
	}
	all.Wait()
	if s.lists != 1 {
		t.Errorf("zones were listed %d times", s.lists)
	}
	step := func(what string, after time.Duration, refresh bool, want int) {
		t.Helper()
		now = now.Add(after)
		if refresh {
			a.Refresh()
		}
		if _, err := a.HostedZones(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.lists != want {
			t.Errorf("%s: zones were listed %d times, want %d", what, s.lists, want)
		}
	}
	step("a refresh just after a listing", time.Second, true, 1)
	step("some seconds later", rest, false, 2)
	step("half an hour later, almost", remembered-time.Second, false, 2)
	step("half an hour later", time.Second, false, 3)
	step("a refresh", time.Minute, true, 4)
	if _, err := a.HostedZone(t.Context(), "Z1"); err != nil || s.looks != 0 {
		t.Errorf("a zone of the list is looked for: %v", err)
	}
	for range 3 {
		if _, err := a.HostedZone(t.Context(), "Z2"); !errors.Is(err, backend.ErrNoZone) || s.looks != 1 {
			t.Errorf("a zone that is not there: %v, asked for %d times", err, s.looks)
		}
	}
	s.zones = append(s.zones, scriptedZone(t, "Z2", "example.net.", false))
	now = now.Add(rest)
	if z, err := a.HostedZone(t.Context(), "Z2"); err != nil || z.Name != parse(t, "example.net.") {
		t.Errorf("a zone that has come is %v, %v", z, err)
	}
}

func TestErrorsAreRememberedForAMoment(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := &scripted{err: backend.ErrThrottled}
	a := &Account{service: s, now: func() time.Time { return now }, turn: make(chan struct{}, 1)}
	for range 10 {
		if _, err := a.HostedZones(t.Context()); !errors.Is(err, backend.ErrThrottled) {
			t.Fatal(err)
		}
	}
	if s.lists != 1 {
		t.Errorf("a service that throttles was asked %d times", s.lists)
	}
	now, s.err = now.Add(rest), nil
	if _, err := a.HostedZones(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOneWaitsForAServiceThatDoesNotAnswer has many ask a service that lets them wait: each would wait after the other.
func TestOneWaitsForAServiceThatDoesNotAnswer(t *testing.T) {
	s := &scripted{mute: true}
	a := &Account{service: s, now: func() time.Time { return time.Unix(1e9, 0) }, turn: make(chan struct{}, 1)}
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := a.HostedZones(ctx); err == nil {
			t.Error("there are zones")
		}
		cancel()
	}
	if s.lists != 1 {
		t.Errorf("a service that does not answer was asked %d times", s.lists)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	other := &Account{service: s, now: a.now, turn: make(chan struct{}, 1)}
	_, _ = other.HostedZones(ctx) // the caller has ended
	s.mute = false
	if _, err := other.HostedZones(t.Context()); err != nil {
		t.Errorf("what ended because of the caller is remembered: %v", err)
	}
}

func TestOneZoneIsOneTargetWhateverLeadsThere(t *testing.T) {
	var r register
	zone := scriptedZone(t, "Z1", "example.org.", false)
	account := func(zones ...backend.HostedZone) *Account {
		return &Account{service: &scripted{zones: zones}, now: time.Now, turn: make(chan struct{}, 1), place: r.newcomer()}
	}
	target := func(a *Account, name string) backend.TargetKey {
		z, err := backend.FindZone(t.Context(), a, parse(t, name))
		if err != nil {
			t.Fatal(err)
		}
		return z.Target
	}
	one, two := account(zone), account(zone, scriptedZone(t, "Z2", "example.net.", false), scriptedZone(t, "Z3",
		"example.net.", true))
	first := target(one, "www.example.org.")
	if first.Server != "cloud account 1" || target(two, "example.org.") != first {
		t.Errorf("one zone is %v and %v", first, target(two, "example.org."))
	}
	if other := target(two, "example.net."); other.Server != "cloud account 2" || other.View != "Z2" {
		t.Errorf("the public one of two zones is %v", other)
	}
}

func TestWhichZoneHoldsAName(t *testing.T) {
	zones := []backend.HostedZone{
		scriptedZone(t, "Z1", "org.", false), scriptedZone(t, "Z2", "example.org.", true), scriptedZone(t, "Z4",
			"example.org.", false),
		scriptedZone(t, "Z3", "example.org.", false), scriptedZone(t, "Z5", "inside.example.org.", true),
		scriptedZone(t, "Z6", "ample.org.", false),
	}
	for name, want := range map[string]string{
		"example.org.": "Z3", "a.b.example.org.": "Z3", "inside.example.org.": "Z5", "*.inside.example.org.": "Z5",
		"example.net.": "", "sample.org.": "Z1",
	} {
		if z, _ := backend.ZoneOf(zones, parse(t, name)); z.ID != want {
			t.Errorf("%s is in %q, want %q", name, z.ID, want)
		}
	}
}

func TestAProviderAtRealServers(t *testing.T) {
	zones := []nameserver.Zone{{Name: parse(t, "example.org.")}, {Name: parse(t, "sub.example.org.")}}
	pdns, err := nameserver.StartPowerDNS(t.Context(), nameserver.Options{Dir: t.TempDir(), Zones: zones})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pdns.Close)
	shared := nameserver.TSIG{Name: parse(t, "key."), Algorithm: "hmac-sha256", Secret: "c2VjcmV0IG9mIHRoZSB0ZXN0"}
	bind, err := nameserver.StartBIND(t.Context(), nameserver.Options{Dir: t.TempDir(), Zones: zones,
		Keys: []nameserver.TSIG{shared}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bind.Close)
	p := NewPool(time.Now, nil)
	tsig := func(more ...string) map[string][]byte {
		return data(append(more, "Server", bind.Addr(), "TSIGKeyName", "key", "TSIGSecret", shared.Secret)...)
	}
	for _, c := range []struct {
		what, name, want string
		cfg              ProviderConfig
		class            error
	}{
		{"PowerDNS", "a.sub.example.org.", "sub.example.org.",
			ProviderConfig{Type: "powerdns", Data: data("server", pdns.URL, "apiKey", pdns.APIKey)}, nil},
		{"PowerDNS without the zone", "example.net.", "", ProviderConfig{Type: "powerdns", Data: data("server", pdns.URL,
			"apiKey", pdns.APIKey)}, backend.ErrNoZone},
		{"PowerDNS with a wrong key", "example.org.", "", ProviderConfig{Type: "powerdns", Data: data("server", pdns.URL,
			"apiKey", "wrong")}, backend.ErrNotAuthorised},
		{"BIND", "a.b.sub.example.org.", "sub.example.org.", ProviderConfig{Type: "rfc2136", Data: tsig()}, nil},
		{"BIND above a zone", "b.example.org.", "example.org.", ProviderConfig{Type: "rfc2136", Data: tsig()}, nil},
		{"BIND with the zone in the Secret", "b.sub.example.org.", "example.org.",
			ProviderConfig{Type: "rfc2136", Data: tsig("Zone", "example.org")}, nil},
		{"BIND with another zone in the Secret", "example.net.", "",
			ProviderConfig{Type: "rfc2136", Data: tsig("Zone", "example.org")}, backend.ErrNoZone},
		{"BIND with a wrong key", "example.org.", "", ProviderConfig{Type: "rfc2136", Data: data("Server", bind.Addr(),
			"TSIGKeyName", "other", "TSIGSecret", "c2VjcmV0IG9mIHRoZSB0ZXN0")}, backend.ErrNotAuthorised},
	} {
		t.Run(c.what, func(t *testing.T) {
			a := open(t, p, c.cfg)
			z, err := backend.FindZone(t.Context(), a, parse(t, c.name))
			if c.class != nil {
				if !errors.Is(err, c.class) {
					t.Errorf("it is %v, %v, want %v", z, err, c.class)
				}
				return
			}
			if err != nil || z.ID != c.want || z.Target.Zone != parse(t, c.want) {
				t.Fatalf("it is %v, %v, want %s", z, err, c.want)
			}
			if c.what == "BIND with the zone in the Secret" {
				if _, err := a.HostedZone(t.Context(), "sub.example.org."); !errors.Is(err, backend.ErrNoZone) {
					t.Errorf("a zone that the credentials are not for: %v", err)
				}
			}
			again, err := a.HostedZone(t.Context(), strings.TrimSuffix(z.ID, "."))
			if err != nil || again != z {
				t.Errorf("by its ID it is %v, %v", again, err)
			}
			if _, err := a.Backend(z).Read(t.Context(), z.Name, backend.Ask{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSpellingsOfServices(t *testing.T) {
	p := NewPool(time.Now, nil)
	for typ, spellings := range map[string][]map[string][]byte{
		"cloudflare-dns": {data("CLOUDFLARE_API_TOKEN", "t"), data("apiToken", "t"),
			data("apiToken", "t", "note", "x")},
		"external-dns-webhook": {data("url", "http://x/p/"), data("URL", "http://X:80/p")},
	} {
		one := open(t, p, ProviderConfig{Type: typ, Data: spellings[0]})
		for _, other := range spellings[1:] {
			if open(t, p, ProviderConfig{Type: typ, Data: other}) != one {
				t.Errorf("%s: %v make another account", typ, slices.Sorted(maps.Keys(other)))
			}
		}
		runtime.KeepAlive(one)
	}
	for _, typ := range []string{"cloudflare-dns", "external-dns-webhook", "google-clouddns"} {
		if _, err := p.Open(ProviderConfig{Type: typ}); !errors.Is(err, backend.ErrNotAuthorised) ||
			p.Check(ProviderConfig{Type: typ}) == nil {
			t.Errorf("%s without credentials: %v", typ, err)
		}
	}
}
