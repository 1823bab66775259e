package dnshook_test

import (
	"testing"

	"github.com/zonefold/zonefold/dnshook"
)

func TestSpellingsOfOneServer(t *testing.T) {
	for _, c := range []struct {
		sentence, a, b string
		same           bool
	}{
		{"the case of the host", "http://DNS.example.org:7100", "http://dns.example.org:7100", true},
		{"the case of the scheme", "HTTP://dns", "http://dns", true},
		{"the port of http", "http://dns", "http://dns:80", true},
		{"the port of https", "https://dns:443", "https://dns", true},
		{"an empty port", "https://dns:", "https://dns", true},
		{"final slashes", "http://dns/a//", "http://dns/a", true},
		{"a final slash alone", "http://dns/", "http://dns", true},
		{"a tilde that is encoded", "http://dns/%7eme", "http://dns/~me", true},
		{"a letter that is encoded", "http://dns/%41", "http://dns/A", true},
		{"hexadecimal digits in small letters", "http://dns/a%2fb", "http://dns/a%2Fb", true},
		{"a letter beyond ASCII", "http://dns/ä", "http://dns/%c3%a4", true},
		{"two spellings of an address", "http://[0:0:0:0:0:0:0:1]:7100", "http://[::1]:7100", true},
		{"a slash that is encoded", "http://dns/a%2fb", "http://dns/a/b", false},
		{"the case of a path", "http://dns/a", "http://dns/A", false},
		{"another scheme", "http://dns:443", "https://dns", false},
		{"another port", "http://dns:7100", "http://dns", false},
		{"a slash in the middle", "http://dns/a//b", "http://dns/a/b", false},
	} {
		a, errA := dnshook.CanonicalServer(c.a)
		b, errB := dnshook.CanonicalServer(c.b)
		if errA != nil || errB != nil || (a == b) != c.same {
			t.Errorf("%s: %q and %q, %v %v", c.sentence, a, b, errA, errB)
		}
	}
	for server, want := range map[string]string{
		"http://Hook.example.org": "http://hook.example.org:80", "https://hook/dns/": "https://hook:443/dns",
		"http://[2001:DB8::1]:7100/": "http://[2001:db8::1]:7100",
	} {
		if got, err := dnshook.CanonicalServer(server); err != nil || got != want {
			t.Errorf("%s is %s, %v", server, got, err)
		}
	}
	if got, err := dnshook.CanonicalServer("http://dns\x7f"); err == nil {
		t.Errorf("what is no URL is %q", got)
	}
}
