package kubizone

import (
	"testing"

	"github.com/zonefold/zonefold/internal/dnsname"
)

func TestPublicSuffixes(t *testing.T) {
	for _, c := range []struct {
		name, domain string
		want         bool
	}{
		{"the root", ".", true},
		{"a top-level domain", "org.", true},
		{"in upper case", "ORG.", true},
		{"a suffix of two labels", "co.uk.", true},
		{"one whose entry is a wildcard", "anything.ck.", true},
		{"what is above such an entry", "ck.", true},
		{"an exception to it", "www.ck.", false},
		{"an internationalised one", "한국.", true},
		{"the reverse tree of IPv4", "in-addr.arpa.", true},
		{"a network of it", "10.in-addr.arpa.", false},
		{"a registered name", "example.org.", false},
		{"an escaped dot is none", `co\.uk.`, false},
		{"an entry of the private part", "github.io.", false},
		{"a home", "home.arpa.", false},
		{"a network of one's own", "lan.", false},
		{"what ICANN leaves to private use", "internal.", false},
		{"a name for tests", "example.", false},
	} {
		n, err := dnsname.Parse(c.domain)
		if err != nil {
			t.Fatal(err)
		}
		if got := PublicSuffix(n); got != c.want {
			t.Errorf("%s: %s is a public suffix: %v, want %v", c.name, c.domain, got, c.want)
		}
	}
}
