package rr

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// ReverseName returns the name of an address, where its PTR is (RFC 1035 §3.5, RFC 3596 §2.5). Data that are no address
// have none. (dns.ReverseAddr takes the AAAA ::ffff:192.0.2.1 for an address of IPv4.)
func ReverseName(data string) (dnsname.Name, bool) {
	address, err := netip.ParseAddr(data)
	if err != nil {
		return dnsname.Name{}, false
	}
	octets := address.AsSlice()
	slices.Reverse(octets)
	var b strings.Builder
	for _, octet := range octets {
		if address.Is4() {
			b.WriteString(strconv.Itoa(int(octet)) + ".")
			continue
		}
		for _, nibble := range []byte{octet & 15, octet >> 4} {
			b.WriteByte("0123456789abcdef"[nibble])
			b.WriteByte('.')
		}
	}
	if address.Is4() {
		b.WriteString("in-addr.arpa.")
	} else {
		b.WriteString("ip6.arpa.")
	}
	name, err := dnsname.Parse(b.String())
	return name, err == nil
}
