package bindy

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// ZoneID names a DNSZone in the core.
func ZoneID(namespace, name string) zone.ID {
	return zone.ID{Kind: v1beta1.KindZone, Namespace: namespace, Name: name}
}

// Policy is that of the zone that a DNSZone becomes.
func Policy() zone.Policy {
	return zone.Policy{Pinned: true, NoAliases: true}
}

// ConvertZone turns a DNSZone into what the core decides about. Servers are the addresses of the Services of its
// servers; name servers that are in the zone and have no address get them. What cannot be understood makes the zone
// Invalid.
//
// The serial that the SOA may name is no part of it: the operator starts above that, once, and owns the serial.
func ConvertZone(z *v1beta1.DNSZone, servers []netip.Addr) zone.Zone {
	out := zone.Zone{
		ID: ZoneID(z.Namespace, z.Name), Created: z.CreationTimestamp.Time,
		Policy: Policy(), Rules: []zone.Rule{ownNamespace(z.Namespace)}, Servers: addressData(servers),
	}
	for i := range z.Spec.RecordsFrom {
		out.Warnings = append(out.Warnings, unreadable(out.ID, fmt.Sprintf("recordsFrom[%d]", i), &z.Spec.RecordsFrom[i])...)
	}
	for i := range z.Spec.Bind9InstancesFrom {
		out.Warnings = append(out.Warnings, unreadable(out.ID, fmt.Sprintf("bind9InstancesFrom[%d]", i),
			&z.Spec.Bind9InstancesFrom[i].Selection)...)
	}
	var err error
	if out.Where.Name, err = ZoneName(z.Spec.ZoneName); err != nil {
		out.Invalid = &zone.Refusal{Reason: zone.InvalidName, Message: fmt.Sprintf(
			"%s has a zoneName that is not the name of a zone: %v; correct it.", out.ID, err)}
		return out
	}
	err = convertAuthority(&out, &z.Spec)
	if err == nil {
		err = convertServers(&out, &z.Spec)
	}
	if err == nil {
		_, err = z.Spec.Cluster()
	}
	if err != nil {
		out.Invalid = &zone.Refusal{Reason: zone.InvalidSpec, Message: fmt.Sprintf("%s cannot be read: %v; correct it.",
			out.ID, err)}
	}
	return out
}

// unreadable warns of a selector that selects nothing because it cannot be read.
func unreadable(id zone.ID, field string, from *v1beta1.Selection) []zone.Note {
	_, err := selectorOf(from)
	if err == nil {
		return nil
	}
	return []zone.Note{{Reason: v1beta1.ReasonInvalidSelector, Message: fmt.Sprintf(
		"%s of %s selects nothing, because its selector cannot be read: %.200v; correct it.", field, id, err)}}
}

// ownNamespace lets one namespace have every record of a zone. That records name or are selected by the zone decides
// the rest.
func ownNamespace(namespace string) zone.Rule {
	rule := zone.Rule{Namespaces: []string{namespace}}
	for _, text := range []string{"*", "@"} {
		if p, err := dnsname.ParsePattern(text); err == nil {
			rule.Records = append(rule.Records, zone.RecordRule{Pattern: p})
		}
	}
	return rule
}

// ZoneName reads a zone's name, which is absolute with or without a dot at its end.
func ZoneName(text string) (dnsname.Name, error) {
	name, err := dnsname.Parse(strings.TrimSuffix(text, ".") + ".")
	_, address := netip.ParseAddr(strings.TrimSuffix(text, "."))
	switch {
	case address == nil:
		return dnsname.Name{}, fmt.Errorf("%q is an address", text)
	case err != nil:
		return dnsname.Name{}, err
	case name.IsWildcard():
		return dnsname.Name{}, fmt.Errorf("%q is a wildcard, at which no zone can start (RFC 4592 §4.2)", text)
	case name.IsRoot():
		return dnsname.Name{}, fmt.Errorf("%q is empty", text)
	}
	return name, dnsname.CheckOwner(name)
}

