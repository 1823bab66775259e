package gardener_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

// A site is a real name server, and the Secret that reaches it.
type site struct {
	*nameserver.Server
	kind     string
	secret   map[string]string
	powerdns *nameserver.PowerDNS // nil: it is another
}

func zones(t *testing.T, names ...string) []nameserver.Zone {
	t.Helper()
	var out []nameserver.Zone
	for _, n := range names {
		out = append(out, nameserver.Zone{Name: parse(t, n)})
	}
	return out
}

func parse(t *testing.T, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text + ".")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func startPowerDNS(t *testing.T, names ...string) *site {
	t.Helper()
	s, err := nameserver.StartPowerDNS(t.Context(), nameserver.Options{Dir: t.TempDir(), Zones: zones(t, names...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &site{s.Server, "powerdns", map[string]string{"server": s.URL, "apiKey": s.APIKey}, s}
}

func startBIND(t *testing.T, names ...string) *site {
	t.Helper()
	key := nameserver.TSIG{Name: parse(t, "key"), Algorithm: "hmac-sha256", Secret: "c2VjcmV0IG9mIHRoZSB0ZXN0"}
	s, err := nameserver.StartBIND(t.Context(), nameserver.Options{Dir: t.TempDir(), Zones: zones(t, names...),
		Keys: []nameserver.TSIG{key}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &site{s, "rfc2136", map[string]string{"Server": s.Addr(), "TSIGKeyName": "key.", "TSIGSecret": key.Secret}, nil}
}

// each runs a test with both kinds of servers.
func each(t *testing.T, test func(t *testing.T, start func(t *testing.T, names ...string) *site)) {
	t.Helper()
	t.Run("PowerDNS", func(t *testing.T) { test(t, startPowerDNS) })
	t.Run("BIND", func(t *testing.T) { test(t, startBIND) })
}

// holds waits for a server to answer "A api.example.org" with "120 192.0.2.1 192.0.2.2", "" for no such set.
func (w *world) holds(s *site, question, want string) {
	w.t.Helper()
	w.eventually(question, func() string {
		if got := w.dig(s, question); got != want {
			return fmt.Sprintf("the server has %q, want %q", got, want)
		}
		return ""
	})
}

func (w *world) dig(s *site, question string) string {
	w.t.Helper()
	kind, name, _ := strings.Cut(question, " ")
	typ, err := rr.ParseType(kind)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := s.Lookup(w.ctx, rr.Key{Name: parse(w.t, name), Type: typ})
	if err != nil {
		return err.Error()
	}
	for _, set := range answer.Sets {
		if set.Type == typ {
			return fmt.Sprint(set.TTL, " ", strings.Join(set.Data, " "))
		}
	}
	return ""
}

// stranger overwrites an A record at a PowerDNS; with no value it removes it.
func stranger(t *testing.T, s *site, name, value string) {
	t.Helper()
	change := fmt.Sprintf(`{"name":%q,"type":"A","changetype":"DELETE"}`, name+".")
	if value != "" {
		change = fmt.Sprintf(`{"name":%q,"type":"A","ttl":5,"changetype":"REPLACE","records":[{"content":%q}]}`, name+".",
			value)
	}
	if err := s.powerdns.Patch(t.Context(), "example.org.", `{"rrsets":[`+change+`]}`); err != nil {
		t.Fatal(err)
	}
}
