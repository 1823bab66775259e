package rr

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// ParseData returns the canonical presentation form of rdata of type t.
func ParseData(t Type, s string) (string, error) {
	switch t {
	case TypeA:
		a, err := netip.ParseAddr(s)
		if err != nil || !a.Is4() {
			return "", fmt.Errorf("A data %q is not an IPv4 address", s)
		}
		return a.String(), nil
	case TypeAAAA:
		a, err := netip.ParseAddr(s)
		if err != nil || !a.Is6() || a.Zone() != "" {
			return "", fmt.Errorf("AAAA data %q is not an IPv6 address", s)
		}
		return a.String(), nil
	}
	if strings.ContainsAny(s, "\r\n\x00") {
		return "", fmt.Errorf("%s data has a line break in it", t)
	}
	r, err := newRR(Key{dnsname.Root, t}, 0, s)
	if err != nil {
		return "", fmt.Errorf("%s data %q: %w", t, s, err)
	}
	return dataOf(r)
}

func newRR(k Key, ttl uint32, data string) (dns.RR, error) {
	zp := dns.NewZoneParser(strings.NewReader(fmt.Sprintf("%s %d IN %s %s\n", k.Name, ttl, k.Type, data)), "", "")
	r, ok := zp.Next()
	if err := zp.Err(); err != nil || !ok {
		return nil, fmt.Errorf("not valid: %w", err)
	}
	return r, nil
}

func dataOf(r dns.RR) (string, error) {
	s := strings.TrimPrefix(r.String(), r.Header().String())
	switch r.Header().Rrtype {
	case dns.TypeNS, dns.TypeMX, dns.TypeCNAME, dns.TypeSRV, dns.TypePTR, dns.TypeDNAME, dns.TypeSOA:
		s = strings.ToLower(s)
	}
	return s, nil
}

// Targets returns the names in canonical rdata that want addresses: those of
// NS, MX and SRV, and of no other type.
func Targets(t Type, data string) []dnsname.Name {
	if t != TypeNS && t != TypeMX && t != TypeSRV {
		return nil
	}
	n, err := dnsname.Parse(data[strings.LastIndexByte(data, ' ')+1:])
	if err != nil || n.IsRoot() {
		return nil
	}
	return []dnsname.Name{n}
}
