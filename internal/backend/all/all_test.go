package all

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend/bind9"
	"github.com/zonefold/zonefold/internal/backend/dnshook"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/backend/powerdns"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
)

func key(t *testing.T, secret string) rfc2136.Key {
	t.Helper()
	name, err := dnsname.Parse("key.")
	if err != nil {
		t.Fatal(err)
	}
	return rfc2136.Key{Name: name, Algorithm: "hmac-sha256", Secret: secret}
}

func connect(t *testing.T, p *Pool, cfg Config) []Server {
	t.Helper()
	servers, err := p.Connect(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return servers
}

func TestConnect(t *testing.T) {
	p := NewPool(time.Now, nil)
	config := func(servers ...string) Config {
		return Config{RFC2136: &RFC2136{Servers: servers, View: "inside", Key: key(t, "MDEyMzQ1Njc4OWFiY2RlMQ==")}}
	}
	two := connect(t, p, config("192.0.2.1", "NS.Example.org:53", "192.0.2.1:53"))
	if len(two) != 2 || two[0].Name != "dns 192.0.2.1:53" || two[1].Name != "dns ns.example.org:53" ||
		two[0].View != "inside" {
		t.Errorf("two servers, one of them twice, are %+v", two)
	}
	if again := connect(t, p, config("::ffff:192.0.2.1")); again[0].Backend != two[0].Backend {
		t.Error("the same server and key make a second client")
	}
	other := connect(t, p, Config{RFC2136: &RFC2136{Servers: []string{"192.0.2.1"},
		Key: key(t, "MDEyMzQ1Njc4OWFiY2RlMg==")}})
	if other[0].Backend == two[0].Backend || other[0].Name != two[0].Name {
		t.Error("another key does not make another client of the same server")
	}
	api := func(url string) Server {
		return connect(t, p, Config{PowerDNS: &powerdns.Config{URL: url, APIKey: "k"}})[0]
	}
	if a, b := api("http://pdns.example.org:8081"), api("http://PDNS.example.org:8081/"); a.Name != b.Name ||
		a.Name != "powerdns http://pdns.example.org:8081/api/v1/servers/localhost" || a.Backend != api(
		"http://pdns.example.org:8081").Backend {
		t.Errorf("one API is %q and %q", a.Name, b.Name)
	}
	hook := func(url, secret string) Server {
		return connect(t, p, Config{DNSHook: &dnshook.Config{Server: url, Secret: secret}})[0]
	}
	one := hook("http://hook.example.org/dns", "a secret of sixteen")
	if o := hook("http://HOOK.example.org:80/dns/",
		"b secret of sixteen"); one.Name != "dnshook http://hook.example.org:80/dns" || o.Name != one.Name ||
		o.Backend == one.Backend ||
		one.Backend != hook("http://hook.example.org/dns", "a secret of sixteen").Backend {
		t.Errorf("one server of DNSClasses is %+v and %+v", one, o)
	}
	runtime.KeepAlive(two)
}

// anyone is an Access that nobody uses.
type anyone struct{ bind9.Access }

func TestConnectPods(t *testing.T) {
	p := NewPool(time.Now, nil)
	access := &anyone{}
	pod := func(uid, address string) Primary {
		return Primary{Endpoint: bind9.Endpoint{ID: uid, DNS: address + ":5353", Sidecar: "http://" + address + ":8080"},
			Access: access}
	}
	config := func(pods ...Primary) Config { return Config{BIND9: &BIND9{Primaries: pods}} }
	two := connect(t, p, config(pod("one", "192.0.2.1"), pod("two", "192.0.2.2")))
	if len(two) != 2 || two[0].Name != "bind9 one" || two[1].Name != "bind9 two" {
		t.Errorf("two pods are %+v", two)
	}
	if moved := connect(t, p, config(pod("one", "192.0.2.9"))); moved[0].Name != two[0].Name {
		t.Error("a pod with another address is another target")
	}
}

func TestWhatCannotBeConnected(t *testing.T) {
	p := NewPool(time.Now, nil)
	for what, cfg := range map[string]Config{
		"nothing":          {},
		"no server":        {RFC2136: &RFC2136{}},
		"no address":       {RFC2136: &RFC2136{Servers: []string{"a b"}}},
		"a broken key":     {RFC2136: &RFC2136{Servers: []string{"192.0.2.1"}, Key: key(t, "s3cret!")}},
		"a URL without //": {PowerDNS: &powerdns.Config{URL: "pdns", APIKey: "k"}},
		"no name server":   {Embedded: &Embedded{Group: "g"}},
		"no URL":           {DNSHook: &dnshook.Config{Server: "hook", Secret: "s3cret! s3cret! s"}},
		"no algorithm":     {DNSHook: &dnshook.Config{Server: "http://hook", Secret: "s3cret! s3cret! s", Algorithm: "MD5"}},
		"a short key":      {RFC2136: &RFC2136{Servers: []string{"192.0.2.1"}, Key: key(t, "czNjcmV0IXMzY3JldCFz")}},
		"a short secret":   {DNSHook: &dnshook.Config{Server: "http://hook", Secret: "s3cret! s3cret!"}},
		"no pod":           {BIND9: &BIND9{}},
		"no sidecar": {BIND9: &BIND9{
			Primaries: []Primary{{Endpoint: bind9.Endpoint{DNS: "192.0.2.1:53"}, Access: &anyone{}}}}},
		"two kinds": {RFC2136: &RFC2136{Servers: []string{"192.0.2.1"}},
			PowerDNS: &powerdns.Config{URL: "http://pdns", APIKey: "k"}},
	} {
		servers, err := p.Connect(cfg)
		if err == nil {
			t.Errorf("%s is connected to %v", what, servers)
		} else if strings.Contains(err.Error(), "s3cret!") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
	if got := strings.Join(Kinds(), " "); got != "embedded rfc2136 powerdns bind9 dnsClass" {
		t.Errorf("the kinds are %s", got)
	}
}

func TestTheProcessOwnServer(t *testing.T) {
	own, err := embedded.Serve(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := NewPool(time.Now, own)
	a := connect(t, p, Config{Embedded: &Embedded{Group: "a"}})[0]
	b := connect(t, p, Config{Embedded: &Embedded{Group: "b"}})[0]
	if a.Name != "embedded a" || a.Backend == b.Backend ||
		a.Backend != connect(t, p, Config{Embedded: &Embedded{Group: "a"}})[0].Backend {
		t.Errorf("two groups are %+v and %+v", a, b)
	}
}

func TestClientsThatNobodyUsesAreForgotten(t *testing.T) {
	p := NewPool(time.Now, nil)
	kept := connect(t, p, Config{RFC2136: &RFC2136{Servers: []string{"192.0.2.1"}}})
	for _, secret := range []string{"MDEyMzQ1Njc4OWFiY2RlMQ==", "MDEyMzQ1Njc4OWFiY2RlMg==", "MDEyMzQ1Njc4OWFiY2RlMw=="} {
		connect(t, p, Config{RFC2136: &RFC2136{Servers: []string{"192.0.2.1"}, Key: key(t, secret)}})
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.After(10 * time.Second)
	for p.updates.size() != 1 {
		runtime.GC()
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%d clients are known, one is in use", p.updates.size())
		}
	}
	if again := connect(t, p, Config{
		RFC2136: &RFC2136{Servers: []string{"192.0.2.1"}}}); again[0].Backend != kept[0].Backend {
		t.Error("a client in use was forgotten")
	}
}
