package kubizone

import (
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// below is a label that no entry of the list has, so that only an entry with a wildcard means a name that begins with
// it.
const below = "-."

// PublicSuffix reports whether the public registers names directly below a name, by the ICANN part of the Public Suffix
// List, or the name is the root. A name that has a wildcard entry below it counts, too; home.arpa., which everybody may
// have at home (RFC 8375), does not.
func PublicSuffix(name dnsname.Name) bool {
	if name == dnsname.Root {
		return true
	}
	text := strings.TrimSuffix(name.String(), ".")
	return text != "home.arpa" && (listed(text) || listed(below+text))
}

// listed reports whether the ICANN part has text itself.
func listed(text string) bool {
	suffix, icann := publicsuffix.PublicSuffix(text)
	return icann && suffix == text
}
