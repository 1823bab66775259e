package likely_test

import (
	"testing"

	"github.com/zonefold/zonefold/internal/cli/likely"
)

func TestWord(t *testing.T) {
	types := []string{"A", "AAAA", "APL", "CAA", "CNAME", "DS", "MX", "NS", "TLSA", "TXT"}
	fields := []string{"domainName", "zoneRef", "type", "ttl", "rdata", "delegations"}
	for _, c := range []struct {
		sentence string
		word     string
		words    []string
		want     string
	}{
		{"lower case is upper case", "a", types, "A"},
		{"so it is of longer words", "cname", types, "CNAME"},
		{"two letters are swapped", "CNMAE", types, "CNAME"},
		{"one letter is left out", "AAA", types, "AAAA"},
		{"nothing is near", "ALIAS", types, ""},
		{"two slips in a short word make another word", "SPF", types, ""},
		{"case alone", "domainname", fields, "domainName"},
		{"the beginning", "domain", fields, "domainName"},
		{"a missing letter", "delegation", fields, "delegations"},
		{"a slip in a short word", "typ", fields, "type"},
		{"a beginning of two letters says nothing", "zo", fields, ""},
		{"the empty word", "", fields, ""},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			if got := likely.Word(c.word, c.words); got != c.want {
				t.Errorf("%q is taken for %q, not %q", c.word, got, c.want)
			}
		})
	}
}
