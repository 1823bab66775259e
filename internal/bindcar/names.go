package bindcar

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// A zoneName is a checked name of a zone. Nothing in it means anything to BIND's parser within quotes, and its file
// name is of the zone directory.
type zoneName struct {
	given string       // as the caller wrote it, for messages
	name  dnsname.Name // absolute, in lower case
}

// maxStem is how long a file name may be before ".zone" and what BIND adds to it; file systems take 255 octets.
const maxStem = 200

// parseZone checks the name of a zone: letters, digits, '-', '_', '.' and the '/' of classless reverse zones (RFC
// 2317), from a letter, digit or '_' on, as a name that rndc took for an option would be dangerous.
func parseZone(s string) (zoneName, error) {
	if s == "" {
		return zoneName{}, invalid("Zone name cannot be empty")
	}
	for i := range len(s) {
		if c := s[i]; !word(c) && c != '.' && (c != '-' && c != '/' || i == 0) {
			return zoneName{}, invalid("the zone name %s has the character %q at its octet %d; a zone's name has letters, "+
				"digits, '-', '_', '/' and dots, and begins with a letter, a digit or '_'",
				clip(s), c, i+1)
		}
	}
	name, err := dnsname.Parse(strings.TrimSuffix(s, ".") + ".")
	if err != nil || name.IsRoot() {
		return zoneName{}, invalid("the zone name %s is not a domain name: labels of 1 to 63 characters, 253 in all", clip(s))
	}
	return zoneName{given: s, name: name}, nil
}

func word(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// clip quotes what somebody wrote for a message.
func clip(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}

// text is the name without its last dot, as BIND and the existing bindcar write it.
func (z zoneName) text() string { return strings.TrimSuffix(z.name.String(), ".") }

// stem is what the zone's files begin with: the name, with + for /, which no name of a zone has, or a digest where that
// is too long.
func (z zoneName) stem() string {
	stem := strings.ReplaceAll(z.text(), "/", "+")
	if len(stem) > maxStem {
		sum := sha256.Sum256([]byte(z.text()))
		return "+long-" + hex.EncodeToString(sum[:])
	}
	return stem
}

// relative makes a name absolute: one without a last dot is below the zone, and @ is the zone.
func (z zoneName) relative(s string) (dnsname.Name, error) {
	if s == "@" {
		return z.name, nil
	}
	if !strings.HasSuffix(s, ".") || strings.HasSuffix(s, `\.`) {
		s += "." + z.name.String()
	}
	return dnsname.Parse(s)
}

// owner is the name of a record. Without a last dot it is below the zone; where loose, one that ends in the zone's own
// labels is taken as absolute, as the existing bindcar's record calls take it.
func (z zoneName) owner(s string, loose bool) (dnsname.Name, error) {
	name, err := z.relative(s)
	if err == nil && loose && !strings.HasSuffix(s, ".") {
		if absolute, absErr := dnsname.Parse(s + "."); absErr == nil && absolute.Under(z.name) {
			name = absolute
		}
	}
	if err == nil && !name.Under(z.name) {
		err = fmt.Errorf("it is not in the zone %s", z.given)
	}
	if err != nil {
		return name, fmt.Errorf("the name %s of a record: %w", clip(s), err)
	}
	return name, nil
}

// host is the name of a name server. With dots in it it is absolute even without the last one: nobody means
// ns1.example.com.example.com.
func (z zoneName) host(s string) (dnsname.Name, error) {
	if strings.Contains(s, ".") && !strings.HasSuffix(s, ".") {
		s += "."
	}
	name, err := z.relative(s)
	if err != nil || name.IsRoot() {
		return name, fmt.Errorf("%s is not a host name", clip(s))
	}
	return name, nil
}

// identifier checks what stands between quotes in a configuration: names of keys and policies.
func identifier(what, s string) error {
	if s == "" || len(s) > 253 || !word(s[0]) {
		return invalid("the %s %s is not a name: letters, digits, '-', '_' and dots", what, clip(s))
	}
	for i := range len(s) {
		if c := s[i]; !word(c) && c != '-' && c != '.' {
			return invalid("the %s %s is not a name: letters, digits, '-', '_' and dots", what, clip(s))
		}
	}
	return nil
}

// parseAddress reads "IP", "IP:port" or "[IPv6]:port"; port 0 means none.
func parseAddress(s string) (ip netip.Addr, port uint16, err error) {
	if ip, err := netip.ParseAddr(s); err == nil && ip.Zone() == "" {
		return ip, 0, nil
	}
	both, err := netip.ParseAddrPort(s)
	if err != nil || both.Port() == 0 || both.Addr().Zone() != "" {
		return netip.Addr{}, 0, fmt.Errorf(
			"%s is not an address; write 192.0.2.1, 192.0.2.1:5353, 2001:db8::1 or [2001:db8::1]:5353", clip(s))
	}
	return both.Addr(), both.Port(), nil
}