// convertAuthority reads the SOA and the TTLs.
func convertAuthority(out *zone.Zone, spec *v1beta1.DNSZoneSpec) error {
	a, err := spec.Authority()
	if err != nil {
		return err
	}
	if out.MName, err = dnsname.Parse(a.PrimaryNS); err != nil {
		return fmt.Errorf("the primary name server in its SOA is not a name: %w", err)
	}
	if out.RName, err = dnsname.Parse(a.Mailbox); err != nil {
		return fmt.Errorf("the adminEmail in its SOA is not a mailbox: %w", err)
	}
	out.SOATTL = new(uint32)
	for _, n := range []struct {
		name  string
		value int64
		into  *uint32
	}{
		{"ttl", spec.RecordTTL(), &out.TTL}, {"soa.ttl", a.TTL, out.SOATTL}, {"refresh", a.Refresh, &out.Refresh},
		{"retry", a.Retry, &out.Retry}, {"expire", a.Expire, &out.Expire}, {"negativeTtl", a.NegativeTTL, &out.Minimum},
	} {
		if *n.into, err = seconds(n.name, n.value); err != nil {
			return err
		}
	}
	if a.Serial < 0 || a.Serial > math.MaxUint32 {
		return fmt.Errorf("the serial is %d; it must be from 0 to %d", a.Serial, uint32(math.MaxUint32))
	}
	if out.Retry >= out.Refresh || uint64(out.Expire) <= uint64(out.Refresh)+uint64(out.Retry) {
		out.Warnings = append(out.Warnings, zone.Note{Reason: zone.InvalidTimers, Message: fmt.Sprintf(
			"%s has SOA timers that secondaries cannot work with: retry (%d) must be less than refresh (%d), and expire (%d) "+
				"more than both together.",
			out.ID, out.Retry, out.Refresh, out.Expire)})
	}
	return nil
}

// seconds reads a TTL or timer (RFC 2181 §8).
func seconds(field string, n int64) (uint32, error) {
	if n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("%s is %d; it must be from 0 to %d seconds", field, n, math.MaxInt32)
	}
	return uint32(n), nil
}

// convertServers makes the NS records of the apex and the addresses of those name servers that are in the zone.
// Addresses of others belong into zones of their own.
func convertServers(out *zone.Zone, spec *v1beta1.DNSZoneSpec) error {
	servers, err := spec.Nameservers()
	if err != nil {
		return err
	}
	names := []string{out.MName.String()}
	for _, s := range servers {
		name, err := dnsname.Parse(s.Name)
		if err != nil {
			return fmt.Errorf("the name server %.100q is not a name: %w", s.Name, err)
		}
		names = append(names, name.String())
		if name.Under(out.Where.Name) {
			out.Own = append(out.Own, addressSets(name, out.TTL, s.Addresses)...)
		}
	}
	apex := rr.Key{Name: out.Where.Name, Type: rr.TypeNS}
	out.Own = append(out.Own, rr.NewSet(apex, out.TTL, names...))
	slices.SortFunc(out.Own, func(a, b rr.Set) int { return a.Key().Compare(b.Key()) })
	return nil
}

// addressSets makes the A and AAAA sets of a name.
func addressSets(name dnsname.Name, ttl uint32, addresses []netip.Addr) []rr.Set {
	data := map[rr.Type][]string{}
	for _, a := range addressData(addresses) {
		data[a.Type] = append(data[a.Type], a.Data)
	}
	var sets []rr.Set
	for t, d := range data {
		sets = append(sets, rr.NewSet(rr.Key{Name: name, Type: t}, ttl, d...))
	}
	return sets
}

// addressData turns addresses into data of A and AAAA records, sorted and each once.
func addressData(addresses []netip.Addr) []zone.Address {
	var out []zone.Address
	sorted := slices.Clone(addresses)
	slices.SortFunc(sorted, netip.Addr.Compare)
	for _, ip := range slices.Compact(sorted) {
		t := rr.TypeAAAA
		if ip = ip.Unmap(); ip.Is4() {
			t = rr.TypeA
		}
		if data, err := rr.ParseData(t, ip.String()); err == nil {
			out = append(out, zone.Address{Type: t, Data: data})
		}
	}
	return out
}
