package dialguard

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
)

func TestWhichAddressesAreRefused(t *testing.T) {
	g := New(Config{
		Deny:  []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("127.0.0.2/32")},
		Own: func() []netip.Addr {
			return []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")}
		},
	})
	for _, c := range []struct{ name, address, want string }{
		{"a public address", "198.51.100.1", ""},
		{"a public IPv6 address", "2001:db8::1", ""},
		{"a private address", "192.168.0.1", ""},
		{"loopback", "127.0.0.1", "loopback"},
		{"all of loopback", "127.255.0.1", "loopback"},
		{"loopback of IPv6", "::1", "loopback"},
		{"loopback mapped into IPv6", "::ffff:127.0.0.1", "loopback"},
		{"loopback behind NAT64", "64:ff9b::7f00:1", "loopback"},
		{"loopback behind a local NAT64", "64:ff9b:1::7f00:1", "loopback"},
		{"loopback behind 6to4", "2002:7f00:1::", "loopback"},
		{"loopback as an IPv4-compatible address", "::7f00:1", "loopback"},
		{"the metadata service", "169.254.169.254", "link-local"},
		{"the metadata service behind NAT64", "64:ff9b::a9fe:a9fe", "link-local"},
		{"the metadata service over IPv6", "fd00:ec2::254", "link-local"},
		{"the link of IPv6", "fe80::1%eth0", "link-local"},
		{"the unspecified address", "0.0.0.0", "unspecified"},
		{"this network", "0.1.2.3", "unspecified"},
		{"the unspecified address of IPv6", "::", "unspecified"},
		{"multicast", "224.0.0.251", "multicast"},
		{"multicast of IPv6", "ff02::fb", "multicast"},
		{"broadcast", "255.255.255.255", "multicast"},
		{"the operator", "192.0.2.7", "its own"},
		{"the operator mapped into IPv6", "::ffff:192.0.2.7", "its own"},
		{"the operator over IPv6", "2001:db8::7", "its own"},
		{"what is denied", "10.2.0.1", "denies"},
		{"what is denied, with exceptions", "10.1.0.1", ""},
		{"what is loopback, and allowed", "127.0.0.2", ""},
	} {
		got := g.refuses(netip.MustParseAddr(c.address))
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s is %q, want %q", c.name, c.address, got, c.want)
		}
	}
}

// get asks and forgets the answer.
func get(c *http.Client, url string) error {
	resp, err := c.Get(url)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Body.Close()
}

func TestNothingIsSentToWhatIsRefused(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := func(g *Guard) *http.Client {
		base := &http.Transport{Proxy: http.ProxyFromEnvironment}
		g.Transport(base)
		return &http.Client{Transport: base}
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		err := get(client(New(Config{})), "http://"+net.JoinHostPort(strings.Trim(host, "[]"), port))
		e := Refusal(err)
		if e == nil || e.Class != backend.ErrNotAuthorised || !strings.Contains(e.Error(), "--tenant-servers-allow") {
			t.Errorf("%s: %v", host, err)
		}
	}
	away := httptest.NewUnstartedServer(http.RedirectHandler("http://127.0.0.1:"+port, http.StatusFound))
	_ = away.Listener.Close()
	if away.Listener, err = net.Listen("tcp", "127.0.0.2:0"); err != nil {
		t.Fatal(err)
	}
	away.Start()
	defer away.Close()
	if err := get(client(New(Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}})), away.URL); Refusal(
		err) == nil {
		t.Errorf("a redirect: %v", err)
	}
	if asked > 0 {
		t.Errorf("the server was asked %d times", asked)
	}
	if err := get(client(nil), s.URL); err != nil {
		t.Fatalf("without a guard: %v", err)
	}
	if asked != 1 || Refusal(errors.New("another error")) != nil {
		t.Error("without a guard the server is not asked, or another error counts as a refusal")
	}
}

func TestWhatAGuardedServerSaysIsNotShown(t *testing.T) {
	var none *Guard
	if none.Said("words") != "words" || New(Config{}).Said("words") != "" {
		t.Error("a guarded server is quoted, or another one is not")
	}
}
