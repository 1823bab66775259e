package v1beta1

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// DefaultTTL is the time-to-live, in seconds, where nobody names one.
const DefaultTTL = 300

// Authority is a SOA in whichever form it was written, with its defaults. Names
// are in lower case and have a dot at the end.
//
// +kubebuilder:object:generate=false
type Authority struct {
	PrimaryNS, Mailbox                  string
	TTL                                 int64
	Serial                              int64 // from which the operator starts; 0 if nobody names one
	Refresh, Retry, Expire, NegativeTTL int64
}

// Authority returns the zone's SOA. It is an error that there is none, or that
// its two forms differ.
func (s *DNSZoneSpec) Authority() (Authority, error) {
	var a Authority
	var times []SOATimes
	switch {
	case s.SOA == nil && s.SOARecord == nil:
		return a, fmt.Errorf("spec.soa is missing")
	case s.SOA == nil:
		a.PrimaryNS, a.Mailbox = absolute(string(s.SOARecord.PrimaryNS)), mailbox(s.SOARecord.AdminEmail)
		times = []SOATimes{s.SOARecord.SOATimes}
	default:
		a.PrimaryNS, a.Mailbox = absolute(string(s.SOA.PrimaryNameServer)), mailbox(s.SOA.AdminEmail)
		times = []SOATimes{s.SOA.SOATimes}
	}
	if s.SOA != nil && s.SOARecord != nil {
		if a.PrimaryNS != absolute(string(s.SOARecord.PrimaryNS)) || a.Mailbox != mailbox(s.SOARecord.AdminEmail) {
			return a, fmt.Errorf("spec.soa and spec.soaRecord have different names; remove one of the two, or make them equal")
		}
		times = append(times, s.SOARecord.SOATimes)
	}
	a.TTL = s.soaTTL()
	return a, a.setTimes(times)
}

func (s *DNSZoneSpec) soaTTL() int64 {
	if s.SOA != nil && s.SOA.TTL != nil {
		return int64(*s.SOA.TTL)
	}
	if s.TTL != nil {
		return int64(*s.TTL)
	}
	return DefaultTTL
}

// RecordTTL returns the time-to-live of records that have none of their own.
func (s *DNSZoneSpec) RecordTTL() int64 {
	if s.TTL != nil {
		return int64(*s.TTL)
	}
	return s.soaTTL()
}

// setTimes takes over the numbers of all forms of the SOA, which must not differ.
func (a *Authority) setTimes(forms []SOATimes) error {
	serial := func(t SOATimes) *int64 { return t.Serial }
	seconds := func(t SOATimes) *int64 { return (*int64)(t.NegativeTTL) }
	of := func(field func(SOATimes) *Interval) func(SOATimes) *int64 {
		return func(t SOATimes) *int64 { return (*int64)(field(t)) }
	}
	for _, f := range []struct {
		name string
		of   func(SOATimes) *int64
		into *int64
		def  int64
	}{
		{"serial", serial, &a.Serial, 0},
		{"refresh", of(func(t SOATimes) *Interval { return t.Refresh }), &a.Refresh, 3600},
		{"retry", of(func(t SOATimes) *Interval { return t.Retry }), &a.Retry, 600},
		{"expire", of(func(t SOATimes) *Interval { return t.Expire }), &a.Expire, 604800},
		{"negativeTtl", seconds, &a.NegativeTTL, 86400},
	} {
		var found *int64
		for _, form := range forms {
			n := f.of(form)
			if n != nil && found != nil && *n != *found {
				return fmt.Errorf(
					"%[1]s is %[2]d in spec.soa and %[3]d in spec.soaRecord; remove one of the two, or make them equal", f.name,
					*found, *n)
			}
			found = cmp.Or(found, n)
		}
		*f.into = f.def
		if found != nil {
			*f.into = *found
		}
	}
	return nil
}

// absolute returns a name in lower case and with a dot at its end.
func absolute(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") + "." }

// mailbox returns a mail address as an absolute name. The @ becomes a dot; those
// before it are part of the first label (RFC 1035 §8).
func mailbox(m Mailbox) string {
	local, domain, found := strings.Cut(string(m), "@")
	if !found {
		return absolute(local)
	}
	return absolute(strings.ReplaceAll(strings.ReplaceAll(local, `\.`, "."), ".", `\.`) + "." + domain)
}

// Cluster returns the name of the cluster or provider whose servers have the
// zone, empty if only selectors choose them. It is an error that both forms of
// the field are set and differ.
func (s *DNSZoneSpec) Cluster() (string, error) {
	if s.ClusterRef != "" && s.ClusterProviderRef != "" && s.ClusterRef != s.ClusterProviderRef {
		return "", fmt.Errorf("spec.clusterRef is %s and spec.clusterProviderRef is %s; remove one of the two", s.ClusterRef,
			s.ClusterProviderRef)
	}
	return cmp.Or(s.ClusterRef, s.ClusterProviderRef), nil
}

// Nameserver is a name server of a zone with its addresses, if it has any.
//
// +kubebuilder:object:generate=false
type Nameserver struct {
	Name      string // in lower case, with a dot at the end
	Addresses []netip.Addr
}

// Nameservers returns the name servers of both forms of the field, by name; not
// the one in the SOA. An address that is none is an error.
func (s *DNSZoneSpec) Nameservers() ([]Nameserver, error) {
	byName := map[string][]netip.Addr{}
	add := func(host, address string) error {
		name := absolute(host)
		byName[name] = append(byName[name], nil...)
		if address == "" {
			return nil
		}
		ip, err := netip.ParseAddr(address)
		if err != nil || ip.Zone() != "" {
			return fmt.Errorf("the address %.50q of the name server %s is not an IP address", address, name)
		}
		byName[name] = append(byName[name], ip)
		return nil
	}
	for _, n := range s.NameServers {
		for _, address := range []string{n.IPv4Address, n.IPv6Address} {
			if err := add(string(n.Hostname), address); err != nil {
				return nil, err
			}
		}
	}
	for host, address := range s.NameServerIPs {
		if err := add(host, string(address)); err != nil {
			return nil, err
		}
	}
	var all []Nameserver
	for name, addresses := range byName {
		all = append(all, Nameserver{name, unique(addresses)})
	}
	slices.SortFunc(all, func(a, b Nameserver) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func unique(addresses []netip.Addr) []netip.Addr {
	slices.SortFunc(addresses, netip.Addr.Compare)
	return slices.Compact(addresses)
}
