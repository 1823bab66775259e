package route53test

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// types are what zones may hold.
var types = []string{"A", "AAAA", "CAA", "CNAME", "DS", "HTTPS", "MX", "NAPTR", "NS", "PTR", "SOA", "SPF", "SRV",
	"SSHFP", "SVCB", "TLSA", "TXT"}

// wrong says what is wrong with a set, whatever the zone holds; "" for nothing.
func (z *zone) wrong(set *Set) string {
	apex := set.Name == z.name
	switch {
	case !slices.Contains(types, set.Type):
		return fmt.Sprintf("Value '%s' at 'type' failed to satisfy constraint: Member must satisfy enum value set", set.Type)
	case !apex && !strings.HasSuffix(set.Name, "."+z.name):
		return fmt.Sprintf("RRSet with DNS name %s is not permitted in zone %s", set.Name, z.name)
	case set.Type == "CNAME" && apex:
		return fmt.Sprintf("RRSet of type CNAME with DNS name %s is not permitted at apex in zone %s", set.Name, z.name)
	case set.Type == "SOA" && !apex:
		return fmt.Sprintf("RRSet of type SOA with DNS name %s is not permitted in zone %s", set.Name, z.name)
	case set.Type == "DS" && apex:
		return fmt.Sprintf("RRSet of type DS with DNS name %s is not permitted at apex in zone %s", set.Name, z.name)
	case set.AliasTarget != nil && (set.TTL != nil || len(set.Records) > 0):
		return fmt.Sprintf("Invalid request: an alias has neither TTL nor records: %s", set.Name)
	case set.AliasTarget != nil:
		return ""
	case set.TTL == nil || len(set.Records) == 0:
		return fmt.Sprintf("Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or "+
			"TrafficPolicyInstanceId], but found none in Change with [Action=UPSERT, Name=%s, Type=%s, SetIdentifier=null]",
			set.Name, set.Type)
	case *set.TTL < 0 || *set.TTL > 1<<31-1:
		return fmt.Sprintf("Value '%d' at 'ttl' failed to satisfy constraint", *set.TTL)
	case set.Type == "CNAME" && len(set.Records) > 1:
		return "Invalid Resource Record: 'FATAL problem: RRsetContainsMoreThanOneCNAME (A CNAME set holds one record)'"
	}
	seen := map[string]bool{}
	for _, value := range set.Records {
		if seen[value] {
			return fmt.Sprintf("Duplicate Resource Record: '%s'", value)
		}
		seen[value] = true
		if text := wrongValue(set.Type, value); text != "" {
			return text
		}
	}
	return ""
}

// longestValue is how many characters a value may have.
const longestValue = 4000

func wrongValue(kind, value string) string {
	fatal := func(problem, meaning string) string {
		return fmt.Sprintf("Invalid Resource Record: 'FATAL problem: %s (%s) encountered with '%s''", problem, meaning, value)
	}
	if len(value) > longestValue {
		return fatal("ValueTooLong", "Value is too long")
	}
	switch kind {
	case "A":
		if a, err := netip.ParseAddr(value); err != nil || !a.Is4() {
			return fatal("ARRDATAIllegalIPv4Address", "Value is not a valid IPv4 address")
		}
		return ""
	case "AAAA":
		if a, err := netip.ParseAddr(value); err != nil || !a.Is6() {
			return fatal("AAAARRDATAIllegalIPv6Address", "Value is not a valid IPv6 address")
		}
		return ""
	case "TXT", "SPF":
		return wrongStrings(value, fatal)
	}
	if strings.ContainsAny(value, "\n\r;()") && !strings.Contains(value, `"`) {
		return fatal("UnparsableRRDATA", "Value is not valid")
	}
	record, err := dns.NewRR(fmt.Sprintf("x. 60 IN %s %s", kind, decimal(value)))
	if err != nil || record == nil {
		return fatal("UnparsableRRDATA", "Value is not valid")
	}
	return ""
}

var charString = regexp.MustCompile(`^\s*"((?:[^"\\]|\\[0-3][0-7]{2}|\\["\\])*)"`)

// wrongStrings checks what is in quotes.
func wrongStrings(value string, fatal func(problem, meaning string) string) string {
	for rest := strings.TrimSpace(value); rest != ""; rest = strings.TrimSpace(rest) {
		m := charString.FindStringSubmatch(rest)
		if m == nil {
			return fatal("InvalidCharacterString", "Value should be enclosed in quotation marks")
		}
		if length := len(regexp.MustCompile(`\\([0-7]{3}|.)`).ReplaceAllString(m[1], "x")); length > 255 {
			return fatal("CharacterStringTooLong", "Value is too long")
		}
		for _, c := range []byte(m[1]) {
			if c < ' ' || c > '~' {
				return fatal("InvalidCharacterString", "Value contains characters that have to be escaped")
			}
		}
		rest = rest[len(m[0]):]
	}
	return ""
}

var octal = regexp.MustCompile(`\\([0-3][0-7]{2})`)

// decimal writes the service's escapes as those of DNS.
func decimal(text string) string {
	return octal.ReplaceAllStringFunc(text, func(e string) string {
		n, err := strconv.ParseUint(e[1:], 8, 8)
		if err != nil {
			return e
		}
		return fmt.Sprintf(`\%03d`, n)
	})
}

// spelled is a name as the service shows it: in lower case, with a final dot, and everything but letters, digits,
// hyphens and underscores escaped.
func spelled(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '\\' && octal.MatchString(name[i:min(len(name), i+4)]):
			n, _ := strconv.ParseUint(name[i+1:i+4], 8, 8) // the pattern has only such
			i += 3
			writeOctet(&b, byte(n))
		case c == '.':
			b.WriteByte('.')
		default:
			writeOctet(&b, c)
		}
	}
	return b.String() + "."
}

func writeOctet(b *strings.Builder, c byte) {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
		b.WriteByte(c)
		return
	}
	fmt.Fprintf(b, `\%03o`, c)
}
