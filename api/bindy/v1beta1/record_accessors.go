package v1beta1

import (
	"fmt"
	"net/netip"
	"slices"
)

// Addresses returns the record's addresses, sorted and each once. It is an error
// that there is none, that one is no IPv4 address, or that two forms of the field
// differ.
func (s *ARecordSpec) Addresses() ([]netip.Addr, error) {
	return addresses("ipv4", s.IPv4, s.IPv4Address, s.IPv4Addresses, netip.Addr.Is4)
}

// Addresses returns the record's addresses, sorted and each once. It is an error
// that there is none, that one is no IPv6 address, or that two forms of the field
// differ.
func (s *AAAARecordSpec) Addresses() ([]netip.Addr, error) {
	return addresses("ipv6", s.IPv6, s.IPv6Address, s.IPv6Addresses, netip.Addr.Is6)
}

func addresses(field, one, older string, many []string, family func(netip.Addr) bool) ([]netip.Addr, error) {
	var found []netip.Addr
	for _, form := range []struct {
		name string
		text []string
	}{{field, nonEmpty(one)}, {field + "Address", nonEmpty(older)}, {field + "Addresses", many}} {
		var these []netip.Addr
		for _, text := range form.text {
			ip, err := netip.ParseAddr(text)
			if err != nil || ip.Zone() != "" || !family(ip) {
				return nil, fmt.Errorf("spec.%s has %.50q, which is not an address of this kind", form.name, text)
			}
			these = append(these, ip)
		}
		these = unique(these)
		if len(found) > 0 && len(these) > 0 && !slices.Equal(found, these) {
			return nil, fmt.Errorf("spec.%s differs from another form of the field; remove one of the two", form.name)
		}
		if len(these) > 0 {
			found = these
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("spec.%s is missing", field)
	}
	return found, nil
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
